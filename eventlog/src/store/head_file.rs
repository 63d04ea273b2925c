//! The head file: the newest signed checkpoint, outside the database.
//!
//! fjall can open cleanly with acknowledged events missing after one flipped bit in its journal.
//! This file knows better.
//!
//! * It is text in two slots of [`SLOT_BYTES`], and a commit overwrites the older slot in place:
//!   one `fdatasync` without a change of metadata, which does not compete with the journal's the
//!   way a new file, its rename and two `fsync`s would (measured: those halve the commit rate,
//!   this costs a tenth). A torn write leaves the other slot.
//! * A thread writes it while the next commit is being made. [`HeadFile::record`] never waits, and
//!   the newest head wins; [`HeadFile::settle`] waits until what was recorded is durable. The
//!   writer settles at the end of every commit, so that an acknowledged commit is at most one
//!   ahead of the file.
//! * Opening and a clean stop replace the whole file (temporary file, sync, rename, sync of the
//!   directory). It says whether the last stop was clean.
//!
//! A slot is
//!
//! ```text
//! minutebook head v1
//! seq 42
//! hash 64 hex digits: BLAKE3 of envelope 42
//! state running | stopped
//! checkpoint 187
//! …187 bytes of signed note, verbatim…
//! check 64 hex digits: BLAKE3 of all of the slot before this line
//! ```
//!
//! and line feeds up to its end.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
    time::Instant,
};

use parking_lot::{Condvar, Mutex};

use super::{Head, StoreError, durable, stats::Stopwatch};
use crate::format::hash::{Hash, chain_hash};

/// Bytes of a slot: room for a checkpoint with some fifty cosignatures.
pub(super) const SLOT_BYTES: usize = 8192;
const MAGIC: &str = "minutebook head v1";

/// Whether a store is open (or crashed), or was stopped cleanly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunState {
    Running,
    Stopped,
}

impl RunState {
    const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
        }
    }
}

/// What the head file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SavedHead {
    pub(super) head: Head,
    pub(super) state: RunState,
}

/// Reads a head file; none when there is none. One unreadable slot is a torn write.
pub(super) fn read(path: &Path) -> Result<Option<SavedHead>, StoreError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(StoreError::Io(format!("{}: {e}", path.display()))),
    };
    decode(&bytes)
        .map(Some)
        .map_err(|why| StoreError::Damaged(format!("head file {}: {why}", path.display())))
}

/// What both slots say together.
pub(super) fn decode(bytes: &[u8]) -> Result<SavedHead, &'static str> {
    if bytes.len() != 2 * SLOT_BYTES {
        return Err("it has the wrong length");
    }
    let (first, second) = bytes.split_at(SLOT_BYTES);
    match (parse(first), parse(second)) {
        (Ok(a), Ok(b)) => Ok(if a.head.seq >= b.head.seq { a } else { b }),
        (Ok(saved), Err(_)) | (Err(_), Ok(saved)) => Ok(saved),
        (Err(why), Err(_)) => Err(why),
    }
}

fn encode(head: &Head, state: RunState) -> Result<Vec<u8>, StoreError> {
    let mut text = format!(
        "{MAGIC}\nseq {}\nhash {}\nstate {}\ncheckpoint {}\n{}",
        head.seq,
        head.hash,
        state.word(),
        head.checkpoint.len(),
        head.checkpoint
    );
    let check = chain_hash(text.as_bytes()).to_string();
    text.extend(["check ", &check, "\n"]);
    if text.len() > SLOT_BYTES {
        return Err(StoreError::Refused(format!(
            "a checkpoint of {} bytes does not fit the head file",
            head.checkpoint.len()
        )));
    }
    let mut bytes = text.into_bytes();
    bytes.resize(SLOT_BYTES, b'\n');
    Ok(bytes)
}

fn parse(slot: &[u8]) -> Result<SavedHead, &'static str> {
    let text = std::str::from_utf8(slot).map_err(|_| "it is not text")?;
    let rest = line(text, MAGIC)?.1;
    let (seq, rest) = line(rest, "seq ")?;
    let (hash, rest) = line(rest, "hash ")?;
    let (state, rest) = line(rest, "state ")?;
    let (length, rest) = line(rest, "checkpoint ")?;
    let (checkpoint, tail) = rest
        .split_at_checked(number(length)?.try_into().unwrap_or(usize::MAX))
        .ok_or("the checkpoint is cut off")?;
    let (check, padding) = line(tail, "check ")?;
    let covered = text.len() - tail.len();
    let sum = chain_hash(slot.get(..covered).unwrap_or_default());
    if parse_hash(check)? != sum {
        return Err("its check line does not match");
    }
    if padding.bytes().any(|b| b != b'\n') {
        return Err("there is something after its end");
    }
    Ok(SavedHead {
        head: Head {
            seq: number(seq)?,
            hash: parse_hash(hash)?,
            checkpoint: checkpoint.to_owned(),
        },
        state: match state {
            "running" => RunState::Running,
            "stopped" => RunState::Stopped,
            _ => return Err("its state is unknown"),
        },
    })
}

