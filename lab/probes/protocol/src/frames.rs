//! Frames: messages on a byte stream that may carry other bytes too, such as a serial line on which a kernel prints.
//!
//! A frame is a mark of four bytes, then four numbers of 32 bits, each as eight hexadecimal digits: its place in the order of frames,
//! the length of what it holds, the CRC-32 of these two, and the CRC-32 of what it holds; then what it holds. That is JSON, so
//! that no byte of a frame but the mark's is a control character: a kernel keeps some of those from a program that reads its console, and
//! Linux takes the byte after `^O` for a key of its own (SysRq). A reader passes
//! over everything that is no frame, and so finds the next one after any damage; a length that was damaged is seen before
//! it is waited for. A frame that is missing is seen from the order, and told.

const MARK: [u8; 4] = [0xd1, b'K', b'Z', 2];
/// Bytes of a number.
const DIGITS: usize = 8;
const HEAD: usize = MARK.len() + 4 * DIGITS;
/// No frame holds more bytes, so that a foreign one does not take all memory.
pub const MOST: usize = 1 << 20;

/// Writes frames.
#[derive(Debug, Default)]
pub struct Encoder {
    next: u32,
}

impl Encoder {
    /// The bytes of the next frame, which holds `content`.
    ///
    /// # Errors
    /// A sentence, when that is more than a frame holds.
    pub fn frame(&mut self, content: &[u8]) -> Result<Vec<u8>, String> {
        if content.len() > MOST {
            return Err(format!("a message of {} bytes does not fit into a frame, which holds {MOST}", content.len()));
        }
        let place = self.next;
        self.next = self.next.wrapping_add(1);
        let length = content.len() as u32;
        let mut bytes = Vec::with_capacity(HEAD + content.len());
        bytes.extend_from_slice(&MARK);
        for number in [place, length, of_head(place, length), crc32fast::hash(content)] {
            bytes.extend_from_slice(format!("{number:08x}").as_bytes());
        }
        bytes.extend_from_slice(content);
        Ok(bytes)
    }
}

fn of_head(place: u32, length: u32) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&place.to_le_bytes());
    hasher.update(&length.to_le_bytes());
    hasher.finalize()
}

/// The place of a frame, its length and the sum of its content, if that is what stands there.
fn numbers(head: &[u8]) -> Option<(u32, u32, u32)> {
    let number = |digits: &[u8]| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let mut numbers = head.chunks(DIGITS).map(number);
    let mut next = || numbers.next().flatten();
    let (place, length, of_both, sum) = (next()?, next()?, next()?, next()?);
    (of_head(place, length) == of_both && length as usize <= MOST).then_some((place, length, sum))
}

/// What a reader finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// What the next frame holds.
    Frame(Vec<u8>),
    /// So many frames are missing before the next one.
    Lost(u32),
}

/// Reads frames.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// The place of the frame that should come next.
    expected: u32,
    /// A frame that was found after a gap, which is told first.
    after_gap: Option<Vec<u8>>,
    passed_over: u64,
}

impl Decoder {
    /// Takes what the stream gave.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next thing that is whole, if there is one.
    pub fn received(&mut self) -> Option<Received> {
        if let Some(content) = self.after_gap.take() {
            return Some(Received::Frame(content));
        }
        loop {
            let begins = self.buffer.windows(MARK.len()).position(|window| window == MARK);
            // The last bytes may be the beginning of a mark.
            let junk = begins.unwrap_or(self.buffer.len().saturating_sub(MARK.len() - 1));
            self.pass_over(junk);
            begins?;
            let head = self.buffer.get(MARK.len()..HEAD)?;
            let Some((place, length, sum)) = numbers(head) else {
                self.pass_over(1);
                continue;
            };
            let end = HEAD + length as usize;
            let content = self.buffer.get(HEAD..end)?;
            if crc32fast::hash(content) != sum {
                self.pass_over(1);
                continue;
            }
            let content = content.to_vec();
            self.buffer.drain(..end);
            let lost = place.wrapping_sub(self.expected);
            self.expected = place.wrapping_add(1);
            if lost == 0 {
                return Some(Received::Frame(content));
            }
            self.after_gap = Some(content);
            return Some(Received::Lost(lost));
        }
    }

    fn pass_over(&mut self, bytes: usize) {
        self.buffer.drain(..bytes);
        self.passed_over += bytes as u64;
    }

    /// How many bytes were of no frame.
    pub fn passed_over(&self) -> u64 {
        self.passed_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(decoder: &mut Decoder) -> Vec<Received> {
        std::iter::from_fn(|| decoder.received()).collect()
    }

    fn frames(contents: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut encoder = Encoder::default();
        contents.iter().map(|content| encoder.frame(content).expect("it fits")).collect()
    }

    #[test]
    fn frames_are_found_in_pieces_of_any_size_and_between_other_bytes() {
        let contents: [&[u8]; 4] = [b"one", b"", &MARK, b"[    0.1] four\n"];
        let mut stream = b"SeaBIOS\r\n\xd1K\xd1".to_vec();
        for frame in frames(&contents) {
            stream.extend(frame);
            stream.extend(b"[    1.0] random: crng init done\r\n");
        }
        let expected: Vec<_> = contents.iter().map(|content| Received::Frame(content.to_vec())).collect();
        for size in [1, 2, 3, 7, 16, 1000] {
            let mut decoder = Decoder::default();
            let mut found = Vec::new();
            for piece in stream.chunks(size) {
                decoder.push(piece);
                found.extend(all(&mut decoder));
            }
            assert_eq!(found, expected, "pieces of {size}");
        }
    }

    #[test]
    fn whatever_byte_is_damaged_the_next_frame_is_found_and_the_loss_is_told() {
        let contents: [&[u8]; 3] = [b"first", b"second", b"third"];
        let written = frames(&contents);
        for at in 0..written[1].len() {
            let mut damaged = written.clone();
            damaged[1][at] ^= 0x40;
            let mut decoder = Decoder::default();
            decoder.push(&damaged.concat());
            let expected = [Received::Frame(b"first".to_vec()), Received::Lost(1), Received::Frame(b"third".to_vec())];
            assert_eq!(all(&mut decoder), expected, "byte {at}");
            assert!(decoder.passed_over() > 0);
        }
    }

    #[test]
    fn a_console_keeps_no_byte_of_a_frame_for_itself() {
        let mut encoder = Encoder::default();
        for number in 0..4096 {
            let frame = encoder.frame(format!("{{\"number\":{number}}}").as_bytes()).expect("it fits");
            assert!(frame[MARK.len()..].iter().all(|byte| (0x20..0x7f).contains(byte)), "{frame:?}");
        }
    }

    #[test]
    fn garbage_takes_no_memory_and_gives_nothing() {
        let mut decoder = Decoder::default();
        let mut state = 1u32;
        for _ in 0..1000 {
            let garbage: Vec<u8> = std::iter::repeat_with(|| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .take(1000)
            .collect();
            decoder.push(&garbage);
            assert_eq!(decoder.received(), None);
            assert!(decoder.buffer.len() < HEAD + 1000, "{}", decoder.buffer.len());
        }
        assert!(Encoder::default().frame(&vec![0; MOST + 1]).is_err());
    }
}
