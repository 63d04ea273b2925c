//! What can be asked about a room at a moment: `members >= 3 and not room.closed`.
//!
//! ```text
//! predicate = all ("or" all)*
//! all       = term ("and" term)*
//! term      = ["not"] test
//! test      = "room.open" | "room.closed" | "room.erased" | "room.public"
//!           | ("messages" | "members" | "agents") RELATION NUMBER
//!           | ("name" | "description") ("=" | "!=" | "contains") TEXT
//!           | "message" NUMBER "exists" | "member" TEXT
//!           | ("threads" | "handshakes" | "discrepancies") RELATION NUMBER | "sealed"
//!           | "thread" TEXT ("proposed" | "agreed" | "disputed" | "cancelled")
//!           | "thread" TEXT ("=" | "!=" | "contains") TEXT
//! RELATION  = "=" | "!=" | "<" | "<=" | ">" | ">="
//! TEXT      = a word, or "…" with \" and \\ inside
//! ```
//!
//! Invariants
//! * A room is open, closed or erased, one of the three.
//! * What is not known any more is as if it had never been: an erased room has no name and no
//!   members, but still its number of messages.
//! * A thread is named by its subject, its short name or its id, and threads may share the first
//!   two: a test of a thread holds if one so named passes it, so none does before it is opened.
//! * Cancelled threads count among `threads`, resolved discrepancies not among `discrepancies`.

use std::str::FromStr;

use minutebook_domain::room::claims::Status;

mod holds;

pub(super) use holds::Moment;

/// Longest predicate, in bytes.
const BYTES_MAX: usize = 4096;

