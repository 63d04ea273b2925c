//! The stateless half: everything about a line that can be known without its neighbours.
//!
//! Runs on many threads. One line becomes one [`Item`]: hashes, the decoded event, the keys of its
//! command and whatever is wrong with the record by itself. Nothing here remembers a line.

use std::{hash::BuildHasher as _, sync::Arc};

use minutebook_domain::{
    Event, EventKind, Fact, Rejection, What, actor::Actor, ids::StreamId, intrinsic,
    time::Timestamp,
};
use minutebook_eventlog::format::{
    bundle::{Kind, Manifest},
    envelope::Envelope,
    hash::{Hash, body_commitment, chain_hash, leaf_hash},
};

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::{Judged, check::commands::CommandKeys, finding::Code};

/// Actors kept parsed per thread.
const ACTORS_MAX: usize = 1_024;

/// A salt and a body.
pub(crate) type SaltedBody<'a> = (&'a [u8; 32], &'a [u8]);

/// What a line is.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every line is a record; a box would cost each an allocation"
)]
pub(crate) enum Item {
    /// The manifest.
    Manifest(Manifest),
    /// A record.
    Record(Prepared),
    /// A checkpoint's note.
    Checkpoint(String),
    /// A receipt's text.
    Receipt(String),
    /// Not a line of a bundle, and why.
    Bad(Code, String),
}

/// A record, prepared.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) seq: u64,
    pub(crate) sseq: u64,
    pub(crate) prev: Hash,
    pub(crate) sprev: Hash,
    /// Chain hash of the envelope.
    pub(crate) chain: Hash,
    /// Leaf of the envelope.
    pub(crate) leaf: Leaf,
    /// Stream, actor and time, unless one of them is not a value it may have.
    pub(crate) place: Option<Place>,
    /// The type, when known.
    pub(crate) kind: Option<EventKind>,
    /// The body.
    pub(crate) content: Content,
    /// The command it belongs to.
    pub(crate) command: CommandKeys,
    /// A short hash of the name that speaks, for counting.
    pub(crate) agent: u64,
    /// What is wrong with it by itself.
    pub(crate) problems: Vec<Problem>,
}

impl Prepared {
    /// The record as the rules see it, when all of it is known.
    pub(crate) fn fact(&self) -> Option<Fact<'_>> {
        let place = self.place.as_ref()?;
        let what = match &self.content {
            Content::Event(event) => What::Present(event),
            Content::Absent => What::Erased(self.kind?),
            Content::Unusable | Content::Trusted => return None,
        };
        Some(Fact {
            seq: self.seq,
            stream: place.stream,
            sseq: self.sseq,
            actor: &place.actor,
            at: place.at,
            what,
        })
    }
}

/// An envelope as a leaf of the tree.
#[derive(Clone, Debug)]
pub(crate) enum Leaf {
    /// Its hash.
    Hashed(Hash),
    /// Its bytes. Of a room's records only the last one's leaf is asked for, as a rule.
    Unhashed(Arc<[u8]>),
}

impl Leaf {
    /// The leaf hash.
    pub(crate) fn hash(&self) -> Hash {
        match self {
            Self::Hashed(hash) => *hash,
            Self::Unhashed(envelope) => leaf_hash(envelope),
        }
    }
}

/// Where, who and when.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) stream: StreamId,
    pub(crate) actor: Arc<Actor>,
    pub(crate) at: Timestamp,
}

/// What became of the body.
#[derive(Debug)]
pub(crate) enum Content {
    /// The event.
    Event(Event),
    /// There is none.
    Absent,
    /// There is one, but it is not the committed one, does not decode, or its type is unknown.
    Unusable,
    /// The committed one, not decoded because the record was checked before.
    Trusted,
}

/// Something wrong with one record.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) hashes: Option<(Hash, Hash)>,
    pub(crate) rule: Option<&'static str>,
}

