//! The little of JSON that the format uses, in its one canonical spelling (RFC 8785).
//!
//! Invariants
//! * Reading accepts exactly what writing makes: `"` and `\` after a backslash, `\b \t \n \f \r`,
//!   other control characters as `\u00xx` in lower case, everything else as itself. So a string
//!   has one spelling and lone surrogates cannot be spelt at all.
//! * Integers have no sign, no leading zero, no fraction, and are at most 2^53 - 1.
//! * Input is already known to be UTF-8; nothing here can make it invalid.

use std::borrow::Cow;

use super::{
    limits::INTEGER_MAX,
    unescape::{is_stop, unescape},
};

const ONES: u64 = u64::MAX / 255;
const LOW: u64 = ONES * 0x7f;

/// What should have stood at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    pub(crate) expected: &'static str,
    pub(crate) offset: usize,
}

/// Marks with 0x80 the bytes of a group that end a plain run: `"`, `\` and what is below 0x20.
fn stops(group: [u8; 8]) -> u64 {
    let word = u64::from_le_bytes(group);
    let quote = zero_bytes(word ^ (ONES * u64::from(b'"')));
    let backslash = zero_bytes(word ^ (ONES * u64::from(b'\\')));
    let control = zero_bytes(word & (ONES * 0xe0));
    quote | backslash | control
}

/// Marks with 0x80 the bytes that are zero, and only those: the sum cannot carry over.
fn zero_bytes(word: u64) -> u64 {
    !(((word & LOW) + LOW) | word | LOW)
}

/// How many bytes stand for themselves before the first that does not.
fn plain_len(bytes: &[u8]) -> usize {
    let (groups, tail) = bytes.as_chunks::<8>();
    for (i, group) in groups.iter().enumerate() {
        let marks = stops(*group);
        if marks != 0 {
            return i * 8 + (marks.trailing_zeros() / 8) as usize;
        }
    }
    let plain = tail.iter().position(|byte| is_stop(*byte));
    bytes.len() - tail.len() + plain.unwrap_or(tail.len())
}

/// Appends a string's canonical spelling without the quotes around it.
pub(crate) fn escape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    loop {
        let (plain, tail) = rest.split_at(plain_len(rest));
        out.extend_from_slice(plain);
        let Some((stop, tail)) = tail.split_first() else {
            return;
        };
        escape_one(*stop, out);
        rest = tail;
    }
}

fn escape_one(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.extend([hex_digit(byte >> 4), hex_digit(byte & 15)]);
            return;
        }
    };
    out.extend([b'\\', short]);
}

fn hex_digit(nibble: u8) -> u8 {
    if nibble < 10 {
        b'0' + nibble
    } else {
        b'a' + nibble - 10
    }
}

/// Appends a decimal integer.
pub(crate) fn decimal(mut value: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut used = 0;
    for slot in digits.iter_mut().rev() {
        *slot = b'0' + u8::try_from(value % 10).unwrap_or(0);
        used += 1;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(20 - used..).unwrap_or(&[]));
}

/// Reads canonical JSON from the front of a text, keeping the offset for errors.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a str,
    total: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            total: text.len(),
        }
    }

    pub(crate) fn fail(&self, expected: &'static str) -> Mismatch {
        Mismatch {
            expected,
            offset: self.total - self.rest.len(),
        }
    }

    /// Exactly these characters.
    #[inline]
    pub(crate) fn literal(&mut self, text: &'static str) -> Result<(), Mismatch> {
        self.rest = self
            .rest
            .strip_prefix(text)
            .ok_or_else(|| self.fail(text))?;
        Ok(())
    }

    /// These characters, if they come next.
    pub(crate) fn try_literal(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// The next `len` bytes, whatever they are.
    #[inline]
    pub(crate) fn take(&mut self, len: usize, expected: &'static str) -> Result<&'a str, Mismatch> {
        let (head, tail) = self
            .rest
            .split_at_checked(len)
            .ok_or_else(|| self.fail(expected))?;
        self.rest = tail;
        Ok(head)
    }

    /// Nothing more.
    pub(crate) fn end(&self) -> Result<(), Mismatch> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.fail("the end"))
        }
    }

    /// An integer from 0 to 2^53 - 1.
    #[inline]
    pub(crate) fn integer(&mut self) -> Result<u64, Mismatch> {
        let bytes = self.rest.as_bytes();
        let mut value: u64 = 0;
        let mut len = 0;
        for digit in bytes.iter().take(17).take_while(|b| b.is_ascii_digit()) {
            value = value * 10 + u64::from(digit - b'0');
            len += 1;
        }
        let leading_zero = len > 1 && bytes.first() == Some(&b'0');
        if len == 0 || leading_zero || value > INTEGER_MAX {
            return Err(self.fail("an integer from 0 to 2^53-1 without leading zeros"));
        }
        self.take(len, "an integer").map(|_| value)
    }

    /// The rest of a string whose opening quote was read, with its closing quote.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Mismatch> {
        let plain = plain_len(self.rest.as_bytes());
        if self.rest.as_bytes().get(plain) == Some(&b'"') {
            let text = self.take(plain, "a string")?;
            self.literal("\"")?;
            return Ok(Cow::Borrowed(text));
        }
        let bytes = self.unescape()?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Owned(text)),
            Err(_) => Err(self.fail("UTF-8")),
        }
    }

    /// Like [`Self::string`], as bytes, which saves checking them for UTF-8 again.
    #[inline]
    pub(crate) fn string_bytes(&mut self) -> Result<Cow<'a, [u8]>, Mismatch> {
        let plain = plain_len(self.rest.as_bytes());
        if self.rest.as_bytes().get(plain) == Some(&b'"') {
            let text = self.take(plain, "a string")?;
            self.literal("\"")?;
            return Ok(Cow::Borrowed(text.as_bytes()));
        }
        self.unescape().map(Cow::Owned)
    }

    fn unescape(&mut self) -> Result<Vec<u8>, Mismatch> {
        // Most strings are short; a long one grows a few times.
        const FIRST_CAPACITY: usize = 576;
        let mut out = Vec::with_capacity(self.rest.len().min(FIRST_CAPACITY));
        let (used, end) = unescape(self.rest.as_bytes(), &mut out);
        self.rest = self.rest.get(used..).unwrap_or("");
        match end {
            Ok(()) => self.literal("\"").map(|()| out),
            Err(expected) => Err(self.fail(expected)),
        }
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
