//! Publish a skill: its bytes are kept already, under their hash.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::SkillsState;
use crate::{
    Fact, Rejection, ed25519, hex_text,
    limits::{SKILL_BYTES_MAX, SKILLS_MAX},
    text::{AgentName, Description, SkillName, SkillVersion},
};

/// `skill.published` v1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Who publishes it.
    pub agent: AgentName,
    /// The author's Ed25519 public key, 64 lower-case hex digits; only with `author_sig`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_pubkey: Option<String>,
    /// The author's signature over the 64 digits of `sha256`, 128 lower-case hex digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_sig: Option<String>,
    /// What the skill is for.
    pub description: Description,
    /// Its UUID.
    pub id: Uuid,
    /// What it is called; not unique.
    pub name: SkillName,
    /// SHA-256 of the bundle, 64 lower-case hex digits.
    pub sha256: String,
    /// Bytes of the bundle.
    pub size: u64,
    /// Which version of it.
    pub version: SkillVersion,
}

impl Published {
    /// The hash of the bundle as bytes; none if it is not spelt as one, which is not lawful.
    pub fn digest(&self) -> Option<[u8; 32]> {
        hex_text::decode(&self.sha256)
    }
}

pub(super) fn intrinsic(event: &Published) -> Result<(), Rejection> {
    if event.digest().is_none() {
        return Err(Rejection::SkillDigestMalformed);
    }
    if !(1..=SKILL_BYTES_MAX).contains(&event.size) {
        let max = SKILL_BYTES_MAX;
        return Err(Rejection::SkillSizeWrong { max });
    }
    match (&event.author_pubkey, &event.author_sig) {
        (None, None) => Ok(()),
        (Some(pubkey), Some(sig)) => signed(pubkey, &event.sha256, sig),
        (Some(_), None) | (None, Some(_)) => Err(Rejection::SkillSignatureHalf),
    }
}

fn signed(pubkey: &str, sha256: &str, sig: &str) -> Result<(), Rejection> {
    let key = ed25519::public_key(pubkey)?;
    match ed25519::verifies(&key, sha256.as_bytes(), sig) {
        None => Err(Rejection::SignatureMalformed),
        Some(false) => Err(Rejection::SkillSignatureInvalid),
        Some(true) => Ok(()),
    }
}

pub(super) fn contextual(
    skills: &SkillsState,
    fact: &Fact<'_>,
    event: &Published,
) -> Result<(), Rejection> {
    fact.actor.may_speak_as(&event.agent)?;
    let digest = event.digest().ok_or(Rejection::SkillDigestMalformed)?;
    match skills.by_sha256(&digest) {
        Some((_, true)) => return Err(Rejection::SkillWithdrawn),
        Some((_, false)) => return Err(Rejection::SkillAlreadyPublished),
        None => {}
    }
    if skills.is_withdrawn(&event.id).is_some() {
        return Err(Rejection::SkillIdTaken);
    }
    if skills.len() >= SKILLS_MAX {
        let max = SKILLS_MAX;
        return Err(Rejection::SkillsFull { max });
    }
    Ok(())
}

