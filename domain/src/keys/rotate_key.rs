//! Begin the log's next key epoch, certified by the key before.

use serde::{Deserialize, Serialize};

use super::{KeyEpoch, KeysState, Vkey};
use crate::{Fact, Rejection, ed25519, limits::KEY_EPOCHS_MAX};

/// `log.key_rotated` v1: begins the next key epoch, certified by the key before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyRotated {
    /// Hex Ed25519 signature by the previous key over [`certificate_text`].
    pub cert: String,
    /// 2, 3, 4 …
    pub epoch: u64,
    /// The key that signed `cert`.
    pub prev_vkey: String,
    /// The new key.
    pub vkey: String,
}

/// What the previous key signs to certify the next.
pub fn certificate_text(origin: &str, epoch: u64, vkey: &str) -> String {
    format!("minutebook key epoch v1\n{origin}\n{epoch}\n{vkey}\n")
}

pub(super) fn intrinsic(event: &KeyRotated) -> Result<(), Rejection> {
    let previous = Vkey::parse(&event.prev_vkey)?;
    let next = Vkey::parse(&event.vkey)?;
    if previous.name() != next.name() {
        return Err(Rejection::VkeyWrongName);
    }
    let text = certificate_text(previous.name(), event.epoch, &event.vkey);
    match ed25519::verifies(previous.key(), text.as_bytes(), &event.cert) {
        Some(true) => Ok(()),
        Some(false) | None => Err(Rejection::EpochCertificateInvalid),
    }
}

pub(super) fn contextual(
    keys: &KeysState,
    fact: &Fact<'_>,
    event: &KeyRotated,
) -> Result<(), Rejection> {
    let current = keys.current_epoch().ok_or(Rejection::LogNotOpened)?;
    fact.actor.must_be_arbiter()?;
    if keys.epochs.len() >= KEY_EPOCHS_MAX {
        let max = KEY_EPOCHS_MAX;
        return Err(Rejection::EpochsFull { max });
    }
    let expected = current.epoch + 1;
    if event.epoch != expected {
        let found = event.epoch;
        return Err(Rejection::EpochOutOfOrder { expected, found });
    }
    if event.prev_vkey != current.vkey {
        return Err(Rejection::EpochWrongPredecessor);
    }
    // A key that was given up, perhaps because it leaked, must not come back.
    if keys.epochs.iter().any(|epoch| epoch.vkey == event.vkey) {
        return Err(Rejection::EpochKeyReused);
    }
    Ok(())
}

pub(super) fn evolve(keys: &mut KeysState, fact: &Fact<'_>, event: &KeyRotated) {
    keys.epochs
        .push(KeyEpoch::new(event.epoch, fact.seq, event.vkey.clone()));
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Command, keys, testing::*};

    fn ask(event: KeyRotated) -> Command {
        Command::Keys(keys::Command::RotateKey(event))
    }

    pub(crate) fn rows() -> Vec<Row> {
        let with = |change: fn(&mut KeyRotated)| {
            let mut event = rotated(2, 1, 2);
            change(&mut event);
            arbiter(ask(event))
        };
        let invalid = || Rejection::EpochCertificateInvalid;
        let out_of_order = |expected, found| Rejection::EpochOutOfOrder { expected, found };
        let many = || -> Vec<Step> {
            (2..=KEY_EPOCHS_MAX as u64)
                .map(|epoch| arbiter(rotate_wide(epoch)))
                .collect()
        };
        rows! {
            "the arbiter begins an epoch":
                [] => arbiter(rotate(2, 1, 2)) => makes(keys::Event::KeyRotated(rotated(2, 1, 2)));
            "and the next": [arbiter(rotate(2, 1, 2))] => arbiter(rotate(3, 2, 3)) => accepted();
            "the old key is a key":
                [] => with(|e| e.prev_vkey.push('=')) => refused(Rejection::VkeyMalformed);
            "the new key is a key":
                [] => with(|e| e.vkey.push('=')) => refused(Rejection::VkeyMalformed);
            "of the same log":
                []
                => with(|e| e.vkey = keys::vkey_text("other.org", &seed(2).verifying_key()))
                => refused(Rejection::VkeyWrongName);
            "certified": [] => with(|e| e.cert = "00".repeat(64)) => refused(invalid());
            "in lower case": [] => with(|e| e.cert.make_ascii_uppercase()) => refused(invalid());
            "for its epoch": [] => with(|e| e.epoch = 3) => refused(invalid());
            "for itself": [] => with(|e| e.vkey = log_vkey(3)) => refused(invalid());
            "by the key it names":
                [] => with(|e| e.cert = rotated(2, 3, 2).cert) => refused(invalid());
            "not by the owner":
                []
                => owner(rotate(2, 1, 2))
                => refused(Rejection::ActorNotAllowed { actor: "the owner" });
            "not too far ahead": [] => arbiter(rotate(3, 1, 2)) => refused(out_of_order(2, 3));
            "not again":
                [arbiter(rotate(2, 1, 2))]
                => arbiter(rotate(2, 1, 2)) => refused(out_of_order(3, 2));
            "not after another key":
                [] => arbiter(rotate(2, 3, 2)) => refused(Rejection::EpochWrongPredecessor);
            "not to the same key":
                [] => arbiter(rotate(2, 1, 1)) => refused(Rejection::EpochKeyReused);
            "not back":
                [arbiter(rotate(2, 1, 2))]
                => arbiter(rotate(3, 2, 1)) => refused(Rejection::EpochKeyReused);
            "not for ever":
                many()
                => arbiter(rotate_wide(KEY_EPOCHS_MAX as u64 + 1))
                => refused(Rejection::EpochsFull { max: KEY_EPOCHS_MAX });
            "order: the actor before the epoch":
                []
                => owner(rotate(3, 1, 2))
                => refused(Rejection::ActorNotAllowed { actor: "the owner" });
            "order: the epoch before its predecessor":
                [] => arbiter(rotate(3, 3, 3)) => refused(out_of_order(2, 3));
            "order: the predecessor before reuse":
                [arbiter(rotate(2, 1, 2))]
                => arbiter(rotate(3, 1, 1)) => refused(Rejection::EpochWrongPredecessor);
        }
    }

    #[test]
    fn a_key_epoch_follows_the_one_that_certified_it() {
        check_all(rows());
    }

    #[test]
    fn the_epochs_say_since_when_each_key_signs() {
        let mut keys = KeysState::default();
        keys.epochs.push(KeyEpoch::new(1, 1, log_vkey(1)));
        let event = crate::Event::Keys(keys::Event::KeyRotated(rotated(2, 1, 2)));
        let fact = Fact {
            seq: 70,
            stream: crate::ids::StreamId::Log,
            sseq: 2,
            actor: &crate::actor::Actor::Arbiter,
            at: NOON,
            what: crate::What::Present(&event),
        };
        keys::evolve(&mut keys, &fact);
        let current = KeyEpoch::new(2, 70, log_vkey(2));
        assert_eq!(keys.current_epoch(), Some(&current));
        assert_eq!(keys.epochs().len(), 2);
    }
}
