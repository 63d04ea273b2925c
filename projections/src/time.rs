//! The time a message shows.

use minutebook_domain::{room::MessagePosted, time::Timestamp};

/// A message's time as its dialect shows it: the time its agent signed, or its record's time.
/// A signed time is within the signature window of the record's, in no particular order.
pub fn message_time(recorded_at: Timestamp, message: &MessagePosted) -> Timestamp {
    message
        .signature
        .as_ref()
        .and_then(|signature| Timestamp::parse_rfc3339(&signature.ts_iso))
        .unwrap_or(recorded_at)
}
