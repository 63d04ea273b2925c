//! The usual bodies of a ledger, read in one pass: openings and revisions that nobody signed and
//! that quote nothing. The same bargain as in [`super::plain`], with the same invariants.

use super::plain::{is_itself, number, string};
use crate::{
    ids::ClaimId,
    newtype::Recorded as _,
    room::claims::{Author, ClaimOpened, ClaimRevised, Entry, RevisionKind, SubjectKey},
    text::{ClaimValue, Subject},
};

/// The opening, if this is the usual body of one.
pub(super) fn opened(body: &[u8]) -> Option<ClaimOpened> {
    let mut rest = Rest(std::str::from_utf8(body).ok()?);
    let (agent, claim, entry) = rest.head()?;
    let source_msg_id = rest.source()?;
    rest.literal(",\"subject\":\"")?;
    let subject = rest.string()?;
    rest.literal(",\"subject_key\":\"")?;
    let subject_key = rest.string()?;
    Some(ClaimOpened {
        agent,
        claim,
        entry,
        quote: None,
        signature: None,
        source_msg_id,
        subject: Subject::recorded(subject).ok()?,
        subject_key: SubjectKey::recorded(subject_key).ok()?,
        value: rest.value()?,
    })
}

/// The revision, if this is the usual body of one.
pub(super) fn revised(body: &[u8]) -> Option<ClaimRevised> {
    let mut rest = Rest(std::str::from_utf8(body).ok()?);
    let (agent, claim, entry) = rest.head()?;
    rest.literal(",\"kind\":\"")?;
    let kind = rest.string()?;
    Some(ClaimRevised {
        agent,
        claim,
        entry,
        kind: KINDS.into_iter().find(|known| known.name() == kind)?,
        quote: None,
        signature: None,
        source_msg_id: rest.source()?,
        value: rest.value()?,
    })
}

const KINDS: [RevisionKind; 4] = [
    RevisionKind::Update,
    RevisionKind::Confirm,
    RevisionKind::Contradict,
    RevisionKind::Retract,
];

/// What is still to be read.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn literal(&mut self, literal: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(literal)?;
        Some(())
    }

    /// A string behind its first quote, in which everything stands for itself.
    fn string(&mut self) -> Option<&'a str> {
        let end = memchr::memchr(b'"', self.0.as_bytes())?;
        let (inside, rest) = self.0.split_at_checked(end)?;
        self.0 = rest.strip_prefix('"')?;
        is_itself(inside).then_some(inside)
    }

    fn number(&mut self) -> Option<u64> {
        let (number, rest) = number(self.0)?;
        self.0 = rest;
        Some(number)
    }

    /// What all entries of a ledger begin with.
    fn head(&mut self) -> Option<(Author, ClaimId, Box<Entry>)> {
        self.literal("{\"agent\":\"")?;
        let agent = Author::recorded(self.string()?).ok()?;
        self.literal(",\"claim\":\"")?;
        let claim = ClaimId::parse_canonical(self.string()?)?;
        self.literal(",\"entry\":{\"arbiter\":\"")?;
        let arbiter = self.string()?;
        self.literal(",\"arbiter_sig\":\"")?;
        let arbiter_sig = self.string()?;
        self.literal(",\"id\":")?;
        let id = self.number()?;
        self.literal(",\"prev_hash\":\"")?;
        let prev_hash = self.string()?;
        self.literal(",\"row_hash\":\"")?;
        let row_hash = self.string()?;
        self.literal("}")?;
        let entry = Entry {
            arbiter: arbiter.to_owned(),
            arbiter_sig: arbiter_sig.to_owned(),
            id,
            prev_hash: prev_hash.to_owned(),
            row_hash: row_hash.to_owned(),
        };
        Some((agent, claim, Box::new(entry)))
    }

    /// The message it was taken from, if it names one.
    #[expect(clippy::option_option, reason = "unusual, or whether there is one")]
    fn source(&mut self) -> Option<Option<u64>> {
        if self.literal(",\"source_msg_id\":").is_none() {
            return Some(None);
        }
        self.number().map(Some)
    }

    /// The value, which stands last, and the end.
    fn value(&mut self) -> Option<ClaimValue> {
        self.literal(",\"value\":\"")?;
        let inside = self.0.strip_suffix("\"}")?;
        ClaimValue::recorded(&string(inside)?).ok()
    }
}

#[cfg(test)]
#[path = "plain_claim_tests.rs"]
mod tests;
