//! The transmit buffer: elements filled by microcode and sent in ring order.

use std::ops::Range;

use super::rbuf::{MIN_ELEMENT, longwords};
use super::window::MsfError;
use crate::Cycle;
use serde::{Deserialize, Serialize};

use crate::kernel::port_io::PacketTag;
use npsim_profile::MediaBus;

/// A burst on SPI-4 is a multiple of this many bytes unless it ends a frame.
const BURST_UNIT: u32 = 16;

/// The first longword of a control word (the second is for CSIX). SPI-3 and SPI-4 have the same
/// fields; SPI-3 uses fewer bits of the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlWord(pub u32);

impl ControlWord {
    /// Payload bytes, 1-256.
    #[must_use]
    pub(crate) const fn payload_length(self) -> u32 {
        let length = self.0 >> 24;
        if length == 0 { 256 } else { length }
    }

    /// First byte of the prepended part.
    #[must_use]
    pub(crate) const fn prepend_offset(self) -> u32 {
        self.0 >> 21 & 7
    }

    /// Bytes of the prepended part.
    #[must_use]
    pub(crate) const fn prepend_length(self) -> u32 {
        self.0 >> 16 & 0x1f
    }

    /// First byte of the payload: the quadword after the prepended part, plus
    /// the payload offset.
    #[must_use]
    pub(crate) const fn payload_start(self) -> u32 {
        ((self.prepend_offset() + self.prepend_length() + 7) & 0xf8) + (self.0 >> 13 & 7)
    }

    /// Number of bytes to be sent.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self.prepend_length() + self.payload_length()
    }

    /// Whether the element is freed rather than sent.
    #[must_use]
    pub const fn skip(self) -> bool {
        self.0 >> 11 & 1 != 0
    }

    /// Whether the frame is to be sent as bad.
    #[must_use]
    pub const fn abort(self) -> bool {
        self.0 >> 10 & 1 != 0
    }

    /// Whether this is the first mpacket of a frame.
    #[must_use]
    pub const fn sop(self) -> bool {
        self.0 >> 9 & 1 != 0
    }

    /// Whether this is the last mpacket of a frame.
    #[must_use]
    pub(crate) const fn eop(self) -> bool {
        self.0 >> 8 & 1 != 0
    }

    /// The port.
    #[must_use]
    pub const fn port(self) -> u8 {
        self.0 as u8
    }
}

/// Why an element cannot be made valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlWordError {
    /// The problem.
    pub message: String,
    /// The suggested remedy.
    pub help: &'static str,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct TbufElement {
    control: [u32; 2],
    valid_since: Option<Cycle>,
    tag: PacketTag,
}

/// The transmit buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tbuf {
    bus: MediaBus,
    element_bytes: u16,
    words: Vec<u32>,
    elements: Vec<TbufElement>,
    head: usize,
    /// Number of elements sent.
    pub sent: u64,
    /// Number of elements skipped.
    pub skipped: u64,
}

impl Tbuf {
    /// An empty buffer.
    #[must_use]
    pub fn new(bus: MediaBus, buffer_bytes: u32, element_bytes: u16) -> Self {
        Self {
            bus,
            element_bytes,
            words: vec![0; (buffer_bytes / 4) as usize],
            elements: vec![
                TbufElement::default();
                (buffer_bytes / u32::from(element_bytes)) as usize
            ],
            head: 0,
            sent: 0,
            skipped: 0,
        }
    }

    /// The number by which microcode knows an element: in units of 64 bytes on SPI-4, in elements
    /// on SPI-3.
    #[must_use]
    pub fn number_of(&self, element: usize) -> u32 {
        element as u32 * self.unit()
    }

    /// The element that microcode refers to by a number; `None` if there is none.
    #[must_use]
    pub(crate) fn element_of(&self, number: u32) -> Option<usize> {
        let element = (number / self.unit()) as usize;
        (number.is_multiple_of(self.unit()) && element < self.elements.len()).then_some(element)
    }

