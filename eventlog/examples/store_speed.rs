//! How fast the store is on a directory's disk: an fsync probe first, then durable commits of
//! several sizes, then what a million events leave behind.
//!
//! `cargo run --release -p minutebook-eventlog --example store_speed -- [DIR] [EVENTS]`

use std::{
    error::Error,
    fs::File,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use minutebook_eventlog::{
    format::record::{Body, Record},
    store::{
        Commit, LogReader, LogWriter, NewRecord, RowOp, Space,
        fjall::{FjallReader, FjallStore, FjallWriter, Options},
    },
};

type Outcome<T> = Result<T, Box<dyn Error>>;

const ENVELOPE_BYTES: usize = 450;
const BODY_BYTES: usize = 300;
const ROOMS: u64 = 100;
const COMMITS: u64 = 1000;

#[expect(clippy::print_stdout, reason = "it is a report")]
fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let parent = arguments
        .next()
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let events: u64 = arguments
        .next()
        .map_or(Ok(1_000_000), |text| text.parse())?;
    let dir = tempfile::tempdir_in(parent)?;
    println!("fsync probe          {}", probe(dir.path())?);
    let mut log = Log::open(&dir.path().join("log"))?;
    for batch in [1, 8, 64, 256, 1024] {
        let commits = COMMITS.min(100_000 / batch);
        let (rate, times) = log.run(batch, commits)?;
        println!("batch {batch:>5}  {rate:>8.0} events/s  commit {times}");
    }
    for rate in [2_000, 10_000, 20_000] {
        println!("at {rate:>6} events/s    {}", log.paced(rate)?);
    }
    let (started, worked) = (Instant::now(), cpu()?);
    let (mut times, first) = (Vec::new(), log.seq);
    while log.seq < events {
        times.extend(log.commits(256, 64)?);
    }
    let (took, cpu) = (started.elapsed().as_secs_f64(), cpu()? - worked);
    let per_10k = cpu * 10_000.0 / f64::from(u32::try_from(log.seq - first)?);
    println!(
        "to {events}: {took:.1} s, {per_10k:.3} CPU s per 10,000, commit {}",
        spread(times)
    );
    println!("memory               {}", memory()?);
    println!("{:#?}", log.reader.stats());
    log.read_back()?;
    log.reopen()?;
    println!("memory               {}", memory()?);
    Ok(())
}

/// Syncs of 16 KiB appended to a preallocated file, as the journal does it.
fn probe(dir: &Path) -> Outcome<String> {
    let file = File::create(dir.join("probe"))?;
    file.set_len(64 << 20)?;
    file.sync_all()?;
    let block = vec![7; 16 << 10];
    let mut times = Vec::new();
    for n in 0..500 {
        let started = Instant::now();
        file.write_all_at(&block, n * block.len() as u64)?;
        file.sync_data()?;
        times.push(started.elapsed());
    }
    Ok(spread(times))
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |percent: usize| times.get((times.len() - 1) * percent / 100).copied();
    let [p50, p99, max] = [50, 99, 100].map(|percent| at(percent).unwrap_or_default());
    format!("p50 {p50:.1?}  p99 {p99:.1?}  max {max:.1?}")
}

/// CPU time of all threads so far. A tick is 10 ms on every Linux there is.
fn cpu() -> Outcome<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    let ticks: Vec<u32> = fields
        .skip(11)
        .take(2)
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    Ok(f64::from(ticks.iter().sum::<u32>()) / 100.0)
}

fn memory() -> Outcome<String> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let lines = status
        .lines()
        .filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    Ok(lines.collect::<Vec<_>>().join("  "))
}

struct Log {
    dir: PathBuf,
    writer: FjallWriter,
    reader: Arc<FjallReader>,
    space: Space,
    seq: u64,
    texts: Texts,
}

/// Texts made beforehand, so that making them costs the figures little. Half of one compresses, as
/// JSON with hashes in it does.
struct Texts(Vec<Vec<u8>>);

impl Texts {
    fn new() -> Self {
        let mut random: u64 = 88_172_645_463_325_252;
        let one = |_| {
            let start = b"{\"actor\":\"agent:somebody\",\"at\":\"2026-11-30T12:00:00.000000Z\",";
            let mut text = start.repeat(ENVELOPE_BYTES / start.len() / 2);
            while text.len() < ENVELOPE_BYTES {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                text.extend_from_slice(format!("{random:016x}").as_bytes());
            }
            text
        };
        Self((0..4099).map(one).collect())
    }

    fn pick(&self, seq: u64, bytes: usize) -> Vec<u8> {
        let index = usize::try_from(seq).unwrap_or(0) % self.0.len();
        let text = self.0.get(index).map(Vec::as_slice).unwrap_or_default();
        text.get(text.len() - bytes..).unwrap_or(text).to_vec()
    }
}

