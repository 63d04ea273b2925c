//! The recursive descent behind [`super::parse`].

use std::borrow::Cow;
use std::collections::HashSet;

use memchr::memchr2;

use super::{DEPTH_MAX, Value};

/// Objects with more keys than this are checked for duplicates with a set.
const LINEAR_KEYS_MAX: usize = 16;

/// An error at a byte offset.
pub(super) struct Flaw {
    pub(super) kind: Kind,
    pub(super) at: usize,
}

/// What is wrong.
pub(super) enum Kind {
    Syntax,
    Duplicate,
    NotFinite,
    TooDeep,
}

fn syntax<T>(at: usize) -> Result<T, Flaw> {
    Err(Flaw {
        kind: Kind::Syntax,
        at,
    })
}

/// A cursor over text that is known to be UTF-8. `at` always lies on a character boundary when a
/// slice is taken, because it only ever stops at ASCII bytes.
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    pub(super) unpaired: Option<usize>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            unpaired: None,
        }
    }

    pub(super) fn document(&mut self) -> Result<Value<'a>, Flaw> {
        self.space();
        let root = self.value(0)?;
        self.space();
        if self.at == self.text.len() {
            Ok(root)
        } else {
            syntax(self.at)
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, Flaw> {
        match self.peek() {
            Some(b'"') => {
                let start = self.at;
                let text = self.string()?;
                if text.is_none() {
                    self.unpaired.get_or_insert(start);
                }
                Ok(text.map_or(Value::Unpaired, Value::Str))
            }
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'n') => self.word("null", Value::Null),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'N') => self.not_finite("NaN"),
            Some(b'I') => self.not_finite("Infinity"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => syntax(self.at),
        }
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>, Flaw> {
        if !self.rest().starts_with(word.as_bytes()) {
            return syntax(self.at);
        }
        self.at += word.len();
        Ok(value)
    }

    /// The peer takes these words; they are not JSON and are refused by name.
    fn not_finite(&self, word: &str) -> Result<Value<'a>, Flaw> {
        let known = self.rest().starts_with(word.as_bytes());
        let kind = if known { Kind::NotFinite } else { Kind::Syntax };
        Err(Flaw { kind, at: self.at })
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn enter(&mut self, depth: usize) -> Result<(), Flaw> {
        if depth > DEPTH_MAX {
            return Err(Flaw {
                kind: Kind::TooDeep,
                at: self.at,
            });
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Result<Value<'a>, Flaw> {
        self.enter(depth)?;
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            if self.ends(b']')? {
                return Ok(Value::Array(items));
            }
        }
    }

    /// After an item: true at the closing byte, false after a comma and the space behind it.
    fn ends(&mut self, close: u8) -> Result<bool, Flaw> {
        self.space();
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(true)
            }
            Some(b',') => {
                self.at += 1;
                self.space();
                Ok(false)
            }
            _ => syntax(self.at),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value<'a>, Flaw> {
        self.enter(depth)?;
        let mut fields: Vec<(Cow<'a, str>, Value<'a>)> = Vec::new();
        let mut seen = HashSet::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(fields));
        }
        loop {
            let start = self.at;
            let key = self.key()?;
            let twice = if fields.len() < LINEAR_KEYS_MAX {
                fields.iter().any(|(other, _)| *other == key)
            } else {
                if seen.is_empty() {
                    seen.extend(fields.iter().map(|(other, _)| other.clone()));
                }
                !seen.insert(key.clone())
            };
            if twice {
                return Err(Flaw {
                    kind: Kind::Duplicate,
                    at: start,
                });
            }
            let value = self.value(depth)?;
            fields.push((key, value));
            if self.ends(b'}')? {
                return Ok(Value::Object(fields));
            }
        }
    }

    /// A key and its colon. A key with a lone surrogate is kept apart from every other by its
    /// place; it names no field.
    fn key(&mut self) -> Result<Cow<'a, str>, Flaw> {
        if self.peek() != Some(b'"') {
            return syntax(self.at);
        }
        let start = self.at;
        let key = self.string()?.unwrap_or_else(|| {
            self.unpaired.get_or_insert(start);
            Cow::Owned(format!("\u{fffd}@{start}"))
        });
        self.space();
        if self.peek() != Some(b':') {
            return syntax(self.at);
        }
        self.at += 1;
        self.space();
        Ok(key)
    }

    /// A string, or none when it holds a lone surrogate.
    fn string(&mut self) -> Result<Option<Cow<'a, str>>, Flaw> {
        let open = self.at;
        self.at += 1;
        let head = self.plain(open)?;
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Some(Cow::Borrowed(head)));
        }
        let mut out = String::with_capacity(head.len() + 16);
        let mut whole = true;
        out.push_str(head);
        loop {
            // Here stands a backslash: `plain` stops only there or at the closing quote.
            match self.escape(open)? {
                Some(c) => out.push(c),
                None => whole = false,
            }
            out.push_str(self.plain(open)?);
            if self.peek() == Some(b'"') {
                self.at += 1;
                return Ok(whole.then_some(Cow::Owned(out)));
            }
        }
    }

    /// Text up to the next quote or backslash.
    fn plain(&mut self, open: usize) -> Result<&'a str, Flaw> {
        let (start, rest) = (self.at, self.rest());
        let stop = memchr2(b'"', b'\\', rest);
        let plain = stop.and_then(|stop| rest.get(..stop)).unwrap_or(rest);
        // Looked at all at once, because nearly no string has one; its place is then searched for.
        if plain
            .iter()
            .fold(0, |found, byte| found | u8::from(*byte < 0x20))
            > 0
        {
            let place = plain.iter().position(|byte| *byte < 0x20);
            return syntax(start + place.unwrap_or_default());
        }
        let Some(length) = stop else {
            return syntax(open);
        };
        self.at += length;
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    /// One escape; none for a lone surrogate.
    fn escape(&mut self, open: usize) -> Result<Option<char>, Flaw> {
        let backslash = self.at;
        self.at += 1;
        let Some(letter) = self.peek() else {
            return syntax(open);
        };
        self.at += 1;
        Ok(Some(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return syntax(backslash),
        }))
    }

    fn unicode(&mut self) -> Result<Option<char>, Flaw> {
        let first = self.hex4()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first));
        }
        if !self.rest().starts_with(b"\\u") {
            return Ok(None);
        }
        let back = self.at;
        self.at += 2;
        let second = self.hex4()?;
        if !(0xdc00..0xe000).contains(&second) {
            self.at = back;
            return Ok(None);
        }
        Ok(char::from_u32(
            0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00),
        ))
    }

    /// Four hex digits that do not end the text. The error stands at the `u` before them.
    fn hex4(&mut self) -> Result<u32, Flaw> {
        let digits = self.rest().get(..5).and_then(|five| five.get(..4));
        let Some(digits) = digits else {
            return syntax(self.at - 1);
        };
        let mut code = 0;
        for &byte in digits {
            let Some(digit) = char::from(byte).to_digit(16) else {
                return syntax(self.at - 1);
            };
            code = code * 16 + digit;
        }
        self.at += 4;
        Ok(code)
    }

    /// The longest number that stands here, as the peer reads it: `1.` is 1 and a stray point.
    fn number(&mut self) -> Result<Value<'a>, Flaw> {
        let start = self.at;
        let rest = self.rest();
        let digits = |from: usize| {
            rest.iter()
                .skip(from)
                .take_while(|b| b.is_ascii_digit())
                .count()
        };
        let mut length = usize::from(rest.first() == Some(&b'-'));
        length += match rest.get(length) {
            Some(b'0') => 1,
            Some(b'1'..=b'9') => digits(length),
            _ => return syntax(start),
        };
        let mut float = false;
        if rest.get(length) == Some(&b'.') && digits(length + 1) > 0 {
            length += 1 + digits(length + 1);
            float = true;
        }
        if let Some(b'e' | b'E') = rest.get(length) {
            let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
            let exponent = digits(length + 1 + sign);
            if exponent > 0 {
                length += 1 + sign + exponent;
                float = true;
            }
        }
        self.at += length;
        let text = self.text.get(start..self.at).unwrap_or_default();
        if !float {
            return Ok(text.parse().map_or(Value::HugeInt, Value::Int));
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Float(number)),
            _ => Err(Flaw {
                kind: Kind::NotFinite,
                at: start,
            }),
        }
    }
}
