//! Rows as their events say them.

use minutebook_domain::{
    room::claims::{ClaimOpened, ClaimRevised, Entry, HandshakeMade},
    signature::LedgerSignature,
    text::Quote,
    time::Timestamp,
};

use crate::row;

use super::{HandshakeRow, LedgerSignatureRow, RevisionRow};

impl RevisionRow {
    /// The entry of an opening.
    pub fn of_opening(event: &ClaimOpened, seq: u64, at: Timestamp) -> Self {
        Self {
            author: event.agent.as_str().to_owned(),
            value: event.value.as_str().to_owned(),
            source_msg_id: event.source_msg_id,
            quote: event.quote.as_ref().map(owned),
            signature: event.signature.as_deref().map(Into::into),
            ..Self::of_entry(&event.entry, seq, at)
        }
    }

    /// The entry of a revision.
    pub fn of_revision(event: &ClaimRevised, seq: u64, at: Timestamp) -> Self {
        Self {
            kind: Some(event.kind),
            author: event.agent.as_str().to_owned(),
            value: event.value.as_str().to_owned(),
            source_msg_id: event.source_msg_id,
            quote: event.quote.as_ref().map(owned),
            signature: event.signature.as_deref().map(Into::into),
            ..Self::of_entry(&event.entry, seq, at)
        }
    }

    /// How many bytes the row takes, or a few more: there are many, and a buffer that must grow
    /// costs more than what is put into it.
    pub(super) fn bytes_hint(&self) -> usize {
        let signature = self.signature.as_ref();
        let texts = [
            self.author.len(),
            self.value.len(),
            self.quote.as_ref().map_or(0, String::len),
            signature.map_or(0, |s| s.pubkey.len() + s.sig.len() + s.surface.len()),
            self.arbiter.len(),
            self.arbiter_sig.len(),
            self.prev_hash.len(),
            self.row_hash.len(),
        ];
        let row = row::PREFIX_BYTES + size_of::<rkyv::Archived<Self>>();
        row.next_multiple_of(16) + texts.iter().sum::<usize>()
    }

    fn of_entry(entry: &Entry, seq: u64, at: Timestamp) -> Self {
        Self {
            id: entry.id,
            kind: None,
            author: String::new(),
            value: String::new(),
            source_msg_id: None,
            quote: None,
            signature: None,
            at,
            seq,
            arbiter: entry.arbiter.clone(),
            arbiter_sig: entry.arbiter_sig.clone(),
            prev_hash: entry.prev_hash.clone(),
            row_hash: entry.row_hash.clone(),
        }
    }
}

fn owned(quote: &Quote) -> String {
    quote.as_str().to_owned()
}

impl HandshakeRow {
    /// A handshake.
    pub fn of_event(event: &HandshakeMade, seq: u64, at: Timestamp) -> Self {
        Self {
            agent: event.agent.as_str().to_owned(),
            context_hash: event.context_hash.clone(),
            signature: event.signature.as_deref().map(Into::into),
            at,
            seq,
        }
    }
}

impl From<&LedgerSignature> for LedgerSignatureRow {
    fn from(signature: &LedgerSignature) -> Self {
        Self {
            pubkey: signature.pubkey.clone(),
            sig: signature.sig.clone(),
            surface: signature.surface.clone(),
            position: signature.position,
            is_enrolled: signature.enrolled,
        }
    }
}