    /// How elements are numbered, for the message about a wrong number.
    #[must_use]
    pub(crate) const fn numbering(&self) -> &'static str {
        match self.bus {
            MediaBus::Spi3 => "count elements from 0 and begin again at 0 after the last",
            MediaBus::Spi4 => {
                "on SPI-4 an element's number is its byte offset in TBUF divided by 64; begin again at 0 after the last"
            }
        }
    }

    fn unit(&self) -> u32 {
        match self.bus {
            MediaBus::Spi3 => 1,
            MediaBus::Spi4 => u32::from(self.element_bytes / MIN_ELEMENT),
        }
    }

    /// Bytes per element.
    #[must_use]
    pub const fn element_bytes(&self) -> u16 {
        self.element_bytes
    }

    /// Number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.elements.len()
    }

    /// An element's longwords.
    #[must_use]
    pub fn contents(&self, element: usize) -> &[u32] {
        let longwords = usize::from(self.element_bytes / 4);
        let rest = self.words.get(element * longwords..).unwrap_or_default();
        &rest[..rest.len().min(longwords)]
    }

    /// The cycle since which an element has been valid; `None` if it is not.
    #[must_use]
    pub fn valid_since(&self, element: usize) -> Option<Cycle> {
        self.elements.get(element)?.valid_since
    }

    /// An element's control words, as last written.
    #[must_use]
    pub fn control_words(&self, element: usize) -> [u32; 2] {
        { self.elements.get(element) }.map_or([0; 2], |it| it.control)
    }

    /// Number of valid elements.
    #[must_use]
    pub fn valid(&self) -> usize {
        self.elements
            .iter()
            .filter(|e| e.valid_since.is_some())
            .count()
    }

    /// Writes longwords from a byte offset on. The tag of an arrival becomes the element's tag.
    ///
    /// # Errors
    /// Returns an error if the range is not inside the buffer or not aligned to longwords.
    pub fn write(&mut self, offset: u32, words: &[u32], tag: PacketTag) -> Result<(), MsfError> {
        let range = longwords(self.words.len(), offset, words.len())?;
        if !tag.is_none() {
            self.elements[offset as usize / self.element_bytes as usize].tag = tag;
        }
        self.words[range].copy_from_slice(words);
        Ok(())
    }

    /// Sets an element's control words and thereby makes it valid.
    ///
    /// # Errors
    /// Returns the problem with them.
    pub(crate) fn set_valid(
        &mut self,
        element: usize,
        control: [u32; 2],
        now: Cycle,
    ) -> Result<(), ControlWordError> {
        let refuse = |message, help| Err(ControlWordError { message, help });
        let last = self.elements.len() - 1;
        let Some(slot) = self.elements.get_mut(element) else {
            return refuse(
                format!("TBUF element {element} does not exist, the last is {last}"),
                "count elements from 0 and begin again at 0 after the last",
            );
        };
        // Hardware sends whatever the element holds when its turn comes, so this always means that
        // a frame was overwritten before it left.
        if slot.valid_since.is_some() {
            return refuse(
                format!(
                    "TBUF element {element} is made valid again before it was sent; element {} is to be sent next",
                    self.head
                ),
                "use the elements in ring order, since they are sent in it, and read TX_SEQUENCE_0 to know how many were sent before one is used again",
            );
        }
        let word = ControlWord(control[0]);
        let end = word.payload_start() + word.payload_length();
        if !word.skip() && end > u32::from(self.element_bytes) {
            return refuse(
                format!(
                    "the control word 0x{:08x} of TBUF element {element} covers {end} bytes, an element has {}",
                    word.0, self.element_bytes
                ),
                "the payload length is in bits 31-24, the prepend length in 20-16; both count from the start of the element",
            );
        }
        let part = word.bytes() % BURST_UNIT;
        if self.bus == MediaBus::Spi4 && !word.skip() && !word.eop() && !word.abort() && part != 0 {
            return refuse(
                format!(
                    "the control word 0x{:08x} of TBUF element {element} sends {} bytes without EOP: SPI-4 sends all but the last part of a frame in multiples of {BURST_UNIT} bytes",
                    word.0,
                    word.bytes()
                ),
                "fill elements in the middle of a frame to the end",
            );
        }
        slot.control = control;
        slot.valid_since = Some(now);
        Ok(())
    }

    /// The packet tag of an element.
    #[must_use]
    pub fn tag(&self, element: usize) -> PacketTag {
        self.elements
            .get(element)
            .map_or(PacketTag::default(), |e| e.tag)
    }

    /// The control words of an element.
    #[must_use]
    pub fn control(&self, element: usize) -> Option<[u32; 2]> {
        self.elements.get(element).map(|e| e.control)
    }

    /// The number of the next element to be sent.
    #[must_use]
    pub const fn next(&self) -> usize {
        self.head
    }

    /// The next element to be sent, if it is valid: its control word, and since when it has been
    /// valid.
    #[must_use]
    pub fn head(&self) -> Option<(ControlWord, Cycle)> {
        let element = &self.elements[self.head];
        element
            .valid_since
            .map(|since| (ControlWord(element.control[0]), since))
    }

    /// Appends the bytes that an element sends to `out`.
    pub fn extract(&self, element: usize, out: &mut Vec<u8>) {
        let control = ControlWord(self.elements[element].control[0]);
        let start = element * self.element_bytes as usize;
        let part = |from: u32, bytes: u32| {
            let from = start + from as usize;
            from..from + bytes as usize
        };
        if control.prepend_length() != 0 {
            self.append(
                part(control.prepend_offset(), control.prepend_length()),
                out,
            );
        }
        self.append(part(control.payload_start(), control.payload_length()), out);
    }

    /// Appends bytes of the buffer to `out`.
    fn append(&self, bytes: Range<usize>, out: &mut Vec<u8>) {
        // Nearly all ranges begin at a longword and are no longer than a header or a small element.
        // For these, a fixed number of longwords is converted and the required part taken.
        if !self.append_of::<4>(&bytes, out) && !self.append_of::<16>(&bytes, out) {
            self.append_apart(bytes, out);
        }
    }

    /// Appends bytes that begin at a longword and fit in `WORDS` longwords. Returns false if they
    /// do not.
    #[inline]
    fn append_of<const WORDS: usize>(&self, bytes: &Range<usize>, out: &mut Vec<u8>) -> bool {
        if !bytes.start.is_multiple_of(4) || bytes.len() > 4 * WORDS {
            return false;
        }
        let Some(words) = self.words[bytes.start / 4..].first_chunk::<WORDS>() else {
            return false;
        };
        let block = words.map(u32::to_be_bytes);
        out.extend_from_slice(&block.as_flattened()[..bytes.len()]);
        true
    }

    #[inline(never)]
    fn append_apart(&self, bytes: Range<usize>, out: &mut Vec<u8>) {
        let mut at = bytes.start;
        // Whole longwords are converted together.
        if at.is_multiple_of(4) {
            let words = &self.words[at / 4..bytes.end / 4];
            let old = out.len();
            out.resize(old + 4 * words.len(), 0);
            for (place, word) in out[old..].as_chunks_mut().0.iter_mut().zip(words) {
                *place = word.to_be_bytes();
            }
            at = bytes.end & !3;
        }
        while at < bytes.end {
            out.push(self.words[at / 4].to_be_bytes()[at % 4]);
            at += 1;
        }
    }

    /// Invalidates the head element and moves on to the next.
    pub fn release(&mut self, skipped: bool) {
        let element = &mut self.elements[self.head];
        element.valid_since = None;
        element.tag = PacketTag::default();
        self.head = (self.head + 1) % self.elements.len();
        if skipped {
            self.skipped += 1;
        } else {
            self.sent += 1;
        }
    }

    /// `TX_SEQUENCE`: the number of elements that have left in bits 7-0, and bit 31 if no element
    /// is waiting, either to be sent or behind one that is not valid yet.
    #[must_use]
    pub fn sequence(&self) -> u32 {
        let waits = self.head().is_some() || self.elements.iter().any(|e| e.valid_since.is_some());
        let idle = u32::from(!waits);
        idle << 31 | (self.sent + self.skipped) as u32 & 0xff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_starts_at_the_quadword_after_the_prepend() {
        assert_eq!(ControlWord(0).payload_start(), 0);
        assert_eq!(ControlWord(1 << 16).payload_start(), 8);
        assert_eq!(ControlWord(3 << 21 | 5 << 16 | 2 << 13).payload_start(), 10);
        assert_eq!(ControlWord(3 << 21 | 6 << 16).payload_start(), 16);
        assert_eq!(ControlWord(60 << 24 | 4 << 16).bytes(), 64);
    }

    #[test]
    fn prepend_and_payload_are_sent_without_the_gap() {
        let mut tbuf = Tbuf::new(MediaBus::Spi3, 8192, 64);
        let words: Vec<u32> = (0..16)
            .map(|i| u32::from_be_bytes([4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3]))
            .collect();
        tbuf.write(0, &words, PacketTag::new(0, 0)).unwrap();
        // Bytes 2-6 prepended, payload from the next quadword (8) plus 3.
        tbuf.set_valid(0, [4 << 24 | 2 << 21 | 5 << 16 | 3 << 13 | 0x300, 0], 9)
            .unwrap();
        let mut out = Vec::new();
        tbuf.extract(0, &mut out);
        assert_eq!(out, [2, 3, 4, 5, 6, 11, 12, 13, 14]);

        // Whole elements, and parts that begin at a longword, in the middle and at the end.
        let mut tbuf = Tbuf::new(MediaBus::Spi3, 8192, 256);
        let words: Vec<u32> = (0..2048u32)
            .map(|at| at.wrapping_mul(0x0101_0203))
            .collect();
        tbuf.write(0, &words, PacketTag::default()).unwrap();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        for (element, length) in [(0, 256), (0, 64), (1, 60), (31, 63), (31, 65), (31, 256)] {
            tbuf.set_valid(element, [(length as u32 & 255) << 24 | 0x300, 0], 9)
                .unwrap_or_default();
            tbuf.elements[element].control[0] = (length as u32 & 255) << 24;
            let mut out = vec![1];
            tbuf.extract(element, &mut out);
            assert_eq!(out[1..], bytes[element * 256..][..length]);
        }
    }

    #[test]
    fn control_words_exceeding_the_element_are_refused() {
        let mut tbuf = Tbuf::new(MediaBus::Spi3, 8192, 64);
        let text = tbuf
            .set_valid(3, [64 << 24 | 1 << 13, 0], 0)
            .unwrap_err()
            .message;
        assert!(text.contains("covers 65 bytes"), "{text}");
        assert!(
            tbuf.set_valid(128, [1 << 24, 0], 0)
                .unwrap_err()
                .message
                .contains("the last is 127")
        );
        tbuf.set_valid(3, [64 << 24, 0], 0).unwrap();
        let again = tbuf.set_valid(3, [64 << 24, 0], 0).unwrap_err();
        assert!(
            again.message.contains("element 0 is to be sent next")
                && again.help.contains("TX_SEQUENCE_0"),
            "{again:?}"
        );
    }

    #[test]
    fn only_the_last_mpacket_of_an_spi4_frame_may_be_partial() {
        let mut tbuf = Tbuf::new(MediaBus::Spi4, 8192, 64);
        let refusal = tbuf.set_valid(0, [60 << 24 | 0x200, 0], 0).unwrap_err();
        assert!(
            refusal.message.contains("60 bytes without EOP"),
            "{refusal:?}"
        );
        tbuf.set_valid(0, [48 << 24 | 0x2ff, 0], 0).unwrap();
        tbuf.set_valid(1, [3 << 24 | 0x1ff, 0], 0).unwrap();
        assert_eq!(ControlWord(tbuf.control(0).unwrap()[0]).port(), 255);
        let mut spi3 = Tbuf::new(MediaBus::Spi3, 8192, 64);
        spi3.set_valid(0, [60 << 24 | 0x200, 0], 0).unwrap();
    }

    #[test]
    fn sequence_counts_modulo_256_and_reports_idle() {
        let mut tbuf = Tbuf::new(MediaBus::Spi3, 8192, 64);
        assert_eq!(tbuf.sequence(), 0x8000_0000);
        for round in 0..300 {
            tbuf.set_valid(round % 128, [64 << 24, 0], 0).unwrap();
            assert_eq!(tbuf.sequence(), round as u32 & 0xff);
            tbuf.release(round % 3 == 0);
        }
        assert_eq!(tbuf.sequence(), 0x8000_002c);
        assert_eq!((tbuf.sent, tbuf.skipped), (200, 100));

        // An element behind one that is not valid still counts as waiting.
        tbuf.set_valid(50, [64 << 24, 0], 0).unwrap();
        assert_eq!(tbuf.head(), None);
        assert_eq!(tbuf.sequence(), 0x2c);
    }
}