/// A parsed predicate: any of these, each of which is all of those.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate(Vec<Vec<Term>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    is_negated: bool,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Open,
    Closed,
    Erased,
    Public,
    Count(Count, Relation, u64),
    Text(Text, TextRelation, String),
    Message(u64),
    Member(String),
    Sealed,
    Thread(String, ThreadTest),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ThreadTest {
    Status(Status),
    Value(TextRelation, String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    Messages,
    Members,
    Agents,
    Threads,
    Handshakes,
    Discrepancies,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    NotEqual,
    Less,
    AtMost,
    More,
    AtLeast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    Name,
    Description,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextRelation {
    Is,
    IsNot,
    Contains,
}

/// Why a text is no predicate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {place}: {why}")]
pub struct BadPredicate {
    /// Where: a token in quotes, or the end.
    place: String,
    /// What would have been right there.
    why: String,
}

const TESTS: &str = "expected room.open, room.closed, room.erased, room.public, messages, members, \
                     agents, name, description, message, member, threads, handshakes, \
                     discrepancies, sealed or thread";
const THREAD_TESTS: &str = "expected proposed, agreed, disputed, cancelled, =, != or contains, as \
                            in: thread \"unit price\" agreed";

impl FromStr for Predicate {
    type Err = BadPredicate;

    fn from_str(text: &str) -> Result<Self, BadPredicate> {
        if text.len() > BYTES_MAX {
            let why = format!("a predicate has at most {BYTES_MAX} bytes");
            return Err(bad(None, &why));
        }
        let mut tokens = Tokens(text);
        let mut any = Vec::new();
        let mut all = Vec::new();
        loop {
            all.push(tokens.term()?);
            match tokens.next()? {
                None => break,
                Some(Token::Word("and")) => {}
                Some(Token::Word("or")) => any.push(std::mem::take(&mut all)),
                other => return Err(bad(other, "expected and, or, or the end")),
            }
        }
        any.push(all);
        Ok(Self(any))
    }
}

fn bad(token: Option<Token<'_>>, why: &str) -> BadPredicate {
    let place = match token {
        None => "the end".to_owned(),
        Some(Token::Word(text) | Token::Sign(text)) => format!("{text:?}"),
        Some(Token::Quoted(text)) => format!("{text:?}"),
    };
    let why = why.to_owned();
    BadPredicate { place, why }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Sign(&'a str),
    Quoted(String),
}

/// What is left of a predicate's text.
struct Tokens<'a>(&'a str);

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Result<Option<Token<'a>>, BadPredicate> {
        self.0 = self.0.trim_start();
        let Some(first) = self.0.chars().next() else {
            return Ok(None);
        };
        if first == '"' {
            return self.quoted().map(Some);
        }
        let is_sign = |c: char| matches!(c, '=' | '!' | '<' | '>');
        let is_other = |c: char| c.is_whitespace() || c == '"' || is_sign(c) != is_sign(first);
        let end = self.0.find(is_other).unwrap_or(self.0.len());
        let (token, rest) = self.0.split_at(end);
        self.0 = rest;
        Ok(Some(if is_sign(first) {
            Token::Sign(token)
        } else {
            Token::Word(token)
        }))
    }

    /// A text in quotes, which is what comes next.
    fn quoted(&mut self) -> Result<Token<'a>, BadPredicate> {
        let mut text = String::new();
        let mut chars = self.0.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.0 = self.0.get(at + 1..).unwrap_or_default();
                    return Ok(Token::Quoted(text));
                }
                '\\' => match chars.next() {
                    Some((_, c @ ('"' | '\\'))) => text.push(c),
                    Some(_) | None => {
                        return Err(bad(
                            Some(Token::Quoted(text)),
                            r#"a backslash is followed by " or \"#,
                        ));
                    }
                },
                c => text.push(c),
            }
        }
        Err(bad(
            Some(Token::Quoted(text)),
            "the closing quote is missing",
        ))
    }

    fn term(&mut self) -> Result<Term, BadPredicate> {
        let first = self.next()?;
        let (is_negated, name) = match first {
            Some(Token::Word("not")) => (true, self.next()?),
            other => (false, other),
        };
        let test = match name {
            Some(Token::Word("room.open")) => Test::Open,
            Some(Token::Word("room.closed")) => Test::Closed,
            Some(Token::Word("room.erased")) => Test::Erased,
            Some(Token::Word("room.public")) => Test::Public,
            Some(Token::Word("messages")) => self.count(Count::Messages)?,
            Some(Token::Word("members")) => self.count(Count::Members)?,
            Some(Token::Word("agents")) => self.count(Count::Agents)?,
            Some(Token::Word("threads")) => self.count(Count::Threads)?,
            Some(Token::Word("handshakes")) => self.count(Count::Handshakes)?,
            Some(Token::Word("discrepancies")) => self.count(Count::Discrepancies)?,
            Some(Token::Word("sealed")) => Test::Sealed,
            Some(Token::Word("thread")) => Test::Thread(self.text()?, self.thread_test()?),
            Some(Token::Word("name")) => self.compared(Text::Name)?,
            Some(Token::Word("description")) => self.compared(Text::Description)?,
            Some(Token::Word("message")) => self.message()?,
            Some(Token::Word("member")) => Test::Member(self.text()?),
            other => return Err(bad(other, TESTS)),
        };
        Ok(Term { is_negated, test })
    }

    fn count(&mut self, count: Count) -> Result<Test, BadPredicate> {
        let relation = match self.next()? {
            Some(Token::Sign("=")) => Relation::Equal,
            Some(Token::Sign("!=")) => Relation::NotEqual,
            Some(Token::Sign("<")) => Relation::Less,
            Some(Token::Sign("<=")) => Relation::AtMost,
            Some(Token::Sign(">")) => Relation::More,
            Some(Token::Sign(">=")) => Relation::AtLeast,
            other => return Err(bad(other, "expected =, !=, <, <=, > or >=")),
        };
        Ok(Test::Count(count, relation, self.number()?))
    }

    fn compared(&mut self, text: Text) -> Result<Test, BadPredicate> {
        let relation = match self.next()? {
            Some(Token::Sign("=")) => TextRelation::Is,
            Some(Token::Sign("!=")) => TextRelation::IsNot,
            Some(Token::Word("contains")) => TextRelation::Contains,
            other => return Err(bad(other, "expected =, != or contains")),
        };
        Ok(Test::Text(text, relation, self.text()?))
    }

    fn thread_test(&mut self) -> Result<ThreadTest, BadPredicate> {
        let relation = match self.next()? {
            Some(Token::Word("proposed")) => return Ok(ThreadTest::Status(Status::Proposed)),
            Some(Token::Word("agreed")) => return Ok(ThreadTest::Status(Status::Agreed)),
            Some(Token::Word("disputed")) => return Ok(ThreadTest::Status(Status::Disputed)),
            Some(Token::Word("cancelled")) => return Ok(ThreadTest::Status(Status::Cancelled)),
            Some(Token::Sign("=")) => TextRelation::Is,
            Some(Token::Sign("!=")) => TextRelation::IsNot,
            Some(Token::Word("contains")) => TextRelation::Contains,
            other => return Err(bad(other, THREAD_TESTS)),
        };
        Ok(ThreadTest::Value(relation, self.text()?))
    }

    fn message(&mut self) -> Result<Test, BadPredicate> {
        let n = self.number()?;
        match self.next()? {
            Some(Token::Word("exists")) => Ok(Test::Message(n)),
            other => Err(bad(other, "expected exists, as in: message 5 exists")),
        }
    }

    fn number(&mut self) -> Result<u64, BadPredicate> {
        match self.next()? {
            Some(Token::Word(word)) => word
                .parse()
                .map_err(|_| bad(Some(Token::Word(word)), "expected a number")),
            other => Err(bad(other, "expected a number")),
        }
    }

    fn text(&mut self) -> Result<String, BadPredicate> {
        match self.next()? {
            Some(Token::Word(word)) => Ok(word.to_owned()),
            Some(Token::Quoted(text)) => Ok(text),
            other => Err(bad(other, r#"expected a word or a text in "quotes""#)),
        }
    }
}

#[cfg(test)]
mod tests;
