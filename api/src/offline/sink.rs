//! Where an export's lines go: into text, or to somebody who wants what they hold.

use minutebook_eventlog::format::{
    bundle::{
        BodyLine, Line, Manifest, RecordLine, WriteError, write_checkpoint_line,
        write_receipt_line, write_record_line,
    },
    record::Record,
};

/// Takes lines. Readers that stop hold one chunk each, so a chunk has bounds.
pub(super) trait Sink {
    /// Most records in a chunk.
    const RECORDS_MAX: usize;
    /// A chunk takes no further record beyond this.
    const BYTES_MAX: usize;

    /// How much it holds, about.
    fn bytes(&self) -> usize;
    fn manifest(&mut self, manifest: &Manifest);
    fn record(&mut self, record: Record) -> Result<(), WriteError>;
    fn receipt(&mut self, proof: String) -> Result<(), WriteError>;
    fn checkpoint(&mut self, note: String) -> Result<(), WriteError>;
}

/// The lines' own text.
impl Sink for Vec<u8> {
    const RECORDS_MAX: usize = 64;
    const BYTES_MAX: usize = 64 * 1024;

    fn bytes(&self) -> usize {
        self.len()
    }

    fn manifest(&mut self, manifest: &Manifest) {
        manifest.write(self);
    }

    fn record(&mut self, record: Record) -> Result<(), WriteError> {
        let body = record.body.as_ref();
        let body = body.map(|body| (&body.salt, body.bytes.as_slice()));
        write_record_line(&record.envelope, body, self)
    }

    fn receipt(&mut self, proof: String) -> Result<(), WriteError> {
        write_receipt_line(&proof, self)
    }

    fn checkpoint(&mut self, note: String) -> Result<(), WriteError> {
        write_checkpoint_line(&note, self)
    }
}

/// What lines hold.
#[derive(Debug, Default)]
pub struct Lines {
    /// The lines.
    pub list: Vec<Line<'static>>,
    bytes: usize,
}

impl Sink for Lines {
    const RECORDS_MAX: usize = 128;
    const BYTES_MAX: usize = 256 * 1024;

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn manifest(&mut self, manifest: &Manifest) {
        self.list.push(Line::Manifest(manifest.clone()));
    }

    fn record(&mut self, record: Record) -> Result<(), WriteError> {
        let body = record.body.map(|body| BodyLine {
            salt: body.salt,
            bytes: body.bytes.into(),
        });
        let bytes = body.as_ref().map_or(0, |body| body.bytes.len());
        self.bytes += record.envelope.len() + bytes;
        self.list.push(Line::Record(RecordLine {
            envelope: record.envelope.into(),
            body,
        }));
        Ok(())
    }

    fn receipt(&mut self, proof: String) -> Result<(), WriteError> {
        self.list.push(Line::Receipt(proof.into()));
        Ok(())
    }

    fn checkpoint(&mut self, note: String) -> Result<(), WriteError> {
        self.list.push(Line::Checkpoint(note.into()));
        Ok(())
    }
}
