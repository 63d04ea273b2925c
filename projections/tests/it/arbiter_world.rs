//! The arbiter in the small world.

use minutebook_domain::{
    EventKind,
    room::{
        self,
        claims::{
            self, ContextExtracted, DiscrepancyRecorded, Outcome, Proposal, RevisionKind, Severity,
        },
    },
    text::{ClaimValue, DiscrepancyText, ModelName, Quote, Reason},
};

use crate::{ledger_world::claim_id, world::World};

impl World {
    /// A reading that proposes this of a thread.
    pub(crate) fn read(&mut self, room: usize, message: u64, of: Option<(usize, RevisionKind)>) {
        let proposal = |(claim, revision)| Proposal::Revise {
            claim: claim_id(room, claim),
            quote: Some(Quote::parse("so be it").unwrap()),
            revision,
            value: ClaimValue::parse("$8").unwrap(),
        };
        let proposals = of.map(proposal).into_iter().collect();
        self.extract(room, message, Outcome::Read, proposals);
    }

    /// A message that could not be read.
    pub(crate) fn fail(&mut self, room: usize, message: u64, outcome: Outcome) {
        self.extract(room, message, outcome, Vec::new());
    }

    fn extract(&mut self, room: usize, message: u64, outcome: Outcome, proposals: Vec<Proposal>) {
        let is_read = outcome == Outcome::Read;
        let extracted = ContextExtracted {
            adapter: ModelName::parse("openai-chat").unwrap(),
            answer: is_read.then(|| "{}".to_owned()),
            failed: (!is_read).then(|| Reason::parse("no").unwrap()),
            message,
            model: ModelName::parse("model-1").unwrap(),
            outcome,
            prompt_hash: "ef".repeat(32),
            proposals,
        };
        let event = room::Event::Claim(claims::Event::ContextExtracted(extracted));
        self.push(room, EventKind::ContextExtracted, event);
    }

    /// The arbiter notes something, of a thread or of none.
    pub(crate) fn note(&mut self, room: usize, id: u64, claim: Option<usize>) {
        let recorded = DiscrepancyRecorded {
            claim: claim.map(|claim| claim_id(room, claim)),
            description: DiscrepancyText::parse("two prices").unwrap(),
            id,
            severity: Severity::Medium,
            source_msg_id: Some(1),
        };
        let event = room::Event::Claim(claims::Event::DiscrepancyRecorded(recorded));
        self.push(room, EventKind::DiscrepancyRecorded, event);
    }
}
