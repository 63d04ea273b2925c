//! Why nothing could be verified at all: the input is no bundle, or what was brought with it is
//! not what it should be. What is wrong *inside* a bundle is a finding, never an error.

/// Why there is no report. The program exits with 65.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// Reading failed.
    #[error("cannot read the bundle: {0}")]
    Read(#[from] std::io::Error),
    /// The input does not begin as a bundle does.
    #[error("not a bundle: {0}")]
    NotABundle(String),
    /// An anchor is not a checkpoint.
    #[error("anchor {label} is not a checkpoint: {why}")]
    Anchor {
        /// The caller's name for it.
        label: String,
        /// Why.
        why: String,
    },
    /// A receipt is not a `.tlog-proof`.
    #[error("receipt {label} is not a receipt: {why}")]
    Receipt {
        /// The caller's name for it.
        label: String,
        /// Why.
        why: String,
    },
    /// A key or policy does not parse.
    #[error("policy: {0}")]
    Policy(String),
    /// A saved state cannot be used with this bundle, key or program.
    #[error("saved state: {0}")]
    State(String),
}
