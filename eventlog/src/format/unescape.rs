//! Decoding a string of the canonical spelling: most of what reading a bundle costs.
//!
//! Invariants
//! * `"` and `\` after a backslash, `\b \t \n \f \r`, other control characters as `\u00xx` in
//!   lower case, everything else as itself; the first quote that is not escaped ends the string.
//! * Where it stopped is the closing quote or the first byte that should not stand there.
//!
//! A block of 64 bytes is looked at as one word of 64 bits, one for each byte that is not simply
//! copied. Runs between those are short, so they are moved 16 bytes at a time, of which some are
//! too many and overwritten by what follows.

/// How many bytes are looked at together: as many as a word has bits.
const BLOCK: usize = 64;
/// How many bytes are moved together.
const RUN: usize = 16;
/// A block and what comes after it: a run or an escape may begin at its last byte.
const WINDOW: usize = BLOCK + RUN;

/// Whether a byte ends a plain run: `"`, `\` and what is below 0x20.
pub(super) fn is_stop(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// One bit for each byte of a block that ends a plain run, lowest first.
fn stop_bits(block: &[u8; BLOCK]) -> u64 {
    // Multiplying gathers the lowest bits of eight bytes in the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    // Bytes that are written next to each other are compared many at a time.
    let mut marks = [0; BLOCK];
    for (mark, byte) in marks.iter_mut().zip(block) {
        *mark = u8::from(is_stop(*byte));
    }
    let (groups, _) = marks.as_chunks::<8>();
    let bytes = groups
        .iter()
        .map(|group| u64::from_le_bytes(*group).wrapping_mul(GATHER) >> 56);
    bytes
        .enumerate()
        .fold(0, |bits, (i, byte)| bits | byte << (8 * i))
}

/// Appends the string that `text` begins with, up to its closing quote. Gives how far it got and,
/// if that is not the closing quote, what was expected there; then what was appended is of no use.
pub(super) fn unescape(text: &[u8], out: &mut Vec<u8>) -> (usize, Result<(), &'static str>) {
    let mut decoded = Decoded::default();
    let mut padded = [0; WINDOW];
    let mut next = Next::default();
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let window = rest.first_chunk().unwrap_or_else(|| {
            // Filled up with plain bytes.
            padded = [b' '; WINDOW];
            for (to, from) in padded.iter_mut().zip(rest) {
                *to = *from;
            }
            &padded
        });
        decoded.len = 0;
        let end = decode(window, &mut next, &mut decoded);
        decoded.append_to(out);
        if let Some((stop, end)) = end {
            return (start + stop, end);
        }
        start += BLOCK;
    }
    (text.len(), Err("a closing quote"))
}

/// What a block leaves for the one after it.
#[derive(Default)]
struct Next {
    /// How many of its bytes belong to an escape of the block before.
    from: usize,
    /// Set if its first byte was escaped by the last one before it, and so stands for itself.
    escaped: bool,
}

/// Decodes a block. Gives the place of the first byte that ends the string or should not be there.
#[inline]
fn decode(
    window: &[u8; WINDOW],
    next: &mut Next,
    decoded: &mut Decoded,
) -> Option<(usize, Result<(), &'static str>)> {
    let block = window.first_chunk::<BLOCK>()?;
    let mut bits = stop_bits(block) & !u64::from(next.escaped);
    next.escaped = false;
    while bits != 0 {
        let stop = bits.trailing_zeros() as usize;
        bits &= bits - 1;
        decoded.add(window, next.from, stop);
        match window.get(stop..).unwrap_or(&[]) {
            [b'\\', b'"' | b'\\', ..] => {
                // It stands for itself: the next run begins with it, and its own bit is dropped.
                next.from = stop + 1;
                next.escaped = next.from == BLOCK;
                bits &= bits.wrapping_sub(1);
            }
            [b'"', ..] => return Some((stop, Ok(()))),
            rest => match unescape_rare(rest) {
                Ok((byte, len)) => {
                    decoded.push(byte);
                    next.from = stop + len;
                }
                Err(expected) => return Some((stop, Err(expected))),
            },
        }
    }
    decoded.add(window, next.from.min(BLOCK), BLOCK);
    next.from = next.from.saturating_sub(BLOCK);
    None
}

/// What a block decodes to: never longer than the block.
struct Decoded {
    bytes: [u8; BLOCK + RUN],
    len: usize,
}

impl Default for Decoded {
    fn default() -> Self {
        Self {
            bytes: [0; BLOCK + RUN],
            len: 0,
        }
    }
}

impl Decoded {
    /// Adds the window's bytes `from..to`.
    #[inline]
    fn add(&mut self, window: &[u8; WINDOW], from: usize, to: usize) {
        let (mut src, mut dst) = (from, self.len);
        while src < to {
            let run = window.get(src..).and_then(<[u8]>::first_chunk::<RUN>);
            let place = self.bytes.get_mut(dst..);
            let place = place.and_then(<[u8]>::first_chunk_mut::<RUN>);
            if let (Some(run), Some(place)) = (run, place) {
                *place = *run;
            }
            src += RUN;
            dst += RUN;
        }
        self.len += to - from;
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
        }
        self.len += 1;
    }

    /// A copy of a fixed length, of which what is too much is taken back, is the fastest.
    #[inline]
    fn append_to(&self, out: &mut Vec<u8>) {
        if let Some(bytes) = self.bytes.first_chunk::<BLOCK>() {
            out.extend_from_slice(bytes);
            out.truncate(out.len() - BLOCK + self.len.min(BLOCK));
        }
    }
}

/// The byte that one of the rarer escapes stands for, and the escape's length; or what should
/// have stood here.
fn unescape_rare(rest: &[u8]) -> Result<(u8, usize), &'static str> {
    let byte = match rest {
        [b'\\', b'b', ..] => 0x08,
        [b'\\', b't', ..] => b'\t',
        [b'\\', b'n', ..] => b'\n',
        [b'\\', b'f', ..] => 0x0c,
        [b'\\', b'r', ..] => b'\r',
        [b'\\', b'u', b'0', b'0', high @ (b'0' | b'1'), low, ..] => {
            return unescape_control(*high, *low);
        }
        [b'\\', ..] => return Err("a canonical escape"),
        _ => return Err("an escaped control character"),
    };
    Ok((byte, 2))
}

fn unescape_control(high: u8, low: u8) -> Result<(u8, usize), &'static str> {
    let low = match low {
        b'0'..=b'9' => low - b'0',
        b'a'..=b'f' => low - b'a' + 10,
        _ => return Err("a canonical escape"),
    };
    let byte = (high - b'0') * 16 + low;
    if matches!(byte, 0x08 | b'\t' | b'\n' | 0x0c | b'\r') {
        return Err("the short form of this escape");
    }
    Ok((byte, 6))
}
