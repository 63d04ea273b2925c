//! From a request to the engine and back, the same way for every write.

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{Request, StatusCode};
use minutebook_domain::actor::Actor;
use minutebook_domain::limits::REASON_CHARS_MAX;
use minutebook_domain::text::Reason;
use minutebook_domain::{Command, Rejection};

use super::wire::{self, AT_LEAST_ONE, DoneJson};
use crate::auth::Caller;
use crate::engine::{Committed, CommittedEvent, Idempotency, Submission, SubmitError, Target};
use crate::error::{ApiError, ErrorCode};
use crate::http::app::{App, Shared};
use crate::http::client::limit_key;
use crate::http::fields::{Fields, Invalid, refuse_unpaired};
use crate::http::reply::{self, Reply};
use crate::http::{body, idempotency};

/// A write request, read whole.
pub(super) struct Write {
    pub(super) app: Shared,
    pub(super) parts: Parts,
    pub(super) caller: Caller,
    idempotency: Option<Idempotency>,
    body: Bytes,
}

/// What a write did.
pub(super) struct Written {
    /// Its first event.
    pub(super) event: CommittedEvent,
    /// Whether it had been done before.
    pub(super) replayed: bool,
}

impl Write {
    /// Judges the credentials, then reads the body.
    pub(super) async fn read(app: Shared, request: Request<Body>) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let caller = app.caller(&parts)?;
        let body = app.body(body).await?;
        let Parts {
            headers,
            method,
            uri,
            ..
        } = &parts;
        let idempotency = idempotency::read(headers, method, uri.path(), &body)?;
        Ok(Self {
            app,
            parts,
            caller,
            idempotency,
            body,
        })
    }

    /// A write whose body was read already.
    pub(super) fn of(
        app: Shared,
        parts: Parts,
        caller: Caller,
        idempotency: Option<Idempotency>,
    ) -> Self {
        Self {
            app,
            parts,
            caller,
            idempotency,
            body: Bytes::new(),
        }
    }

    /// Reads the body's fields.
    pub(super) fn fields<T>(
        &self,
        read: impl FnOnce(&Fields<'_, '_>) -> Result<T, Invalid>,
    ) -> Result<T, ApiError> {
        let document = body::document(&self.parts.headers, &self.body)?;
        let value = read(&Fields::of(&document)?)?;
        refuse_unpaired(&document)?;
        Ok(value)
    }

    /// Keeps the answer to a repeat from others than the one who asked first, for a write whose
    /// answer is a secret. All who come without an API key are one actor, so among them the key
    /// must be hard to guess, and counts together with the address: behind one address there may
    /// be many, and what many choose is guessed.
    pub(super) fn keep_repeats_private(&mut self) -> Result<(), ApiError> {
        let (Caller::Anonymous, Some(id)) = (&self.caller, &mut self.idempotency) else {
            return Ok(());
        };
        if id.key.len() < idempotency::SECRET_KEY_BYTES_MIN {
            return Err(idempotency::guessable().into());
        }
        id.asker = hex::encode(limit_key(self.app.client(&self.parts).addr));
        Ok(())
    }

    /// Reads why, for the record.
    pub(super) fn reason(&self) -> Result<Reason, ApiError> {
        let text = self.fields(|fields| {
            let text = fields.text("reason", 1, REASON_CHARS_MAX)?;
            Ok(text.to_owned())
        })?;
        Reason::parse(&text).map_err(|rejection| bad_field("reason", &rejection))
    }

    /// What was done when this request came first, if it repeats one. A handler asks as soon as it
    /// knows actor and target: a repeat is answered again whatever has become of clocks, limits and
    /// the room, and counts against nothing.
    pub(super) fn repeated(
        &self,
        actor: &Actor,
        target: Target,
    ) -> Result<Option<Written>, ApiError> {
        let Some(id) = &self.idempotency else {
            return Ok(None);
        };
        let found = self.app.engine.replayed(actor, target, id);
        found.map_err(failed)?.map(Written::of).transpose()
    }

    /// Has a command done.
    pub(super) async fn submit(&self, command: Command, actor: Actor) -> Result<Written, ApiError> {
        let idempotency = self.idempotency.clone();
        let command = command
            .check()
            .map_err(|rejection| wire::refused(&rejection))?;
        let submission = Submission {
            command,
            actor,
            idempotency,
            cause: None,
        };
        Written::of(self.app.engine.submit(submission).await.map_err(failed)?)
    }
}

impl Written {
    fn of(committed: Committed) -> Result<Self, ApiError> {
        let Committed { events, replayed } = committed;
        let nothing = || ApiError::internal(&"a command made no event");
        let event = events.into_iter().next().ok_or_else(nothing)?;
        Ok(Self { event, replayed })
    }
}

/// The answer of a write that makes nothing to show.
pub(super) fn done(log_seq: u64) -> Reply {
    let done = DoneJson {
        done: true,
        log_seq,
    };
    reply::written(StatusCode::OK, log_seq, &done)
}

/// Why the engine did not, in the dialect's words.
fn failed(error: SubmitError) -> ApiError {
    match error {
        SubmitError::Rejected(rejection) => wire::refused(&rejection),
        SubmitError::KeyConflict { .. }
        | SubmitError::Busy
        | SubmitError::Offline
        | SubmitError::Stopped => error.into(),
    }
}

/// The error about a field whose value the rules refuse. What is only white space is as empty as
/// nothing, in the same words.
pub(super) fn bad_field(field: &'static str, rejection: &Rejection) -> ApiError {
    if matches!(rejection, Rejection::TextEmpty { .. }) {
        return Invalid::field(field, AT_LEAST_ONE).into();
    }
    ApiError::new(ErrorCode::from(rejection), format!("{field}: {rejection}"))
}

/// Whether the room is there, before anything about it is answered.
pub(super) fn require_room(app: &App, id: minutebook_domain::ids::RoomId) -> Result<(), ApiError> {
    app.room(id).map(|_| ())
}
