//! Words for rows about shared skills.

use super::*;
use crate::{
    skills::{self, Published, Withdrawn},
    text::{SkillName, SkillVersion},
};

/// Skill number so-and-so, unsigned, of alice.
pub(crate) fn published(number: u8) -> Published {
    Published {
        agent: name("alice"),
        author_pubkey: None,
        author_sig: None,
        description: Description::parse("Asks the harbour master").unwrap(),
        id: Uuid::from_u128(u128::from(number)),
        name: SkillName::parse("boat query").unwrap(),
        sha256: format!("{number:064x}"),
        size: 125,
        version: SkillVersion::parse("0.3").unwrap(),
    }
}

/// The same, signed with key 7.
pub(crate) fn signed_skill(number: u8) -> Published {
    let event = published(number);
    let sig = seed(7).sign(event.sha256.as_bytes()).to_bytes();
    Published {
        author_pubkey: Some(pubkey(7)),
        author_sig: Some(hex::encode(sig)),
        ..event
    }
}

pub(crate) fn publish(number: u8) -> Command {
    Command::Skills(skills::Command::Publish(published(number)))
}

pub(crate) fn withdrawn(number: u8) -> Withdrawn {
    Withdrawn {
        id: published(number).id,
        reason: because(),
    }
}

pub(crate) fn withdraw(number: u8) -> Command {
    Command::Skills(skills::Command::Withdraw(withdrawn(number)))
}
