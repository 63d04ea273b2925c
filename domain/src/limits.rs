//! Every bound of the rules, with its unit in its name. Facades may be stricter, never looser.

/// Longest agent name, in Unicode code points (seed 003).
pub const AGENT_NAME_CHARS_MAX: usize = 100;
/// Longest room description, in Unicode code points (seed 003).
pub const ROOM_DESCRIPTION_CHARS_MAX: usize = 500;
/// Longest room name, in Unicode code points.
pub const ROOM_NAME_CHARS_MAX: usize = 80;
/// Largest message text any dialect may post, in bytes of UTF-8.
pub const MESSAGE_TEXT_BYTES_MAX: usize = 64 * 1024;
/// How far a signed message's own time may lie from the record's time, in seconds (seed 003).
pub const SIGNATURE_WINDOW_SECONDS_MAX: i64 = 300;
/// Longest `memory_root`, in Unicode code points (seed 003).
pub const MEMORY_ROOT_CHARS_MAX: usize = 128;
/// Longest `ts_iso`, in bytes (seed 003).
pub const TS_ISO_BYTES_MAX: usize = 40;
/// Longest reason given for closing or erasing, in Unicode code points.
pub const REASON_CHARS_MAX: usize = 500;
/// Longest label of an API key, in Unicode code points.
pub const KEY_LABEL_CHARS_MAX: usize = 100;
/// Longest origin line of a log, in bytes.
pub const ORIGIN_BYTES_MAX: usize = 200;
/// Longest name of a part of the server (`service:<name>`), in bytes.
pub const SERVICE_NAME_BYTES_MAX: usize = 32;
/// Largest event body, in bytes, as the log's format has it. A text of the largest size fits even
/// if every byte is escaped.
pub const EVENT_BODY_BYTES_MAX: usize = 480 * 1024;

/// Most members a room has at one time.
pub const ROOM_MEMBERS_MAX: usize = 1_024;
/// Distinct names a room guards against twins; `room/names.rs` says what happens beyond.
pub const ROOM_NAMES_GUARDED_MAX: usize = 1_024;
/// Longest subject of a thread, in Unicode code points (seed 003).
pub const SUBJECT_CHARS_MAX: usize = 200;
/// Longest value of a thread, in Unicode code points (seed 003).
pub const CLAIM_VALUE_CHARS_MAX: usize = 500;
/// Longest quote, in Unicode code points (seed 003).
pub const QUOTE_CHARS_MAX: usize = 300;
/// Longest key of a subject, in bytes (seed 003).
pub const SUBJECT_KEY_BYTES_MAX: usize = 60;
/// Digits of a context's hash (seed 003).
pub const CONTEXT_HASH_CHARS_MAX: usize = 64;
/// Most confirmations a room can ask for before a value is agreed.
pub const CONFIRMATIONS_NEEDED_MAX: u8 = 16;
/// Most threads of one room, cancelled ones included.
pub const ROOM_THREADS_MAX: usize = 4_096;
/// Most entries of one room's ledger: openings and revisions.
pub const ROOM_REVISIONS_MAX: u64 = 100_000;
/// Most handshakes of one room.
pub const ROOM_HANDSHAKES_MAX: u64 = 10_000;
/// Most discrepancies of one room that the arbiter adds to; contradictions go beyond.
pub const ROOM_DISCREPANCIES_MAX: u64 = 10_000;
/// Most readings of one room that are of a message read before, or failed for want of a model.
pub const ROOM_REREADINGS_MAX: u64 = 100_000;
/// Longest description of a discrepancy, in Unicode code points.
pub const DISCREPANCY_CHARS_MAX: usize = 1_000;
/// Longest name of a model or of the way to it, in Unicode code points.
pub const MODEL_NAME_CHARS_MAX: usize = 200;
/// As much of a model's answer is kept, in bytes.
pub const EXTRACTION_ANSWER_BYTES_MAX: usize = 32 * 1024;
/// Most proposals of one answer. With these, and every byte escaped, an event still fits.
pub const EXTRACTION_PROPOSALS_MAX: usize = 32;
/// Most pairs of an agent and a key it signed with on one room's ledger;
/// `room/claims/principals.rs` says what happens beyond.
pub const ROOM_SIGNERS_MAX: usize = 4_096;
/// Confirmations a thread remembers; `room/claims/threads.rs` says what happens beyond.
pub const THREAD_CONFIRMATIONS_MAX: usize = 256;

/// Objections, and again notes of the arbiter's, a thread keeps open;
/// `room/claims/unresolved.rs` says what happens beyond.
pub const THREAD_UNRESOLVED_MAX: usize = 64;

/// Longest name of a shared skill, in Unicode code points (seed 003).
pub const SKILL_NAME_CHARS_MAX: usize = 100;
/// Longest version of a shared skill, in Unicode code points (seed 003).
pub const SKILL_VERSION_CHARS_MAX: usize = 50;
/// Largest bundle of a shared skill, in bytes (seed 003).
pub const SKILL_BYTES_MAX: u64 = 524_288;
/// Most skills ever published in one log, withdrawn ones included.
pub const SKILLS_MAX: usize = 100_000;

/// Most key epochs of one log.
pub const KEY_EPOCHS_MAX: usize = 1_024;
/// Most API keys ever issued by one log, revoked ones included.
pub const API_KEYS_MAX: usize = 100_000;
/// Most keys an agent has enrolled at one time.
pub const AGENT_KEYS_MAX: usize = 16;
/// Most agents' keys ever enrolled in one log, revoked ones included.
pub const AGENT_KEYS_EVER_MAX: usize = 100_000;
