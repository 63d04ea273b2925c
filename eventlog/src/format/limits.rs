//! Every bound of the format, with its unit in its name. `FORMAT.md` repeats them.

/// Largest integer in an envelope or a manifest: 2^53 - 1, so that every JSON reader is exact.
pub const INTEGER_MAX: u64 = (1 << 53) - 1;

/// Longest `actor`, in bytes of UTF-8 before escaping.
pub const ACTOR_BYTES_MAX: usize = 512;
/// Longest `cmd`, in bytes of UTF-8 before escaping.
pub const CMD_BYTES_MAX: usize = 512;
/// Longest `stream`, in bytes of UTF-8 before escaping.
pub const STREAM_BYTES_MAX: usize = 200;
/// Longest `type`, in bytes of UTF-8 before escaping.
pub const TYPE_BYTES_MAX: usize = 64;
/// Longest envelope. The field limits above cannot pass it even when every byte is escaped.
pub const ENVELOPE_BYTES_MAX: usize = 8 * 1024;
/// Longest body. Escaped as a JSON string it still fits a bundle line beside its envelope.
pub const BODY_BYTES_MAX: usize = 480 * 1024;

/// Longest bundle line, without its LF.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;

/// Longest signed note. 16 post-quantum signatures of nearly 5 kB fit in base64.
pub const NOTE_BYTES_MAX: usize = 128 * 1024;
/// Most signature lines on a note; C2SP asks for at least 16.
pub const NOTE_SIGNATURES_MAX: usize = 64;
/// Longest key name or origin, in bytes.
pub const KEY_NAME_BYTES_MAX: usize = 255;
/// Longest vkey text. ML-DSA-44 keys, which we name but do not verify, need 1,752 base64 digits.
pub const VKEY_BYTES_MAX: usize = 4 * 1024;

/// Longest `.tlog-proof` text.
pub const PROOF_BYTES_MAX: usize = NOTE_BYTES_MAX + 32 * 1024;
/// Longest `extra` of a `.tlog-proof`, decoded. An envelope fits.
pub const PROOF_EXTRA_BYTES_MAX: usize = ENVELOPE_BYTES_MAX;
/// Most hashes in a proof: one per level of a tree of 2^63 leaves, and one.
pub const PROOF_HASHES_MAX: usize = 64;

/// Longest policy file.
pub const POLICY_BYTES_MAX: usize = 64 * 1024;
/// Most logs, witnesses and groups of a policy, each; C2SP asks for at least 32.
pub const POLICY_NAMES_MAX: usize = 64;

/// Largest tree: C2SP sizes are unbounded, ours fit a signed 64-bit integer.
pub const TREE_SIZE_MAX: u64 = i64::MAX as u64;
