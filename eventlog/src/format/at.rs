//! The one spelling of a moment: `2026-11-30T12:00:00.000000Z`.

/// How many bytes a moment has.
pub(crate) const AT_BYTES: usize = 27;
/// The last moment: the last that every offset from UTC can write with four digits of year.
const AT_MAX: &[u8; AT_BYTES] = b"9999-12-30T21:59:59.999999Z";

/// Whether this is `YYYY-MM-DDTHH:MM:SS.ffffffZ` with a date and a time that exist.
/// Moments run from 1970-01-01 to [`AT_MAX`] and there is no 61st second, so text order is time
/// order.
pub(crate) fn is_canonical(text: &[u8]) -> bool {
    let Ok(text) = <&[u8; AT_BYTES]>::try_from(text) else {
        return false;
    };
    #[rustfmt::skip]
    let [y1, y2, y3, y4, b'-', mo1, mo2, b'-', d1, d2, b'T', h1, h2, b':', mi1, mi2, b':', s1, s2,
        b'.', fraction @ .., b'Z'] = text
    else {
        return false;
    };
    let digits = [y1, y2, y3, y4, mo1, mo2, d1, d2, h1, h2, mi1, mi2, s1, s2];
    let all_digits = digits.iter().fold(true, |all, d| all & d.is_ascii_digit())
        & fraction
            .iter()
            .fold(true, |all, d| all & d.is_ascii_digit());
    if !all_digits {
        return false;
    }
    let pair = |high: &u8, low: &u8| u32::from(high - b'0') * 10 + u32::from(low - b'0');
    let year = pair(y1, y2) * 100 + pair(y3, y4);
    let day = pair(d1, d2);
    year >= 1970
        && day >= 1
        && day <= days_in(year, pair(mo1, mo2))
        && pair(h1, h2) < 24
        && pair(mi1, mi2) < 60
        && pair(s1, s2) < 60
        && text <= AT_MAX
}

/// Days of a month; a month that does not exist has none.
fn days_in(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_moments_in_the_one_spelling_pass() {
        for good in [
            "2026-11-30T12:00:00.000000Z",
            "1970-01-01T00:00:00.000000Z",
            "2024-02-29T23:59:59.999999Z",
            "2000-02-29T00:00:00.000000Z",
            "9999-12-30T21:59:59.999999Z",
        ] {
            assert!(is_canonical(good.as_bytes()), "{good}");
        }
        for bad in [
            "2026-11-31T12:00:00.000000Z",
            "2026-02-29T12:00:00.000000Z",
            "2100-02-29T12:00:00.000000Z",
            "2026-00-10T12:00:00.000000Z",
            "2026-13-10T12:00:00.000000Z",
            "2026-01-00T12:00:00.000000Z",
            "2026-11-30T24:00:00.000000Z",
            "2026-11-30T12:60:00.000000Z",
            "2026-11-30T12:00:60.000000Z",
            "1969-12-31T23:59:59.999999Z",
            "9999-12-30T22:00:00.000000Z",
            "9999-12-31T23:59:59.999999Z",
            "2026-11-30t12:00:00.000000Z",
            "2026-11-30T12:00:00.000000z",
            "2026-11-30T12:00:00,000000Z",
            "2026-11-30T12:00:00.00000Z",
            "2026-11-30T12:00:00.0000000Z",
            "2026-11-30T12:00:00.000000",
            "",
            "2026-11-30T12:00:00.00000:Z",
            "2026-11-3/T12:00:00.000000Z",
        ] {
            assert!(!is_canonical(bad.as_bytes()), "{bad}");
        }
    }
}