fn line<'a>(text: &'a str, name: &str) -> Result<(&'a str, &'a str), &'static str> {
    text.strip_prefix(name)
        .and_then(|rest| rest.split_once('\n'))
        .ok_or("a line is not what it should be")
}

fn number(text: &str) -> Result<u64, &'static str> {
    let number: u64 = text.parse().map_err(|_| "a number is not one")?;
    if number.to_string() == text {
        Ok(number)
    } else {
        Err("a number is not written the one way")
    }
}

fn parse_hash(text: &str) -> Result<Hash, &'static str> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text, &mut bytes).map_err(|_| "a hash is not one")?;
    let hash = Hash::new(bytes);
    if hash.to_string() == text {
        Ok(hash)
    } else {
        Err("a hash is not written the one way")
    }
}

/// The head file of an open store.
#[derive(Debug)]
pub(super) struct HeadFile {
    path: PathBuf,
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
}

/// Where the writer leaves heads for the thread.
#[derive(Debug, Default)]
struct Desk {
    state: Mutex<DeskState>,
    changed: Condvar,
    writes: Arc<Stopwatch>,
}

#[derive(Debug, Default)]
struct DeskState {
    /// Newest head not yet taken up.
    waiting: Option<Vec<u8>>,
    /// The thread is writing.
    writing: bool,
    /// Why the thread gave up.
    failed: Option<String>,
    quit: bool,
}

impl HeadFile {
    /// Starts keeping the head file, with `head` in both slots. `writes` times the writes.
    pub(super) fn start(
        path: &Path,
        head: &Head,
        writes: Arc<Stopwatch>,
    ) -> Result<Self, StoreError> {
        replace(path, head, RunState::Running)?;
        let io = |e: io::Error| StoreError::Io(format!("{}: {e}", path.display()));
        let file = OpenOptions::new().write(true).open(path).map_err(io)?;
        let desk = Arc::new(Desk {
            writes,
            ..Desk::default()
        });
        let thread = std::thread::Builder::new()
            .name("head-file".to_owned())
            .spawn({
                let desk = Arc::clone(&desk);
                move || desk.keep(&file)
            })
            .map_err(io)?;
        Ok(Self {
            path: path.to_owned(),
            desk,
            thread: Some(thread),
        })
    }

    /// Leaves a head to be written and returns.
    pub(super) fn record(&self, head: &Head) -> Result<(), StoreError> {
        let slot = encode(head, RunState::Running)?;
        let mut state = self.desk.state.lock();
        state.check()?;
        state.waiting = Some(slot);
        drop(state);
        self.desk.changed.notify_all();
        Ok(())
    }

    /// Waits until everything recorded is durable.
    pub(super) fn settle(&self) -> Result<(), StoreError> {
        let mut state = self.desk.state.lock();
        while state.failed.is_none() && (state.writing || state.waiting.is_some()) {
            self.desk.changed.wait(&mut state);
        }
        state.check()
    }

    /// Ends the thread and writes the file of a clean stop.
    pub(super) fn stop(mut self, head: &Head) -> Result<(), StoreError> {
        let settled = self.settle();
        self.end_thread();
        settled?;
        replace(&self.path, head, RunState::Stopped)
    }

    fn end_thread(&mut self) {
        self.desk.state.lock().quit = true;
        self.desk.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It only returns; a panic in it was already reported and nothing depends on it.
            drop(thread.join());
        }
    }
}

impl Drop for HeadFile {
    fn drop(&mut self) {
        self.end_thread();
    }
}

impl DeskState {
    fn check(&self) -> Result<(), StoreError> {
        match &self.failed {
            Some(why) => Err(StoreError::Io(format!("the head file failed: {why}"))),
            None => Ok(()),
        }
    }
}

impl Desk {
    /// The thread: writes the newest head, into the slots in turn, until told to quit.
    fn keep(&self, file: &File) {
        let mut offset = 0;
        while let Some(slot) = self.take() {
            let started = Instant::now();
            let written = file
                .write_all_at(&slot, offset)
                .and_then(|()| file.sync_data());
            self.writes.record(started.elapsed());
            let mut state = self.state.lock();
            state.writing = false;
            state.failed = written.err().map(|e| e.to_string());
            let give_up = state.failed.is_some();
            drop(state);
            self.changed.notify_all();
            if give_up {
                // After a failed sync nobody knows what is on the disk: no second try.
                return;
            }
            offset = SLOT_BYTES as u64 - offset;
        }
    }

    /// Waits for work; none when it is time to quit and nothing is left.
    fn take(&self) -> Option<Vec<u8>> {
        let mut state = self.state.lock();
        loop {
            if let Some(slot) = state.waiting.take() {
                state.writing = true;
                return Some(slot);
            }
            if state.quit {
                return None;
            }
            self.changed.wait(&mut state);
        }
    }
}

fn replace(path: &Path, head: &Head, state: RunState) -> Result<(), StoreError> {
    let bytes = encode(head, state)?.repeat(2);
    durable::replace(path, &bytes)
        .map_err(|e| StoreError::Io(format!("{} cannot be written: {e}", path.display())))
}
