//! The one table of public errors.
//!
//! Invariants
//! * Every refusal a client can see has a code here, in alphabetical order, with its status and
//!   whether trying again can help. Facades choose words, never statuses.
//! * An error says nothing about rooms or keys the caller may not see, and nothing about the
//!   server's insides: those go to the log.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use minutebook_domain::Rejection;

use crate::engine::SubmitError;
use crate::http::fields::Invalid;
use crate::http::idempotency::SEQ_HEADER;

macro_rules! codes {
    ($($variant:ident $code:literal $status:literal $retry:literal $title:literal)*) => {
        /// Why a request failed, for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ErrorCode {
            $(#[doc = $title] $variant,)*
        }

        impl ErrorCode {
            /// All of them, in alphabetical order.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Stable name.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// The code with this name.
            pub fn parse(name: &str) -> Option<Self> {
                match name { $($code => Some(Self::$variant),)* _ => None }
            }

            /// HTTP status.
            pub fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// Whether the same request can succeed later.
            pub fn is_retryable(self) -> bool {
                match self { $(Self::$variant => $retry,)* }
            }

            /// What it means, for people; the same for every occurrence.
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }
        }
    };
}

codes! {
    // code · status · whether trying again can help · what it means
    ActorNotAllowed "actor_not_allowed" 403 false "The caller may not do this"
    AgentKeyNotFound "agent_key_not_found" 404 false "The public key is not enrolled"
    AgentKeyRevoked "agent_key_revoked" 409 false "The public key was revoked for good"
    AgentKeyTaken "agent_key_taken" 409 false "The public key is enrolled already"
    AgentKeysFull "agent_keys_full" 409 false "No more public keys can be enrolled"
    AlreadyMember "already_member" 409 false "Already a member"
    ArbiterOff "arbiter_off" 503 false "Nobody reads rooms here"
    BodyMissing "body_missing" 409 false "A body is missing"
    Busy "busy" 503 true "Too much at once"
    ClaimAlreadyOpen "claim_already_open" 409 false "The thread is open already"
    ClaimNotFound "claim_not_found" 404 false "There is no such thread"
    ClaimNotOwned "claim_not_owned" 403 false "Only the thread's opener does this"
    ClaimOwned "claim_owned" 400 false "The thread's opener does not do this"
    ContentTooLarge "content_too_large" 413 false "The body is too large"
    ContextStale "context_stale" 409 false "The context has changed"
    DiscrepanciesFull "discrepancies_full" 429 false "The room has all its discrepancies"
    DiscrepancyOutOfOrder "discrepancy_out_of_order" 409 false "The discrepancy is out of order"
    EpochCertificateInvalid "epoch_certificate_invalid" 400 false "The certificate does not hold"
    EpochKeyReused "epoch_key_reused" 409 false "The log had this key before"
    EpochOutOfOrder "epoch_out_of_order" 409 false "The key epoch is out of order"
    EpochWrongPredecessor "epoch_wrong_predecessor" 409 false "Not the current key"
    EpochsFull "epochs_full" 409 false "The log has had all its key epochs"
    ErasureRange "erasure_range" 400 false "The range cannot be erased"
    ExtractionMalformed "extraction_malformed" 400 false "The reading is malformed"
    ExtractionOutOfOrder "extraction_out_of_order" 409 false "The message is read out of order"
    HandshakeOutOfOrder "handshake_out_of_order" 409 false "The handshake is out of order"
    HandshakesFull "handshakes_full" 429 false "The room has all its handshakes"
    HeadTooLarge "head_too_large" 431 false "The request's head is too large"
    IdempotencyConflict "idempotency_conflict" 409 false "The key was used for another request"
    Internal "internal" 500 false "The server failed"
    InvalidRequest "invalid_request" 400 false "The request is not valid"
    KeyBoundToAgent "key_bound_to_agent" 403 false "The API key speaks for another agent"
    KeyHashMalformed "key_hash_malformed" 400 false "The secret's hash is malformed"
    KeyHashTaken "key_hash_taken" 409 false "The API key exists already"
    KeyIdTaken "key_id_taken" 409 false "The API key's id exists already"
    KeyLacksScope "key_lacks_scope" 403 false "The API key lacks a scope"
    KeyNotFound "key_not_found" 404 false "There is no such API key"
    KeyRequired "key_required" 401 false "An API key is needed"
    KeyRevoked "key_revoked" 403 false "The API key was revoked"
    KeyScopesMalformed "key_scopes_malformed" 400 false "The scopes are malformed"
    KeyUnknown "key_unknown" 401 false "The API key is not known"
    KeysFull "keys_full" 409 false "No more API keys can be issued"
    LedgerArbiterInvalid "ledger_arbiter_invalid" 409 false "The arbiter's seal does not hold"
    LedgerChainBroken "ledger_chain_broken" 409 false "The ledger's chain is broken"
    LedgerEntryMalformed "ledger_entry_malformed" 400 false "The ledger entry is malformed"
    LedgerHashWrong "ledger_hash_wrong" 409 false "The ledger entry's hash is wrong"
    LedgerKeyWrong "ledger_key_wrong" 409 false "The ledger was sealed with another key"
    LedgerOutOfOrder "ledger_out_of_order" 409 false "The ledger entry is out of order"
    LedgerSignatureInvalid "ledger_signature_invalid" 400 false "The signature does not hold"
    LocalOnly "local_only" 403 false "Only from the server's own machine, or with a key"
    LogAlreadyOpened "log_already_opened" 409 false "The log is open already"
    LogNotOpened "log_not_opened" 503 true "The log is not open yet"
    LogOpenedLate "log_opened_late" 409 false "The log is open already"
    MessageErased "message_erased" 410 false "The message was erased"
    MessageNotFound "message_not_found" 404 false "There is no such message"
    MessageOutOfOrder "message_out_of_order" 409 false "The message is out of order"
    MethodNotAllowed "method_not_allowed" 405 false "The path takes other methods"
    NameReserved "name_reserved" 400 false "The name is reserved"
    NameTwin "name_twin" 409 false "The name looks like one known here"
    NotFound "not_found" 404 false "There is nothing here"
    NotMember "not_member" 409 false "Not a member"
    OriginMalformed "origin_malformed" 400 false "The origin is malformed"
    PublicKeyMalformed "public_key_malformed" 400 false "The public key is malformed"
    PublicKeyWeak "public_key_weak" 400 false "The public key is weak"
    RateLimited "rate_limited" 429 true "Too many requests"
    RequestTimeout "request_timeout" 408 true "The request came too slowly"
    RereadingsFull "rereadings_full" 429 false "The room was read again too often"
    RevisionsFull "revisions_full" 429 false "The room's ledger is full"
    RoomAlreadyOpen "room_already_open" 409 false "The room is open already"
    RoomClosed "room_closed" 409 false "The room is closed"
    RoomConfirmationsMalformed "room_confirmations_malformed" 400 false "Not a number it can need"
    RoomErased "room_erased" 404 false "The room is gone"
    RoomFull "room_full" 429 false "The room is full for good"
    RoomLimitZero "room_limit_zero" 400 false "The message limit is zero"
    RoomMembersFull "room_members_full" 409 true "The room has all its members"
    RoomNameLooksLikeId "room_name_looks_like_id" 400 false "The room name reads as an id"
    RoomNameTaken "room_name_taken" 409 false "The room name is taken"
    RoomNameUnchanged "room_name_unchanged" 409 false "The room has this name"
    RoomNotFound "room_not_found" 404 false "There is no such room"
    SeqNotFound "seq_not_found" 404 false "The log does not reach this far"
    SignatureEnrolmentWrong "signature_enrolment_wrong" 409 false "The enrolment is not so"
    SignatureInvalid "signature_invalid" 400 false "The signature does not hold"
    SignatureKeyForeign "signature_key_foreign" 403 false "Not a key of this agent's"
    SignatureMalformed "signature_malformed" 400 false "The signature is malformed"
    SignatureNotAllowed "signature_not_allowed" 400 false "This act carries no signature"
    SignatureOutsideWindow "signature_outside_window" 400 false "The signed time is not now"
    SignaturePositionMisplaced "signature_position_misplaced" 400 false "No place for a position"
    SignaturePositionStale "signature_position_stale" 409 false "What was signed has changed"
    SignatureReplayed "signature_replayed" 409 false "The signature was used before"
    SignatureSurfaceUnknown "signature_surface_unknown" 400 false "The signed form is not known"
    SignatureTimeUnreadable "signature_time_unreadable" 400 false "The signed time cannot be read"
    SignersFull "signers_full" 429 false "The room knows all its signers"
    SkillAlreadyPublished "skill_already_published" 409 false "The bytes were published before"
    SkillBytesLost "skill_bytes_lost" 500 false "The skill's file is lost on this server"
    SkillDigestMalformed "skill_digest_malformed" 400 false "The file's hash is malformed"
    SkillIdTaken "skill_id_taken" 409 false "The skill's id exists already"
    SkillNotFound "skill_not_found" 404 false "There is no such skill"
    SkillSignatureHalf "skill_signature_half" 400 false "Half of the author's signature is missing"
    SkillSignatureInvalid "skill_signature_invalid" 400 false "The author's signature does not hold"
    SkillSizeWrong "skill_size_wrong" 400 false "The file is empty or too large"
    SkillWithdrawn "skill_withdrawn" 409 false "The skill was withdrawn for good"
    SkillsFull "skills_full" 409 false "No more skills can be published"
    SourceMessageUnknown "source_message_unknown" 400 false "The message is not of this room"
    SpeaksForAnother "speaks_for_another" 403 false "An agent speaks under its own name only"
    TextEmpty "text_empty" 400 false "A text is empty"
    TextNotCanonical "text_not_canonical" 400 false "A text is not in its recorded form"
    TextTooLong "text_too_long" 400 false "A text is too long"
    TextUnprintable "text_unprintable" 400 false "A text holds invisible characters"
    ThreadsFull "threads_full" 429 false "The room has all its threads"
    TooManyStreams "too_many_streams" 503 true "Too many open streams"
    Unavailable "unavailable" 503 true "The log cannot be used now"
    UriTooLong "uri_too_long" 414 false "The address is too long"
    VkeyMalformed "vkey_malformed" 400 false "The verifier key is malformed"
    VkeyWrongName "vkey_wrong_name" 400 false "The verifier key is another log's"
    WrongStream "wrong_stream" 409 false "The event belongs elsewhere"
}

