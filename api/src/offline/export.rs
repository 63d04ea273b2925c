//! Bundles, piece by piece: what `log export` writes and `GET /api/log/bundle` streams.
//!
//! Invariants
//! * The end is the head when the export began; records committed meanwhile are left out.
//! * Memory is bounded by a page of records and one number per 1,024 records.
//! * The manifest's counts come first and are kept; an export that cannot keep them fails, so
//!   that what was written is visibly cut short.
//! * Erasure meanwhile takes bodies whose erasure lies beyond the end. Such an export would look
//!   tampered with, so it fails ([`OfflineError::ErasedMeanwhile`]).

use std::{collections::VecDeque, sync::Arc};

use minutebook_domain::{EventKind, ids::RoomId};
use minutebook_eventlog::{
    format::{
        bundle::{Kind, Manifest},
        checkpoint::Checkpoint,
        envelope::Envelope,
        record::Record,
    },
    store::{Head, LogReader, Page},
};

use super::{
    OfflineError,
    receipt::receipt,
    sink::{Lines, Sink},
    streams::{epoch_records, last_position},
};

/// Records between two checkpoints of a log bundle, at least; the next commit's end takes it.
const CHECKPOINT_RECORDS: u64 = 1024;
/// Records in the first chunk. Later ones grow while chunks are small and shrink when they are
/// not, because nobody knows how large the next records are.
const CHUNK_RECORDS_FIRST: usize = 16;
/// Records read at a time to look for erasures.
const LOOK_RECORDS: usize = 64;

/// A bundle in the making.
pub struct Export {
    reader: Arc<dyn LogReader>,
    head: Head,
    manifest: Manifest,
    pieces: VecDeque<Piece>,
    written: u64,
    chunk_records: usize,
    saw_no_body: bool,
    is_over: bool,
}

/// What comes next.
enum Piece {
    Manifest,
    /// Records of the log, both included.
    Log {
        next: u64,
        last: u64,
    },
    /// Records of a stream by position, both included.
    Stream {
        name: String,
        next: u64,
        last: u64,
    },
    /// One record.
    Record(Record),
    /// The receipt of this seq against the head.
    Receipt(u64),
    /// The checkpoint of this size.
    Checkpoint(u64),
}

impl Export {
    /// The whole log as it is now.
    pub fn log(reader: Arc<dyn LogReader>) -> Result<Self, OfflineError> {
        let head = reader.head()?;
        let sizes = checkpoint_sizes(&*reader, &head)?;
        let mut pieces = VecDeque::from([Piece::Manifest]);
        let mut next = 1;
        for size in &sizes {
            pieces.push_back(Piece::Log { next, last: *size });
            pieces.push_back(Piece::Checkpoint(*size));
            next = size + 1;
        }
        let manifest = Manifest {
            origin: origin(&head)?,
            kind: Kind::Log,
            first: 1,
            last: head.seq,
            records: head.seq,
            checkpoints: sizes.len() as u64,
        };
        Ok(Self::new(reader, head, manifest, pieces))
    }

    /// A room as it is now, with the receipts that tie it to the log.
    pub fn room(reader: Arc<dyn LogReader>, room: RoomId) -> Result<Self, OfflineError> {
        let head = reader.head()?;
        let name = format!("room/{room}");
        let last = last_position(&*reader, &name, head.seq)?;
        let page = reader.read_stream(&name, last.max(1), 1)?;
        let Some((last_seq, _)) = page.first().filter(|_| last > 0) else {
            return Err(OfflineError::NoRoom(room.to_string()));
        };
        let mut pieces = VecDeque::from([Piece::Manifest]);
        let epochs = epoch_records(&*reader, head.seq)?;
        let records = epochs.len() as u64 + last;
        for (seq, record) in epochs {
            pieces.push_back(Piece::Record(record));
            pieces.push_back(Piece::Receipt(seq));
        }
        pieces.push_back(Piece::Stream {
            name,
            next: 1,
            last,
        });
        pieces.push_back(Piece::Receipt(*last_seq));
        pieces.push_back(Piece::Checkpoint(head.seq));
        let manifest = Manifest {
            origin: origin(&head)?,
            kind: Kind::Room(room.to_string()),
            first: 1,
            last,
            records,
            checkpoints: 1,
        };
        Ok(Self::new(reader, head, manifest, pieces))
    }

    fn new(
        reader: Arc<dyn LogReader>,
        head: Head,
        manifest: Manifest,
        pieces: VecDeque<Piece>,
    ) -> Self {
        Self {
            reader,
            head,
            manifest,
            pieces,
            written: 0,
            chunk_records: CHUNK_RECORDS_FIRST,
            saw_no_body: false,
            is_over: false,
        }
    }

    /// What the bundle will hold.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Records handed out so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The next lines; none after the last, or after an error.
    pub fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, OfflineError> {
        let mut out = Vec::new();
        self.fill(&mut out)?;
        Ok((!out.is_empty()).then_some(out))
    }

    /// The next lines as what they hold; none after the last, or after an error. For who would
    /// only read the text again. What no line can hold is handed out all the same.
    pub fn next_lines(&mut self) -> Result<Option<Lines>, OfflineError> {
        let mut out = Lines::default();
        self.fill(&mut out)?;
        Ok((!out.list.is_empty()).then_some(out))
    }

    fn fill<S: Sink>(&mut self, out: &mut S) -> Result<(), OfflineError> {
        if self.is_over {
            return Ok(());
        }
        let filled = self.make_chunk(out);
        self.is_over = filled.is_err() || self.pieces.is_empty();
        filled
    }

