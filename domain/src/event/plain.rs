//! The usual body, read in one pass: `room.message_posted` of an agent that did not sign.
//!
//! Nearly every record of a log holds one, and the general way reads each body twice: once with
//! serde, once by writing the event again to see whether it was spelt so.
//!
//! Invariants
//! * What is read here, the general way reads too, as the same event.
//! * Whatever is unusual, good or bad, is left to the general way. So both together take what it
//!   takes alone, and refuse with its words.

use std::borrow::Cow;

use uuid::Uuid;

use crate::{
    newtype::Recorded as _,
    room::{MessageKind, MessagePosted},
    text::{AgentName, MessageText},
};

/// Length of a hyphenated UUID.
const UUID_CHARS: usize = 36;

/// The event, if this is the usual body of one.
pub(super) fn read(body: &[u8]) -> Option<MessagePosted> {
    let body = std::str::from_utf8(body).ok()?;
    let body = body.strip_prefix("{\"agent\":\"")?;
    let (agent, body) = body.split_at_checked(memchr::memchr(b'"', body.as_bytes())?)?;
    let body = body.strip_prefix("\",\"id\":\"")?;
    let (id, body) = body.split_at_checked(UUID_CHARS)?;
    let body = body.strip_prefix("\",\"kind\":\"chat\",\"n\":")?;
    let (n, body) = number(body)?;
    let text = body.strip_prefix(",\"text\":\"")?.strip_suffix("\"}")?;
    if agent.bytes().any(is_special) {
        return None;
    }
    Some(MessagePosted {
        agent: AgentName::recorded(agent).ok()?,
        id: uuid(id)?,
        kind: MessageKind::Chat,
        memory_root: None,
        n,
        signature: None,
        text: MessageText::parse(&string(text)?).ok()?,
    })
}

/// A decimal integer without a leading zero. The largest, which may not fit, are unusual.
pub(super) fn number(text: &str) -> Option<(u64, &str)> {
    const DIGITS_MAX: usize = 19;
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    let (value, len) = digits.take(DIGITS_MAX).fold((0, 0), |(value, len), digit| {
        (value * 10 + u64::from(digit - b'0'), len + 1)
    });
    let has_leading_zero = len > 1 && text.starts_with('0');
    if len == 0 || has_leading_zero {
        return None;
    }
    Some((value, text.get(len..)?))
}

/// A UUID in the one spelling that is written. Of the forms the uuid crate takes, only the
/// hyphenated one has so many bytes.
fn uuid(text: &str) -> Option<Uuid> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    Uuid::try_parse(text).ok()
}

/// What stands in a string as something else than itself, or may not stand there at all.
pub(super) fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// A text from what stood between its quotes.
pub(super) fn string(inside: &str) -> Option<Cow<'_, str>> {
    if is_itself(inside) {
        return Some(Cow::Borrowed(inside));
    }
    unescape(inside).map(Cow::Owned)
}

/// Whether all of it stands for itself. Without a way out of the loop it looks at many bytes at
/// once.
pub(super) fn is_itself(inside: &str) -> bool {
    !inside
        .bytes()
        .fold(false, |any, byte| any | is_special(byte))
}

/// Reads the escapes that are written: short ones where there are, `\u00xx` otherwise.
fn unescape(inside: &str) -> Option<String> {
    if inside.bytes().fold(u8::MAX, u8::min) < 0x20 {
        return None;
    }
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = memchr::memchr2(b'\\', b'"', rest.as_bytes()) {
        let (run, stop) = rest.split_at_checked(at)?;
        out.push_str(run);
        let (byte, len) = escape(stop.as_bytes())?;
        out.push(char::from(byte));
        rest = stop.get(len..)?;
    }
    out.push_str(rest);
    Some(out)
}

/// The character an escape stands for, and its length.
fn escape(text: &[u8]) -> Option<(u8, usize)> {
    let byte = match text {
        [b'\\', byte @ (b'"' | b'\\'), ..] => *byte,
        [b'\\', b'b', ..] => 0x08,
        [b'\\', b't', ..] => b'\t',
        [b'\\', b'n', ..] => b'\n',
        [b'\\', b'f', ..] => 0x0c,
        [b'\\', b'r', ..] => b'\r',
        [b'\\', b'u', b'0', b'0', high @ b'0'..=b'1', low, ..] => {
            let low = match low {
                b'0'..=b'9' => low - b'0',
                b'a'..=b'f' => low - b'a' + 10,
                _ => return None,
            };
            let byte = (high - b'0') * 16 + low;
            let has_short_form = matches!(byte, 0x08 | b'\t' | b'\n' | 0x0c | b'\r');
            return (!has_short_form).then_some((byte, 6));
        }
        _ => return None,
    };
    Some((byte, 2))
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
