//! Open the log: its first event, which names it and begins key epoch 1.

use serde::{Deserialize, Serialize};

use super::{
    KeyEpoch, KeysState,
    vkey::{Vkey, is_key_name},
};
use crate::{Fact, Rejection, limits::ORIGIN_BYTES_MAX};

/// `log.opened` v1: always seq 1. Begins key epoch 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogOpened {
    /// The log's origin line (C2SP tlog-checkpoint).
    pub origin: String,
    /// The first key, as a C2SP vkey.
    pub vkey: String,
}

pub(super) fn intrinsic(event: &LogOpened) -> Result<(), Rejection> {
    if !is_key_name(&event.origin) {
        let max = ORIGIN_BYTES_MAX;
        return Err(Rejection::OriginMalformed { max });
    }
    if Vkey::parse(&event.vkey)?.name() != event.origin {
        return Err(Rejection::VkeyWrongName);
    }
    Ok(())
}

pub(super) fn contextual(keys: &KeysState, fact: &Fact<'_>) -> Result<(), Rejection> {
    if keys.current_epoch().is_some() {
        return Err(Rejection::LogAlreadyOpened);
    }
    if fact.seq != 1 {
        return Err(Rejection::LogOpenedLate);
    }
    fact.actor.must_be_arbiter()
}

pub(super) fn evolve(keys: &mut KeysState, fact: &Fact<'_>, event: &LogOpened) {
    keys.epochs
        .push(KeyEpoch::new(1, fact.seq, event.vkey.clone()));
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Command, EventKind, actor::Actor, ids::StreamId, keys, testing::*};

    fn ask(event: LogOpened) -> Command {
        Command::Keys(keys::Command::OpenLog(event))
    }

    pub(crate) fn rows() -> Vec<Row> {
        let with = |origin: &str, vkey: String| {
            let origin = origin.to_owned();
            arbiter(ask(LogOpened { origin, vkey }))
        };
        let bad_origin = || Rejection::OriginMalformed {
            max: ORIGIN_BYTES_MAX,
        };
        let long = "o".repeat(ORIGIN_BYTES_MAX + 1);
        rows! {
            "the arbiter opens the log":
                [] => arbiter(open_log()) => makes(keys::Event::LogOpened(log_opened()));
            "an origin is not empty": [] => with("", log_vkey(1)) => refused(bad_origin());
            "nor has a plus": [] => with("a+b", log_vkey(1)) => refused(bad_origin());
            "nor a blank": [] => with("a b", log_vkey(1)) => refused(bad_origin());
            "nor a line break": [] => with("a\nb", log_vkey(1)) => refused(bad_origin());
            "nor too many bytes": [] => with(&long, log_vkey(1)) => refused(bad_origin());
            "the key is a key":
                [] => with(ORIGIN, "minutes".to_owned()) => refused(Rejection::VkeyMalformed);
            "of this log":
                [] => with("example.org/other", log_vkey(1)) => refused(Rejection::VkeyWrongName);
            "a log opens once":
                [arbiter(open_log())]
                => arbiter(open_log()) => refused(Rejection::LogAlreadyOpened);
            "the owner does not open it":
                []
                => owner(open_log()) => refused(Rejection::ActorNotAllowed { actor: "the owner" });
            "order: the log before the actor":
                [arbiter(open_log())] => owner(open_log()) => refused(Rejection::LogAlreadyOpened);
            "it is the log's event":
                []
                => recorded(keys::Event::LogOpened(log_opened())).in_stream(StreamId::Keys)
                => refused(Rejection::WrongStream);
            "its body cannot be erased":
                []
                => erased(Actor::Arbiter, EventKind::LogOpened).in_stream(StreamId::Log)
                => refused(Rejection::BodyMissing);
        }
    }

    #[test]
    fn a_log_is_opened_once_by_its_arbiter() {
        check_all(rows());
    }

    /// The two rules that no command can break, because the writer opens the log first.
    #[test]
    fn a_log_is_opened_first() {
        let event = keys::Event::LogOpened(log_opened()).into();
        let fact = Fact {
            seq: 2,
            stream: StreamId::Log,
            sseq: 1,
            actor: &Actor::Arbiter,
            at: NOON,
            what: crate::What::Present(&event),
        };
        let late = crate::lawful(&crate::State::default(), &fact);
        assert_eq!(late, Err(Rejection::LogOpenedLate));

        let joined = crate::room::Event::Opened(opened()).into();
        let stream = StreamId::Room(room_id(1));
        let what = crate::What::Present(&joined);
        let fact = Fact {
            seq: 1,
            stream,
            what,
            actor: &Actor::Owner,
            ..fact
        };
        let early = crate::lawful(&crate::State::default(), &fact);
        assert_eq!(early, Err(Rejection::LogNotOpened));
    }
}