/// An answer that is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// What kind.
    pub code: ErrorCode,
    /// This occurrence, in the dialect's words.
    pub detail: Cow<'static, str>,
    /// Seconds after which trying again makes sense.
    pub retry_after: Option<u64>,
    /// The event it is about.
    pub log_seq: Option<u64>,
}

/// Seconds to wait when the engine cannot take a command.
const RETRY_SECONDS: u64 = 1;

impl ApiError {
    /// An error with these words.
    pub fn new(code: ErrorCode, detail: impl Into<Cow<'static, str>>) -> Self {
        let is_soon = code.status() == 503 && code.is_retryable();
        let retry_after = is_soon.then_some(RETRY_SECONDS);
        Self {
            code,
            detail: detail.into(),
            retry_after,
            log_seq: None,
        }
    }

    /// The same, to be tried again after so many seconds.
    pub fn retry_after(self, seconds: u64) -> Self {
        Self {
            retry_after: Some(seconds),
            ..self
        }
    }

    /// Something of ours failed: the cause goes to the log, the client learns that it happened.
    pub fn internal(cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(%cause, "request failed");
        Self::new(ErrorCode::Internal, "Internal server error")
    }

    /// The body: the dialect's `detail` first, RFC 9457's members beside it.
    pub fn to_json(&self) -> Vec<u8> {
        let code = self.code.as_str();
        let problem = Problem {
            detail: &self.detail,
            kind: format!("/docs#{code}"),
            title: self.code.title(),
            status: self.code.status(),
            code,
            retryable: self.code.is_retryable(),
            retry_after: self.retry_after,
            log_seq: self.log_seq,
        };
        serde_json::to_vec(&problem).unwrap_or_default()
    }
}

