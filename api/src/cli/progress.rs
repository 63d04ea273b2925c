//! How far a long command is: a bar on a terminal, a line every few seconds elsewhere.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::Terminal;

/// Time between two lines where there is no bar.
const LINE_EVERY: Duration = Duration::from_secs(3);

/// Fewer records get no bar: it would only flicker.
const BAR_RECORDS: u64 = 10_000;
/// Shorter tasks pass without a word.
const WORTH_A_WORD: Duration = Duration::from_secs(1);

/// A task that counts records.
pub(crate) struct Meter {
    what: String,
    bar: Option<ProgressBar>,
    begun: Instant,
    said: Instant,
    from: u64,
}

impl Meter {
    /// Begins at `from`, of `until`.
    pub(crate) fn new(terminal: &Terminal<'_>, what: &str, from: u64, until: u64) -> Self {
        let has_bar = terminal.has_bar && until.saturating_sub(from) >= BAR_RECORDS;
        let bar = has_bar.then(|| bar(what, from, until));
        let now = Instant::now();
        Self {
            what: what.to_owned(),
            bar,
            begun: now,
            said: now,
            from,
        }
    }

    /// Moves on.
    pub(crate) fn at(&mut self, terminal: &mut Terminal<'_>, done: u64, until: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(until);
            bar.set_position(done);
        } else if self.said.elapsed() >= LINE_EVERY {
            self.said = Instant::now();
            terminal.note(&self.line(done, until));
        }
    }

    /// What was done, how fast, and how long is left.
    fn line(&self, done: u64, until: u64) -> String {
        let rate = self.rate(done);
        let left = until.saturating_sub(done).checked_div(rate).unwrap_or(0);
        format!(
            "{}: {done} of {until} records, {rate}/s, {left} s left",
            self.what
        )
    }

    fn rate(&self, done: u64) -> u64 {
        let millis = u64::try_from(self.begun.elapsed().as_millis())
            .unwrap_or(u64::MAX)
            .max(1);
        (done.saturating_sub(self.from)).saturating_mul(1000) / millis
    }

    /// Ends, and says how many, how long, how fast, if it took long enough for anybody to wonder.
    pub(crate) fn finish(self, terminal: &mut Terminal<'_>, done: u64) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let elapsed = self.begun.elapsed();
        if elapsed < WORTH_A_WORD {
            return;
        }
        let count = done.saturating_sub(self.from);
        let seconds = elapsed.as_secs_f64();
        terminal.note(&format!(
            "{}: {count} records in {seconds:.1} s, {}/s",
            self.what,
            self.rate(done)
        ));
    }
}

fn bar(what: &str, from: u64, until: u64) -> ProgressBar {
    let template = "{msg} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}";
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(until)
        .with_style(style)
        .with_message(what.to_owned());
    bar.set_position(from);
    bar.reset_eta();
    bar
}
