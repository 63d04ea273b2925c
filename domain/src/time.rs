//! Moments: microseconds since the Unix epoch, written one way only.
//!
//! Invariant: a [`Timestamp`] always lies in the years 1970 to 9999, in the range the log's format
//! has for records, so its text always has 27 bytes and sorts as the moments do.

use std::fmt;

use jiff::{civil::DateTime, tz::Offset};

/// A moment in microseconds since the Unix epoch.
/// Written `2026-11-30T12:00:00.000000Z` in records, which sorts as text in time order.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
#[rkyv(derive(PartialEq, Eq, PartialOrd, Ord))]
pub struct Timestamp(i64);

/// Length of the canonical text, in bytes.
const TEXT_BYTES: usize = "2026-11-30T12:00:00.000000Z".len();

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const MIN: Self = Self(0);
    /// The last moment that every offset can write with four digits of year.
    pub const MAX: Self = Self(253_402_207_199_999_999);

    /// The moment so many microseconds after the Unix epoch, or the nearest that can be written.
    pub const fn from_micros(micros: i64) -> Self {
        if micros < Self::MIN.0 {
            Self::MIN
        } else if micros > Self::MAX.0 {
            Self::MAX
        } else {
            Self(micros)
        }
    }

    /// Microseconds since the Unix epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The moment so many seconds later (or earlier), or the nearest that can be written.
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self::from_micros(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
    }

    /// How far apart two moments are, in microseconds.
    pub const fn micros_from(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }

    /// The canonical text as bytes.
    pub fn to_bytes(self) -> [u8; TEXT_BYTES] {
        let moment = jiff::Timestamp::from_microsecond(self.0).unwrap_or_default();
        let civil = Offset::UTC.to_datetime(moment);
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        write_digits(&mut text, 0, 4, i64::from(civil.year()));
        write_digits(&mut text, 5, 2, i64::from(civil.month()));
        write_digits(&mut text, 8, 2, i64::from(civil.day()));
        write_digits(&mut text, 11, 2, i64::from(civil.hour()));
        write_digits(&mut text, 14, 2, i64::from(civil.minute()));
        write_digits(&mut text, 17, 2, i64::from(civil.second()));
        write_digits(&mut text, 20, 6, self.0.rem_euclid(1_000_000));
        text
    }

    /// `2026-11-30T12:00:00Z`: whole seconds, the rooms dialect's form.
    pub fn to_seconds_text(self) -> String {
        let text = self.to_bytes();
        let mut seconds = String::with_capacity(20);
        seconds.extend(text.iter().take(19).map(|byte| char::from(*byte)));
        seconds.push('Z');
        seconds
    }

    /// Parses the canonical form of [`Timestamp`]'s `Display`, and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = Rest(text.as_bytes());
        let civil = rest.date_time()?;
        rest.byte(b'.')?;
        let micros = rest.number(6)?;
        rest.byte(b'Z')?;
        rest.end()?;
        moment(civil, 0, micros)
    }

    /// Parses what a client may send as a signed time.
    ///
    /// Grammar: RFC 3339 with an upper-case `T`, then optionally a point and 0 to 9 digits, then
    /// an upper-case `Z` or `±hh:mm` with `hh` at most 23 and `mm` at most 59; nothing after it.
    /// The date must exist, the hour is at most 23, minute and second at most 59 (no leap
    /// second). Digits beyond microseconds are cut off, not rounded.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let mut rest = Rest(text.as_bytes());
        let civil = rest.date_time()?;
        let micros = rest.fraction()?;
        let offset_minutes = rest.offset_minutes()?;
        rest.end()?;
        moment(civil, offset_minutes, micros)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.to_bytes();
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

/// Writes `value` in decimal over the `width` bytes at `start`.
fn write_digits(text: &mut [u8; TEXT_BYTES], start: usize, width: usize, value: i64) {
    let mut left = value;
    for place in text.iter_mut().skip(start).take(width).rev() {
        // A remainder of ten always fits a byte.
        *place = b'0' + u8::try_from(left.rem_euclid(10)).unwrap_or(0);
        left /= 10;
    }
}

fn moment(civil: DateTime, offset_minutes: i64, micros: i64) -> Option<Timestamp> {
    let local_seconds = Offset::UTC.to_timestamp(civil).ok()?.as_second();
    let total = (local_seconds - offset_minutes * 60) * 1_000_000 + micros;
    (Timestamp::MIN.0..=Timestamp::MAX.0)
        .contains(&total)
        .then_some(Timestamp(total))
}

/// What is left to read of a time.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn byte(&mut self, wanted: u8) -> Option<()> {
        (self.next()? == wanted).then_some(())
    }

    fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }

    fn number(&mut self, digits: usize) -> Option<i64> {
        let mut value = 0;
        for _ in 0..digits {
            let byte = self.next().filter(u8::is_ascii_digit)?;
            value = value * 10 + i64::from(byte - b'0');
        }
        Some(value)
    }

    /// `YYYY-MM-DDTHH:MM:SS`, of a date that exists.
    fn date_time(&mut self) -> Option<DateTime> {
        let year = self.number(4)?;
        self.byte(b'-')?;
        let month = self.number(2)?;
        self.byte(b'-')?;
        let day = self.number(2)?;
        self.byte(b'T')?;
        let hour = self.number(2)?;
        self.byte(b':')?;
        let minute = self.number(2)?;
        self.byte(b':')?;
        let second = self.number(2)?;
        DateTime::new(
            i16::try_from(year).ok()?,
            i8::try_from(month).ok()?,
            i8::try_from(day).ok()?,
            i8::try_from(hour).ok()?,
            i8::try_from(minute).ok()?,
            i8::try_from(second).ok()?,
            0,
        )
        .ok()
    }

    /// Nothing, or a point and 0 to 9 digits; in microseconds.
    fn fraction(&mut self) -> Option<i64> {
        if self.0.first() != Some(&b'.') {
            return Some(0);
        }
        self.next()?;
        let digits = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        if digits > 9 {
            return None;
        }
        let micros = self.number(digits.min(6))?;
        self.number(digits.saturating_sub(6))?;
        let missing = u32::try_from(6_usize.saturating_sub(digits)).ok()?;
        Some(micros * 10_i64.pow(missing))
    }

    /// `Z` or `±hh:mm`.
    fn offset_minutes(&mut self) -> Option<i64> {
        let sign = match self.next()? {
            b'Z' => return Some(0),
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let hours = self.number(2).filter(|hours| *hours <= 23)?;
        self.byte(b':')?;
        let minutes = self.number(2).filter(|minutes| *minutes <= 59)?;
        Some(sign * (hours * 60 + minutes))
    }
}

#[cfg(test)]
#[path = "time_tests.rs"]
mod tests;