    fn make_chunk<S: Sink>(&mut self, out: &mut S) -> Result<(), OfflineError> {
        while let Some(piece) = self.pieces.pop_front() {
            let had_records = self.write_piece(piece, out)?;
            if had_records {
                break;
            }
        }
        if self.pieces.is_empty() {
            // Before the last lines leave, without which no reader takes the bundle as whole.
            self.check_erasures()?;
        }
        Ok(())
    }

    /// Writes a piece, or a page of it; says whether that was a page of records.
    fn write_piece<S: Sink>(&mut self, piece: Piece, out: &mut S) -> Result<bool, OfflineError> {
        match piece {
            Piece::Manifest => out.manifest(&self.manifest),
            Piece::Record(record) => self.write_record(record, out)?,
            Piece::Receipt(seq) => {
                let receipt = receipt(&*self.reader, seq, None, &self.head)?;
                out.receipt(receipt.to_text())?;
            }
            Piece::Checkpoint(size) => out.checkpoint(self.checkpoint(size)?)?,
            Piece::Log { next, last } => {
                let page = self.reader.read(next, self.page_records(next, last))?;
                let next = self.write_page(page, next, out)?;
                self.push_rest(next, last, |next| Piece::Log { next, last });
                return Ok(true);
            }
            Piece::Stream { name, next, last } => {
                let limit = self.page_records(next, last);
                let page = self.reader.read_stream(&name, next, limit)?;
                let next = self.write_page(page, next, out)?;
                self.push_rest(next, last, |next| Piece::Stream { name, next, last });
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn page_records(&self, next: u64, last: u64) -> usize {
        let left = usize::try_from((last + 1).saturating_sub(next)).unwrap_or(usize::MAX);
        left.min(self.chunk_records)
    }

    fn push_rest(&mut self, next: u64, last: u64, piece: impl FnOnce(u64) -> Piece) {
        if next <= last {
            self.pieces.push_front(piece(next));
        }
    }

    /// Writes a page and returns the position after it.
    fn write_page<S: Sink>(
        &mut self,
        page: Page,
        next: u64,
        out: &mut S,
    ) -> Result<u64, OfflineError> {
        if page.is_empty() {
            return Err(OfflineError::Damaged(format!(
                "the record at {next} is missing"
            )));
        }
        let mut written = 0;
        for (_, record) in page {
            self.write_record(record, out)?;
            written += 1;
            if out.bytes() >= S::BYTES_MAX {
                break;
            }
        }
        // What does not fit is read again, so the next page is no larger than what fitted.
        if out.bytes() >= S::BYTES_MAX {
            self.chunk_records = written;
        } else if out.bytes() < S::BYTES_MAX / 2 {
            self.chunk_records = (self.chunk_records * 2).min(S::RECORDS_MAX);
        }
        Ok(next + written as u64)
    }

    fn write_record<S: Sink>(&mut self, record: Record, out: &mut S) -> Result<(), OfflineError> {
        self.saw_no_body |= record.body.is_none();
        out.record(record)?;
        self.written += 1;
        Ok(())
    }

    fn checkpoint(&self, size: u64) -> Result<String, OfflineError> {
        if size == self.head.seq {
            return Ok(self.head.checkpoint.clone());
        }
        match self.reader.checkpoint_at_or_after(size)? {
            Some((found, note)) if found == size => Ok(note),
            _ => Err(OfflineError::Damaged(format!(
                "the checkpoint of size {size} is missing"
            ))),
        }
    }

    /// Fails if a body may be missing because of an erasure beyond the end.
    fn check_erasures(&self) -> Result<(), OfflineError> {
        if !self.saw_no_body {
            return Ok(());
        }
        let mut next = self.head.seq + 1;
        loop {
            let page = self.reader.read(next, LOOK_RECORDS)?;
            if page.is_empty() {
                return Ok(());
            }
            next += page.len() as u64;
            if page.iter().any(|(_, record)| self.has_erased(record)) {
                return Err(OfflineError::ErasedMeanwhile);
            }
        }
    }

    /// Whether a record erases bodies of what is exported.
    fn has_erased(&self, record: &Record) -> bool {
        let Ok(envelope) = Envelope::parse(&record.envelope) else {
            return false;
        };
        let within = match &self.manifest.kind {
            Kind::Log => true,
            Kind::Room(room) => envelope.stream.strip_prefix("room/") == Some(room),
        };
        let kind = EventKind::parse(&envelope.kind, envelope.v);
        within && matches!(kind, Some(EventKind::BodiesErased | EventKind::RoomErased))
    }
}

fn origin(head: &Head) -> Result<String, OfflineError> {
    if head.seq == 0 {
        return Err(OfflineError::Empty);
    }
    let checkpoint = Checkpoint::peek(&head.checkpoint)
        .map_err(|error| OfflineError::Damaged(format!("the newest checkpoint: {error}")))?;
    Ok(checkpoint.origin)
}

/// After which sizes a checkpoint stands: the first commit's end at or beyond 1,024 records since
/// the last one, right before and after a key rotation, and at the end.
fn checkpoint_sizes(reader: &dyn LogReader, head: &Head) -> Result<Vec<u64>, OfflineError> {
    let rotations = epoch_records(reader, head.seq)?
        .into_iter()
        .map(|(seq, _)| seq)
        .skip(1);
    let mut forced: VecDeque<u64> = rotations.flat_map(|seq| [seq - 1, seq]).collect();
    let mut sizes = Vec::new();
    let mut last = 0;
    while last < head.seq {
        let wanted = last + CHECKPOINT_RECORDS;
        let mut size = match reader.checkpoint_at_or_after(wanted)? {
            Some((size, _)) => size.min(head.seq),
            None => head.seq,
        };
        while let Some(due) = forced.front().copied() {
            if due > size {
                break;
            }
            forced.pop_front();
            if due > last {
                size = due;
                break;
            }
        }
        sizes.push(size);
        last = size;
    }
    Ok(sizes)
}
