//! Reading a bundle in blocks of whole lines.
//!
//! Invariant: memory is bounded by the block and the longest line the format allows, whatever
//! the input is. A longer line is skipped to its end and reported as such.

use std::io::{self, Read};

use minutebook_eventlog::format::limits::LINE_BYTES_MAX;

/// Bytes read before a block is closed at its last newline.
const BLOCK_BYTES: usize = 128 * 1024;

/// What a block's bytes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Whole lines, each ended by LF.
    #[default]
    Lines,
    /// One last line without its LF: the file was cut.
    Unterminated,
    /// One line longer than the format allows; its bytes are gone.
    TooLong,
}

/// Cuts a reader into blocks.
#[derive(Debug)]
pub(crate) struct Blocks<R> {
    reader: R,
    /// What was read past the last newline of the block before.
    rest: Vec<u8>,
    ended: bool,
    bytes_read: u64,
}

impl<R: Read> Blocks<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            rest: Vec::new(),
            ended: false,
            bytes_read: 0,
        }
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// The next block into `block` (cleared first), or none at the end.
    pub(crate) fn next(&mut self, block: &mut Vec<u8>) -> io::Result<Option<Shape>> {
        block.clear();
        block.append(&mut self.rest);
        loop {
            self.fill(block)?;
            if let Some(end) = memchr::memrchr(b'\n', block) {
                self.rest
                    .extend_from_slice(block.get(end + 1..).unwrap_or_default());
                block.truncate(end + 1);
                return Ok(Some(Shape::Lines));
            }
            if self.ended {
                return Ok((!block.is_empty()).then_some(Shape::Unterminated));
            }
            if block.len() > LINE_BYTES_MAX {
                self.skip_line(block)?;
                return Ok(Some(Shape::TooLong));
            }
        }
    }

    /// Reads on until the block is full or the input ends.
    fn fill(&mut self, block: &mut Vec<u8>) -> io::Result<()> {
        if self.ended {
            return Ok(());
        }
        let read = (&mut self.reader)
            .take(BLOCK_BYTES as u64)
            .read_to_end(block)?;
        self.bytes_read += read as u64;
        self.ended = read < BLOCK_BYTES;
        Ok(())
    }

    /// Drops what is left of an endless line, keeping what follows it.
    fn skip_line(&mut self, block: &mut Vec<u8>) -> io::Result<()> {
        while !self.ended {
            block.clear();
            self.fill(block)?;
            if let Some(end) = memchr::memchr(b'\n', block) {
                self.rest
                    .extend_from_slice(block.get(end + 1..).unwrap_or_default());
                break;
            }
        }
        block.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(input: &[u8]) -> Vec<(Shape, usize)> {
        let mut blocks = Blocks::new(input);
        let mut block = Vec::new();
        let mut out = Vec::new();
        while let Some(shape) = blocks.next(&mut block).unwrap() {
            out.push((shape, block.len()));
        }
        assert_eq!(blocks.bytes_read(), input.len() as u64);
        out
    }

    #[test]
    fn lines_stay_whole_across_blocks() {
        let input = b"0123456789\n".repeat(BLOCK_BYTES / 4);
        let blocks = cut(&input);
        assert!(blocks.len() > 1);
        assert!(
            blocks
                .iter()
                .all(|(shape, len)| *shape == Shape::Lines && len % 11 == 0)
        );
        assert_eq!(blocks.iter().map(|b| b.1).sum::<usize>(), input.len());
    }

    #[test]
    fn a_cut_line_and_an_endless_line_are_told_apart() {
        assert_eq!(cut(b""), []);
        assert_eq!(cut(b"a\nb"), [(Shape::Lines, 2), (Shape::Unterminated, 1)]);
        let mut input = vec![b'x'; LINE_BYTES_MAX + 2 * BLOCK_BYTES];
        input.extend_from_slice(b"\nok\n");
        assert_eq!(cut(&input), [(Shape::TooLong, 0), (Shape::Lines, 3)]);
    }
}