impl Log {
    fn open(dir: &Path) -> Outcome<Self> {
        let (writer, reader) = FjallStore::open(dir, &Options::default())?;
        let space = reader.space("history-1")?;
        Ok(Self {
            dir: dir.to_owned(),
            writer,
            space,
            seq: reader.head()?.seq,
            reader,
            texts: Texts::new(),
        })
    }

    fn run(&mut self, batch: u64, commits: u64) -> Outcome<(f64, String)> {
        let times = self.commits(batch, commits)?;
        let in_commits: f64 = times.iter().map(Duration::as_secs_f64).sum();
        let events = u32::try_from(batch * commits)?;
        Ok((f64::from(events) / in_commits, spread(times)))
    }

    /// Commits what has come in while the last commit was being made, as the engine does.
    fn paced(&mut self, rate: u64) -> Outcome<String> {
        let (started, worked, first) = (Instant::now(), cpu()?, self.seq);
        let mut times = Vec::new();
        while started.elapsed() < Duration::from_secs(8) {
            let due = u64::try_from(started.elapsed().as_micros())? * rate / 1_000_000;
            let waiting = due.saturating_sub(self.seq - first).min(1024);
            if waiting == 0 {
                std::thread::sleep(Duration::from_micros(100));
                continue;
            }
            times.extend(self.commits(waiting, 1)?);
        }
        let done = f64::from(u32::try_from(self.seq - first)?);
        let per_10k = (cpu()? - worked) * 10_000.0 / done;
        let mean = done / f64::from(u32::try_from(times.len())?);
        let done = done / started.elapsed().as_secs_f64();
        Ok(format!(
            "{done:.0}/s in commits of {mean:.1}, {per_10k:.3} CPU s per 10,000, commit {}",
            spread(times)
        ))
    }

    /// Times `append` and `record_head`; what is written is made outside the time.
    fn commits(&mut self, batch: u64, commits: u64) -> Outcome<Vec<Duration>> {
        let mut times = Vec::new();
        for _ in 0..commits {
            let commit = self.commit(batch);
            let started = Instant::now();
            self.writer.append(commit)?;
            self.writer.record_head(&self.reader.head()?)?;
            times.push(started.elapsed());
            self.seq += batch;
        }
        Ok(times)
    }

    fn commit(&self, batch: u64) -> Commit {
        let mut commit = Commit {
            expected_seq: self.seq,
            checkpoint: format!(
                "log.example/minutebook\n{}\n{}\n",
                self.seq + batch,
                "x".repeat(160)
            ),
            ..Commit::default()
        };
        for seq in self.seq + 1..=self.seq + batch {
            let room = seq % ROOMS;
            let sseq = seq / ROOMS + 1;
            let envelope = self.texts.pick(seq, ENVELOPE_BYTES);
            let body = self.texts.pick(seq.rotate_left(7), BODY_BYTES);
            commit.rows.push(RowOp {
                space: self.space,
                key: [room.to_be_bytes(), sseq.to_be_bytes()].concat(),
                value: Some(body.clone()),
            });
            commit.records.push(NewRecord {
                record: Record {
                    envelope,
                    body: Some(Body {
                        salt: [7; 32],
                        bytes: body,
                    }),
                },
                seq,
                stream: format!("room/00000000-0000-7000-8000-{room:012}"),
                sseq,
            });
        }
        commit
    }

    #[expect(clippy::print_stdout, reason = "it is a report")]
    fn read_back(&self) -> Outcome<()> {
        let started = Instant::now();
        let mut seq = 1;
        while seq <= self.seq {
            seq += self.reader.read(seq, 4096)?.len() as u64;
        }
        let rate = f64::from(u32::try_from(self.seq)?) / started.elapsed().as_secs_f64();
        println!("scan                 {rate:.0} events/s");
        let mut times = Vec::new();
        for n in 0..2000 {
            let started = Instant::now();
            self.reader.read(1 + n * 499_979 % self.seq, 1)?;
            times.push(started.elapsed());
        }
        println!("random read          {}", spread(times));
        let mut times = Vec::new();
        for n in 0..200 {
            let room = format!("room/00000000-0000-7000-8000-{:012}", n % ROOMS);
            let started = Instant::now();
            self.reader.read_stream(&room, n * 37, 50)?;
            times.push(started.elapsed());
        }
        println!("50 of a stream       {}", spread(times));
        Ok(())
    }

    #[expect(clippy::print_stdout, reason = "it is a report")]
    fn reopen(self) -> Outcome<()> {
        let Self {
            dir,
            writer,
            reader,
            ..
        } = self;
        drop((writer, reader));
        let started = Instant::now();
        let log = Self::open(&dir)?;
        println!("open after a crash   {:.1?}", started.elapsed());
        let Self {
            mut writer, reader, ..
        } = log;
        writer.stop()?;
        drop((writer, reader));
        let started = Instant::now();
        let _log = Self::open(&dir)?;
        println!("open after a stop    {:.1?}", started.elapsed());
        Ok(())
    }
}