impl Problem {
    fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hashes: None,
            rule: None,
        }
    }

    /// A rule that forbids the event.
    pub(crate) fn unlawful(rejection: &Rejection) -> Self {
        let rule = rejection.code();
        let is_agents = rule == Rejection::SignatureInvalid.code()
            || matches!(rejection, Rejection::LedgerSignatureInvalid { .. });
        let code = if is_agents {
            Code::AgentSignatureInvalid
        } else if rule == Rejection::EpochCertificateInvalid.code() {
            Code::KeyCertificateInvalid
        } else {
            Code::Unlawful
        };
        Self {
            rule: Some(rule),
            ..Self::new(code, format!("the rules forbid this event: {rejection}"))
        }
    }
}

/// Prepares blocks of lines.
#[derive(Clone, Debug)]
pub(crate) struct Preparer {
    /// Actors met lately: a log's few names are parsed once, not once per record.
    actors: FxHashMap<Box<str>, Arc<Actor>>,
    /// Records up to this one were checked before: their bodies are matched with the commitment,
    /// but neither decoded nor judged again.
    pub(crate) trusted_size: u64,
    judged: Option<Arc<Judged>>,
    /// Whether it read a room's manifest. A thread that did not does what is not needed.
    is_of_room: bool,
}

impl Preparer {
    pub(crate) fn new(trusted_size: u64, judged: Option<Arc<Judged>>) -> Self {
        Self {
            actors: FxHashMap::default(),
            trusted_size,
            judged,
            is_of_room: false,
        }
    }

    fn actor(&mut self, text: &str) -> Option<Arc<Actor>> {
        if let Some(actor) = self.actors.get(text) {
            return Some(Arc::clone(actor));
        }
        let actor = Arc::new(Actor::parse(text)?);
        if self.actors.len() >= ACTORS_MAX {
            self.actors.clear();
        }
        self.actors.insert(text.into(), Arc::clone(&actor));
        Some(actor)
    }

    /// Prepares a record.
    pub(crate) fn record(&mut self, bytes: &[u8], body: Option<SaltedBody<'_>>) -> Item {
        let envelope = match Envelope::parse(bytes) {
            Ok(envelope) => envelope,
            Err(error) => return Item::Bad(Code::EnvelopeMalformed, error.to_string()),
        };
        let mut problems = Vec::new();
        let place = self.place(&envelope, &mut problems);
        let kind = EventKind::parse(&envelope.kind, envelope.v);
        let chain = chain_hash(bytes);
        let at = place.as_ref().map(|place| (place, chain));
        let content = self.content(&envelope, kind, at, body, &mut problems);
        Item::Record(Prepared {
            seq: envelope.seq,
            sseq: envelope.sseq,
            prev: envelope.prev,
            sprev: envelope.sprev,
            chain,
            leaf: self.leaf(bytes),
            agent: speaker(&content),
            command: CommandKeys::of(&envelope.actor, &envelope.stream, &envelope.cmd, kind),
            place,
            kind,
            content,
            problems,
        })
    }

    /// Takes a manifest.
    pub(crate) fn manifest(&mut self, manifest: Manifest) -> Item {
        self.is_of_room = matches!(manifest.kind, Kind::Room(_));
        Item::Manifest(manifest)
    }

    fn leaf(&self, envelope: &[u8]) -> Leaf {
        if self.is_of_room {
            Leaf::Unhashed(envelope.into())
        } else {
            Leaf::Hashed(leaf_hash(envelope))
        }
    }

    fn place(&mut self, envelope: &Envelope<'_>, problems: &mut Vec<Problem>) -> Option<Place> {
        let stream = StreamId::parse(&envelope.stream);
        let actor = self.actor(&envelope.actor);
        let at = Timestamp::parse(&envelope.at);
        if let Some(cause) = envelope.cause
            && cause >= envelope.seq
        {
            let text = format!("its cause is record {cause}, which is not before it");
            problems.push(Problem::new(Code::EnvelopeFieldInvalid, text));
        }
        let (Some(stream), Some(actor), Some(at)) = (stream, actor, at) else {
            let (name, value) = match (stream, &at) {
                (None, _) => ("stream", &envelope.stream),
                (_, None) => ("time", &envelope.at),
                _ => ("actor", &envelope.actor),
            };
            let text = format!("{value:?} is not a {name} a record may have");
            problems.push(Problem::new(Code::EnvelopeFieldInvalid, text));
            return None;
        };
        Some(Place { stream, actor, at })
    }

