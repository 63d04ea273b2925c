//! Command ids: each used once, its events side by side.
//!
//! Invariants
//! * A client's command id is spent per actor and scope: the stream asked for, or `rooms` for
//!   opening one. A server's is spent for ever.
//! * Events of one command stand next to each other in one stream and are of different kinds, so
//!   a second command with the same id is told from one command with several events. An opening
//!   is one event alone.
//! * Memory is 16 bytes and a bit per command.

use minutebook_domain::EventKind;
use rustc_hash::FxHashSet;
use uuid::Uuid;

/// Length of a hyphenated UUID.
const UUID_CHARS: usize = 36;

/// What stands for an id: the id itself when it is a bare UUID, which the server made and never
/// makes twice, else the first 16 bytes of BLAKE3(actor 0 scope 0 id).
pub(crate) type CommandKey = u128;

/// Both keys an event's command may be known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandKeys {
    /// With the event's stream as scope: tells whether two neighbours are of one command.
    pub(crate) stream: CommandKey,
    /// With the scope that was asked for.
    pub(crate) scope: CommandKey,
}

impl CommandKeys {
    /// The keys of an event.
    pub(crate) fn of(actor: &str, stream: &str, cmd: &str, kind: Option<EventKind>) -> Self {
        if cmd.len() == UUID_CHARS
            && let Ok(uuid) = Uuid::try_parse(cmd)
        {
            let key = uuid.as_u128();
            return Self {
                stream: key,
                scope: key,
            };
        }
        let by_stream = key(actor, stream, cmd);
        let scope = if kind.is_some_and(EventKind::opens_room) {
            key(actor, "rooms", cmd)
        } else {
            by_stream
        };
        Self {
            stream: by_stream,
            scope,
        }
    }
}

fn key(actor: &str, scope: &str, cmd: &str) -> CommandKey {
    let mut hasher = blake3::Hasher::new();
    hasher.update(actor.as_bytes()).update(&[0]);
    hasher.update(scope.as_bytes()).update(&[0]);
    hasher.update(cmd.as_bytes());
    let hash = *hasher.finalize().as_bytes();
    hash.first_chunk()
        .map_or(0, |key| u128::from_le_bytes(*key))
}

/// Commands seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands {
    spent: FxHashSet<CommandKey>,
    /// The command of the record before, and the kinds it made so far.
    current: Option<(CommandKey, Vec<Option<EventKind>>)>,
}

impl Commands {
    /// Takes a record's command; false if its id was spent by an earlier command.
    pub(crate) fn accept(&mut self, keys: CommandKeys, kind: Option<EventKind>) -> bool {
        if let Some((current, kinds)) = &mut self.current
            && *current == keys.stream
        {
            if kinds.contains(&kind) {
                return false;
            }
            kinds.push(kind);
            // An opening is one event, with another scope: what follows it with the same id is a
            // second command, which spends the id in the stream. Otherwise it is spent already.
            self.spent.insert(keys.scope);
            return true;
        }
        let kinds = match self.current.take() {
            Some((_, mut kinds)) => {
                kinds.clear();
                kinds.push(kind);
                kinds
            }
            None => vec![kind],
        };
        self.current = Some((keys.stream, kinds));
        self.spent.insert(keys.scope)
    }

    /// Looks ids up that will come next. In a tight loop the processor waits for many of these
    /// memory accesses at once; one by one, each would be waited for among other work.
    pub(crate) fn warm(&self, keys: impl Iterator<Item = CommandKey>) {
        for key in keys {
            std::hint::black_box(self.spent.contains(&key));
        }
    }

    /// Commands seen.
    pub(crate) fn count(&self) -> u64 {
        self.spent.len() as u64
    }

    /// All spent keys, for the saved state.
    pub(crate) fn spent(&self) -> impl ExactSizeIterator<Item = &CommandKey> {
        self.spent.iter()
    }

    /// Commands of which these were spent before.
    pub(crate) fn resume(spent: impl IntoIterator<Item = CommandKey>) -> Self {
        Self {
            spent: spent.into_iter().collect(),
            current: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_spent_per_actor_and_scope_and_its_events_stand_together() {
        let posted = Some(EventKind::MessagePosted);
        let keys = |actor, stream| CommandKeys::of(actor, stream, "idem:1", posted);
        let opened = Some(EventKind::RoomOpened);
        let mut commands = Commands::default();
        assert!(commands.accept(CommandKeys::of("a", "room/x", "idem:1", opened), opened));
        assert!(commands.accept(keys("b", "room/x"), posted));
        assert!(commands.accept(keys("a", "room/y"), posted));
        assert!(
            commands.accept(keys("a", "room/x"), posted),
            "the opening had another scope"
        );
        assert!(
            !commands.accept(keys("a", "room/x"), posted),
            "same kind twice"
        );
        assert!(!commands.accept(keys("b", "room/x"), posted));
        assert!(!commands.accept(CommandKeys::of("a", "room/z", "idem:1", opened), opened));
    }

    #[test]
    fn a_command_right_after_the_opening_spends_the_rooms_scope() {
        let (opened, posted) = (Some(EventKind::RoomOpened), Some(EventKind::MessagePosted));
        let of = |actor, kind| CommandKeys::of(actor, "room/x", "idem:1", kind);
        let mut commands = Commands::default();
        assert!(commands.accept(of("a", opened), opened));
        assert!(commands.accept(of("a", posted), posted));
        assert_eq!(commands.count(), 2, "scopes rooms and room/x");
        assert!(commands.accept(of("b", posted), posted));
        assert!(!commands.accept(of("a", posted), posted), "spent in room/x");
    }
}
