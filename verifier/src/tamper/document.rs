//! A bundle in memory, open for changes.

use minutebook_eventlog::format::{
    bundle::{
        Kind, Line, Manifest, parse_line, write_checkpoint_line, write_receipt_line,
        write_record_line,
    },
    envelope::Envelope,
    record::{Body, Record},
};

use super::TamperError;

/// A line after the manifest.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    Record(Record),
    Checkpoint(String),
    Receipt(String),
}

impl Entry {
    pub(super) fn record(&self) -> Option<&Record> {
        match self {
            Self::Record(record) => Some(record),
            Self::Checkpoint(_) | Self::Receipt(_) => None,
        }
    }

    pub(super) fn envelope(&self) -> Option<Envelope<'_>> {
        Envelope::parse(&self.record()?.envelope).ok()
    }

    fn line(&self, out: &mut Vec<u8>) -> Result<(), TamperError> {
        let written = match self {
            Self::Record(record) => {
                let body = record.body.as_ref();
                let body = body.map(|body| (&body.salt, body.bytes.as_slice()));
                write_record_line(&record.envelope, body, out)
            }
            Self::Checkpoint(note) => write_checkpoint_line(note, out),
            Self::Receipt(text) => write_receipt_line(text, out),
        };
        written.map_err(|error| TamperError::Input(error.to_string()))
    }
}

/// A bundle.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) manifest: Manifest,
    pub(super) entries: Vec<Entry>,
}

impl Document {
    pub(super) fn parse(input: &[u8]) -> Result<Self, TamperError> {
        let refused = |why: String| TamperError::Input(why);
        let mut lines = input.split(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let Ok(Line::Manifest(manifest)) = parse_line(first) else {
            return Err(refused("the first line is not a manifest".to_owned()));
        };
        let mut entries = Vec::new();
        for (i, line) in lines.enumerate() {
            if line.is_empty() {
                continue;
            }
            let line =
                parse_line(line).map_err(|error| refused(format!("line {}: {error}", i + 2)))?;
            entries.push(match line {
                Line::Record(record) => Entry::Record(record.into_record()),
                Line::Checkpoint(note) => Entry::Checkpoint(note.into_owned()),
                Line::Receipt(text) => Entry::Receipt(text.into_owned()),
                Line::Manifest(_) => return Err(refused("a second manifest".to_owned())),
            });
        }
        Ok(Self { manifest, entries })
    }

    pub(super) fn is_room(&self) -> bool {
        matches!(self.manifest.kind, Kind::Room(_))
    }

    /// The bundle's bytes, with a manifest that fits what is in it.
    pub(super) fn write(mut self) -> Result<Vec<u8>, TamperError> {
        let count = |wanted: fn(&Entry) -> bool| {
            self.entries.iter().filter(|entry| wanted(entry)).count() as u64
        };
        self.manifest.records = count(|entry| matches!(entry, Entry::Record(_)));
        self.manifest.checkpoints = count(|entry| matches!(entry, Entry::Checkpoint(_)));
        let newest = self.entries.iter().rev().find_map(Entry::envelope);
        if let Some(newest) = newest {
            self.manifest.last = match self.manifest.kind {
                Kind::Log => newest.seq,
                Kind::Room(_) => newest.sseq,
            };
        }
        let mut out = Vec::new();
        self.manifest.write(&mut out);
        for entry in &self.entries {
            entry.line(&mut out)?;
        }
        Ok(out)
    }

    /// Place of the record of this number.
    pub(super) fn place(&self, seq: u64) -> Option<usize> {
        let is_it = |entry: &Entry| entry.envelope().is_some_and(|envelope| envelope.seq == seq);
        self.entries.iter().position(is_it)
    }

    /// Place and number of a record that suits: the one asked for, or the one nearest to the
    /// middle.
    pub(super) fn choose(
        &self,
        seq: Option<u64>,
        what: &'static str,
        suits: impl Fn(&Envelope<'_>, Option<&Body>) -> bool,
    ) -> Result<(usize, u64), TamperError> {
        let candidates = self
            .entries
            .iter()
            .enumerate()
            .filter_map(|(place, entry)| {
                let envelope = entry.envelope()?;
                let body = entry.record()?.body.as_ref();
                suits(&envelope, body).then_some((place, envelope.seq))
            });
        if let Some(seq) = seq {
            let mut candidates = candidates;
            let found = candidates.find(|(_, found)| *found == seq);
            return found.ok_or(TamperError::Unsuitable { seq, what });
        }
        let middle = self.entries.len() / 2;
        candidates
            .min_by_key(|(place, _)| place.abs_diff(middle))
            .ok_or(TamperError::Nothing(what))
    }

    pub(super) fn record_mut(&mut self, place: usize) -> Result<&mut Record, TamperError> {
        match self.entries.get_mut(place) {
            Some(Entry::Record(record)) => Ok(record),
            _ => Err(TamperError::Nothing("record there")),
        }
    }

    /// Changes an envelope and leaves everything else as it was.
    pub(super) fn edit_envelope(
        &mut self,
        place: usize,
        edit: impl FnOnce(&mut Envelope<'_>),
    ) -> Result<(), TamperError> {
        let record = self.record_mut(place)?;
        let mut envelope = Envelope::parse(&record.envelope)
            .map_err(|error| TamperError::Input(error.to_string()))?
            .into_owned();
        edit(&mut envelope);
        record.envelope.clear();
        envelope.encode(&mut record.envelope);
        Ok(())
    }

    /// Changes a body and leaves its commitment as it was.
    pub(super) fn edit_body(
        &mut self,
        place: usize,
        edit: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>),
    ) -> Result<(), TamperError> {
        let record = self.record_mut(place)?;
        let body = record.body.as_mut().ok_or(TamperError::Nothing("body"))?;
        let mut value = serde_json::from_slice(&body.bytes)
            .map_err(|error| TamperError::Input(error.to_string()))?;
        edit(&mut value);
        body.bytes =
            serde_json::to_vec(&value).map_err(|error| TamperError::Input(error.to_string()))?;
        Ok(())
    }

    /// Places of the checkpoint lines.
    pub(super) fn checkpoints(&self) -> Vec<usize> {
        let is_one = |(place, entry): (usize, &Entry)| {
            matches!(entry, Entry::Checkpoint(_)).then_some(place)
        };
        self.entries.iter().enumerate().filter_map(is_one).collect()
    }

    pub(super) fn note_mut(&mut self, place: usize) -> Result<&mut String, TamperError> {
        match self.entries.get_mut(place) {
            Some(Entry::Checkpoint(note)) => Ok(note),
            _ => Err(TamperError::Nothing("checkpoint")),
        }
    }

    /// Number of the last record before this place.
    pub(super) fn seq_before(&self, place: usize) -> u64 {
        let before = self.entries.iter().take(place).rev();
        let mut seqs = before.filter_map(|entry| Some(entry.envelope()?.seq));
        seqs.next().unwrap_or(0)
    }
}