    fn content(
        &self,
        envelope: &Envelope<'_>,
        kind: Option<EventKind>,
        place: Option<(&Place, Hash)>,
        body: Option<SaltedBody<'_>>,
        problems: &mut Vec<Problem>,
    ) -> Content {
        let trusted = envelope.seq <= self.trusted_size;
        if kind.is_none() && !trusted {
            let text = format!(
                "event type {} v{} is not known to this verifier",
                envelope.kind, envelope.v
            );
            problems.push(Problem::new(Code::EventUnknown, text));
        }
        let Some((salt, body)) = body else {
            if let Some(kind) = kind {
                let place = place.map(|(place, _)| place);
                absent(envelope, kind, place.filter(|_| !trusted), problems);
            }
            return Content::Absent;
        };
        let found = body_commitment(salt, body);
        if found != envelope.body {
            problems.push(Problem {
                hashes: Some((envelope.body, found)),
                ..Problem::new(
                    Code::BodyMismatch,
                    "the body or its salt is not the one the envelope committed to",
                )
            });
            return Content::Unusable;
        }
        match kind {
            // An erasure explains gaps before it, trusted or not.
            Some(EventKind::BodiesErased | EventKind::RoomErased) => {}
            _ if trusted => return Content::Trusted,
            Some(_) => {}
            None => return Content::Unusable,
        }
        let Some(kind) = kind else {
            return Content::Unusable;
        };
        match Event::decode(kind, body) {
            Err(error) => {
                problems.push(Problem::new(Code::BodyUndecodable, error.to_string()));
                Content::Unusable
            }
            Ok(event) => {
                if let Some((place, chain)) = place
                    && !trusted
                {
                    self.judge(envelope, (place, chain), &event, problems);
                }
                Content::Event(event)
            }
        }
    }
}

impl Preparer {
    /// Judges an event, unless this very record was found to hold before: the envelope names the
    /// body, and the body was compared with it.
    fn judge(
        &self,
        envelope: &Envelope<'_>,
        (place, chain): (&Place, Hash),
        event: &Event,
        problems: &mut Vec<Problem>,
    ) {
        let judged = self.judged.as_ref().filter(|_| Judged::is_worth(event));
        if judged.is_some_and(|judged| judged.holds(&chain)) {
            return;
        }
        let before = problems.len();
        judge(envelope, place, What::Present(event), problems);
        if let Some(judged) = judged.filter(|_| problems.len() == before) {
            judged.learn(chain);
        }
    }
}

/// The rules that need no state: among them the agents' signatures, the costliest check of all.
fn judge(envelope: &Envelope<'_>, place: &Place, what: What<'_>, problems: &mut Vec<Problem>) {
    let fact = Fact {
        seq: envelope.seq,
        stream: place.stream,
        sseq: envelope.sseq,
        actor: &place.actor,
        at: place.at,
        what,
    };
    match intrinsic(&fact) {
        // Said better by whoever knows whether the body was erased later.
        Err(Rejection::BodyMissing) | Ok(()) => {}
        Err(rejection) => problems.push(Problem::unlawful(&rejection)),
    }
}

/// A record without a body. Whether a later record erased it is found in order.
fn absent(
    envelope: &Envelope<'_>,
    kind: EventKind,
    place: Option<&Place>,
    problems: &mut Vec<Problem>,
) {
    if !kind.can_be_erased() {
        let text = "the body is not there, and a body of this type is never erased";
        problems.push(Problem::new(Code::BodyMissing, text));
    }
    if let Some(place) = place {
        judge(envelope, place, What::Erased(kind), problems);
    }
}

fn speaker(content: &Content) -> u64 {
    match content {
        Content::Event(Event::Room(event)) => event
            .agent()
            .map_or(0, |agent| FxBuildHasher.hash_one(agent.as_str())),
        Content::Event(Event::Keys(_) | Event::Skills(_))
        | Content::Absent
        | Content::Unusable
        | Content::Trusted => 0,
    }
}