/// An error body: the dialect's `detail`, and RFC 9457's members beside it.
#[derive(serde::Serialize, utoipa::ToSchema)]
pub struct Problem<'a> {
    /// This occurrence, in words.
    detail: &'a str,
    /// Where the kind of error is explained.
    #[serde(rename = "type")]
    kind: String,
    /// The kind of error, in words.
    title: &'static str,
    /// The HTTP status again.
    status: u16,
    /// The kind of error, for programs.
    code: &'static str,
    /// Whether the same request can succeed later.
    retryable: bool,
    /// Seconds to wait, as the `Retry-After` header.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    /// The event it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    log_seq: Option<u64>,
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::from(self.to_json()));
        *response.status_mut() =
            StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(seq) = self.log_seq {
            headers.insert(SEQ_HEADER, HeaderValue::from(seq));
        }
        if self.code.status() == 401 {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<Invalid> for ApiError {
    fn from(invalid: Invalid) -> Self {
        Self::new(ErrorCode::InvalidRequest, invalid.to_string())
    }
}

impl From<minutebook_eventlog::store::StoreError> for ApiError {
    fn from(error: minutebook_eventlog::store::StoreError) -> Self {
        tracing::error!(%error, "the store could not be read");
        Self::new(
            ErrorCode::Unavailable,
            "the log cannot be read right now, try again later",
        )
    }
}

impl From<SubmitError> for ApiError {
    fn from(error: SubmitError) -> Self {
        let detail = error.to_string();
        match error {
            SubmitError::Rejected(rejection) => rejection.into(),
            SubmitError::KeyConflict { first } => Self {
                log_seq: Some(first),
                ..Self::new(ErrorCode::IdempotencyConflict, detail)
            },
            SubmitError::Busy => Self::new(ErrorCode::Busy, detail),
            SubmitError::Offline => Self::new(ErrorCode::ActorNotAllowed, detail),
            SubmitError::Stopped => Self::new(ErrorCode::Unavailable, detail),
        }
    }
}

impl From<Rejection> for ApiError {
    fn from(rejection: Rejection) -> Self {
        Self::new(ErrorCode::from(&rejection), rejection.to_string())
    }
}

impl From<&Rejection> for ErrorCode {
    /// A rejection's code is in the table under its own name; a test holds the two together.
    fn from(rejection: &Rejection) -> Self {
        Self::parse(rejection.code()).unwrap_or(Self::Internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_alphabetical_order() {
        let names: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert!(names.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn every_rejection_has_a_code_that_is_the_callers_to_act_on() {
        for code in Rejection::ALL_CODES {
            let found = ErrorCode::parse(code).unwrap_or_else(|| panic!("{code} has no code"));
            assert_ne!(found.status(), 500, "{code}");
        }
    }

    #[test]
    fn detail_comes_first_and_problem_fields_beside_it() {
        let error = ApiError::new(ErrorCode::RateLimited, "slow \"down\"").retry_after(7);
        let body = String::from_utf8(error.to_json()).unwrap();
        assert_eq!(
            body,
            concat!(
                r#"{"detail":"slow \"down\"","type":"/docs#rate_limited","title":"#,
                r#""Too many requests","status":429,"code":"rate_limited","retryable":true,"#,
                r#""retry_after":7}"#
            )
        );
    }

    #[test]
    fn what_can_succeed_later_says_when_and_what_cannot_does_not() {
        for code in ErrorCode::ALL {
            let error = ApiError::new(*code, "");
            // The peer's status for what this server's operator chose: waiting does not help.
            let is_chosen = *code == ErrorCode::ArbiterOff;
            let is_soon = code.status() == 503 && !is_chosen;
            assert_eq!(error.retry_after.is_some(), is_soon, "{code:?}");
            assert!(!is_soon || code.is_retryable(), "{code:?}");
            assert!(!is_chosen || !code.is_retryable());
        }
    }

    #[test]
    fn a_used_idempotency_key_names_the_event() {
        let error = ApiError::from(SubmitError::KeyConflict { first: 9 });
        assert_eq!(
            (error.code, error.log_seq),
            (ErrorCode::IdempotencyConflict, Some(9))
        );
        assert!(error.detail.contains("log seq 9"));
    }
}