pub(super) fn evolve(skills: &mut SkillsState, event: &Published) {
    let Some(digest) = event.digest() else {
        return;
    };
    skills.by_id.insert(event.id, false);
    skills.by_sha256.insert(digest, event.id);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{
        Command, What,
        actor::Actor,
        ids::StreamId,
        keys::Scope,
        skills::{self, Event},
        testing::*,
    };

    fn ask(event: Published) -> Command {
        Command::Skills(skills::Command::Publish(event))
    }

    pub(crate) fn rows() -> Vec<Row> {
        [who_may(), as_it_is_recorded(), once()]
            .into_iter()
            .flatten()
            .collect()
    }

    fn who_may() -> Vec<Row> {
        let holding = |agent| [owner(issue(1, agent, &[Scope::Agent]))];
        rows! {
            "anybody publishes a skill":
                [] => agent("alice", publish(1)) => makes(Event::Published(published(1)));
            "the owner too": [] => owner(publish(1)) => accepted();
            "signed by its author":
                []
                => agent("alice", ask(signed_skill(1)))
                => makes(Event::Published(signed_skill(1)));
            "under the own name only":
                []
                => agent("bob", publish(1))
                => refused(Rejection::SpeaksForAnother { actor: name("bob") });
            "the arbiter does not":
                []
                => arbiter(publish(1))
                => refused(Rejection::ActorNotAllowed { actor: "the arbiter" });
            "with an API key": holding(None) => key(1, publish(1)) => accepted();
            "with one bound to the agent":
                holding(Some("alice")) => key(1, publish(1)) => accepted();
            "not with another's":
                holding(Some("bob"))
                => key(1, publish(1))
                => refused(Rejection::KeyBoundToAgent { agent: name("bob") });
            "not with a key that acts as nobody":
                [owner(issue(1, None, &[Scope::Auditor]))]
                => key(1, publish(1))
                => refused(Rejection::KeyLacksScope { needed: Scope::Agent });
        }
    }

    fn as_it_is_recorded() -> Vec<Row> {
        let with = |change: fn(&mut Published)| {
            let mut event = published(1);
            change(&mut event);
            ask(event)
        };
        let changed = |change: fn(&mut Published)| {
            let mut event = signed_skill(1);
            change(&mut event);
            ask(event)
        };
        let size = || Rejection::SkillSizeWrong {
            max: SKILL_BYTES_MAX,
        };
        let digest = || Rejection::SkillDigestMalformed;
        rows! {
            "a hash has its length":
                [] => owner(with(|e| e.sha256.truncate(63))) => refused(digest());
            "in lower case":
                [] => owner(with(|e| e.sha256 = "AB".repeat(32))) => refused(digest());
            "a bundle has bytes": [] => owner(with(|e| e.size = 0)) => refused(size());
            "512 KiB": [] => owner(with(|e| e.size = 524_288)) => accepted();
            "no more": [] => owner(with(|e| e.size = 524_289)) => refused(size());
            "a key goes with a signature":
                []
                => owner(changed(|e| e.author_sig = None))
                => refused(Rejection::SkillSignatureHalf);
            "and the other way round":
                []
                => owner(changed(|e| e.author_pubkey = None))
                => refused(Rejection::SkillSignatureHalf);
            "a key is a key":
                []
                => owner(changed(|e| e.author_pubkey = Some("00".repeat(31))))
                => refused(Rejection::PublicKeyMalformed);
            "and not weak":
                []
                => owner(changed(|e| e.author_pubkey = Some("00".repeat(32))))
                => refused(Rejection::PublicKeyWeak);
            "a signature has its length":
                []
                => owner(changed(|e| e.author_sig = Some("00".repeat(63))))
                => refused(Rejection::SignatureMalformed);
            "it is the key's":
                []
                => owner(changed(|e| e.author_pubkey = Some(pubkey(8))))
                => refused(Rejection::SkillSignatureInvalid);
            "over this hash":
                []
                => owner(changed(|e| e.sha256 = "ab".repeat(32)))
                => refused(Rejection::SkillSignatureInvalid);
            "order: the body before the actor":
                [] => agent("bob", with(|e| e.size = 0)) => refused(size());
        }
    }

    fn once() -> Vec<Row> {
        rows! {
            "bytes are published once":
                [agent("alice", publish(1))]
                => agent("bob", ask(Published {
                    agent: name("bob"),
                    id: uuid::Uuid::from_u128(99),
                    ..published(1)
                }))
                => refused(Rejection::SkillAlreadyPublished);
            "what was withdrawn does not come back":
                [agent("alice", publish(1)), owner(withdraw(1))]
                => agent("alice", publish(1)) => refused(Rejection::SkillWithdrawn);
            "an id is used once":
                [agent("alice", publish(1))]
                => owner(ask(Published { id: published(1).id, ..published(2) }))
                => refused(Rejection::SkillIdTaken);
            "a name is not unique":
                [agent("alice", publish(1))]
                => owner(ask(Published { agent: name("alice"), ..published(2) })) => accepted();
            "order: the actor before the bytes":
                [agent("alice", publish(1))]
                => agent("bob", publish(1))
                => refused(Rejection::SpeaksForAnother { actor: name("bob") });
            "it belongs among the skills":
                []
                => recorded(Event::Published(published(1))).in_stream(StreamId::Keys)
                => refused(Rejection::WrongStream);
            "its body is not erased":
                []
                => erased(Actor::Owner, crate::EventKind::SkillPublished)
                    .in_stream(StreamId::Skills)
                => refused(Rejection::BodyMissing);
        }
    }

    #[test]
    fn bytes_are_published_once_by_whom_they_are_said_to_be() {
        check_all(rows());
    }

    #[test]
    fn the_number_of_skills_is_bounded() {
        let mut skills = SkillsState::default();
        for number in 0..SKILLS_MAX {
            let id = Uuid::from_u128(number as u128);
            let digest = *blake3::hash(&number.to_le_bytes()).as_bytes();
            skills.by_id.insert(id, false);
            skills.by_sha256.insert(digest, id);
        }
        let next = Published {
            id: Uuid::from_u128(SKILLS_MAX as u128),
            ..published(1)
        };
        let event = crate::Event::Skills(Event::Published(next.clone()));
        let fact = Fact {
            seq: 2,
            stream: StreamId::Skills,
            sseq: 1,
            actor: &Actor::Owner,
            at: NOON,
            what: What::Present(&event),
        };
        let full = Rejection::SkillsFull { max: SKILLS_MAX };
        assert_eq!(contextual(&skills, &fact, &next), Err(full));
    }
}
