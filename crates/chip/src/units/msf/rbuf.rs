//! The receive buffer: elements, their holders, and the list of full ones.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use super::parameters::MediaParameters;
use super::window::MsfError;
use crate::Cycle;
use npsim_profile::MediaBus;

/// Bytes of the smallest element, the unit in which SPI-4 counts.
pub(super) const MIN_ELEMENT: u16 = 64;
/// Type field of the status word: the control word announced a payload.
const PAYLOAD_TYPE: u32 = 1 << 8;
use crate::kernel::port_io::PacketTag;

/// The holder of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ElementHolder {
    /// No holder: the element was never put into the pool.
    Withheld,
    /// The pool.
    Pool,
    /// The receive bus, which fills it.
    Filling,
    /// The list of full elements.
    Full,
    /// Microcode.
    Thread {
        /// Index of the microengine.
        me: u8,
        /// Context.
        context: u8,
        /// When it was handed over.
        since: Cycle,
    },
}

/// An element's contents and holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RbufElement {
    /// The present holder.
    pub holder: ElementHolder,
    /// Port that its mpacket came from.
    pub port: u8,
    /// Bytes, 1 to the element size.
    pub bytes: u16,
    /// Whether it holds the first mpacket of its frame.
    pub sop: bool,
    /// Whether it holds the last mpacket of its frame.
    pub eop: bool,
    /// The caller's number for the frame.
    pub frame: u64,
    /// When the last bit of the frame was on the line.
    pub arrived: Cycle,
    checksum: u16,
}

/// An element that microcode received and has not freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leak {
    /// Element number.
    pub element: u8,
    /// The frame whose mpacket it holds.
    pub frame: u64,
    /// Port that the frame came from.
    pub port: u8,
    /// Index of the microengine whose thread received it.
    pub me: u8,
    /// The thread's context.
    pub context: u8,
    /// When the thread received it.
    pub since: Cycle,
}

/// The receive buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rbuf {
    bus: MediaBus,
    element_bytes: u16,
    words: Vec<u32>,
    elements: Vec<RbufElement>,
    pool: VecDeque<u8>,
    full: VecDeque<u8>,
    /// Smallest number of elements that were in the pool at one time.
    pub lowest: u64,
    /// Largest number of full elements that were waiting for a thread.
    pub full_peak: u64,
    /// Elements closed.
    pub closed: u64,
    /// Elements freed.
    pub freed: u64,
}

impl Rbuf {
    /// A buffer whose pool holds every element except the `withheld` ones, which the hardware never
    /// hands out (`Msf::new` lists them).
    #[must_use]
    pub fn new(parameters: &MediaParameters, element_bytes: u16, withheld: &[u8]) -> Self {
        let buffer_bytes = parameters.rbuf_bytes;
        let count = (buffer_bytes / u32::from(element_bytes)) as u8;
        let empty = RbufElement {
            holder: ElementHolder::Withheld,
            port: 0,
            bytes: 0,
            sop: false,
            eop: false,
            frame: 0,
            arrived: 0,
            checksum: 0,
        };
        let mut elements = vec![empty; count as usize];
        let pool: VecDeque<u8> = (0..count).filter(|e| !withheld.contains(e)).collect();
        for &element in &pool {
            elements[element as usize].holder = ElementHolder::Pool;
        }
        Self {
            bus: parameters.bus,
            element_bytes,
            words: vec![0; (buffer_bytes / 4) as usize],
            lowest: pool.len() as u64,
            elements,
            pool,
            full: VecDeque::with_capacity(count as usize),
            full_peak: 0,
            closed: 0,
            freed: 0,
        }
    }

    /// Bytes per element.
    #[must_use]
    pub const fn element_bytes(&self) -> u16 {
        self.element_bytes
    }

    /// All elements, in numerical order.
    #[must_use]
    pub fn elements(&self) -> &[RbufElement] {
        &self.elements
    }

    /// An element's longwords.
    #[must_use]
    pub fn contents(&self, element: usize) -> &[u32] {
        let longwords = usize::from(self.element_bytes / 4);
        let rest = self.words.get(element * longwords..).unwrap_or_default();
        &rest[..rest.len().min(longwords)]
    }

    /// Number of elements in the pool.
    #[must_use]
    pub fn free(&self) -> usize {
        self.pool.len()
    }

    /// Number of closed elements that are waiting for a thread.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.full.len()
    }

    /// Takes the element that has been in the pool the longest.
    pub fn allocate(&mut self) -> Option<u8> {
        let element = self.pool.pop_front()?;
        self.elements[element as usize].holder = ElementHolder::Filling;
        self.lowest = self.lowest.min(self.pool.len() as u64);
        Some(element)
    }

    /// Closes an element with its mpacket and appends it to the full list.
    pub fn close(
        &mut self,
        element: u8,
        mpacket: &[u8],
        port: u8,
        sop: bool,
        eop: bool,
        tag: PacketTag,
    ) {
        let start = element as usize * self.element_bytes as usize / 4;
        let checksum = fill(&mut self.words[start..], mpacket);
        self.elements[element as usize] = RbufElement {
            holder: ElementHolder::Full,
            port,
            bytes: mpacket.len() as u16,
            sop,
            eop,
            frame: tag.frame().unwrap_or_default(),
            arrived: tag.arrived().unwrap_or_default(),
            checksum,
        };
        self.full.push_back(element);
        self.full_peak = self.full_peak.max(self.full.len() as u64);
        self.closed += 1;
    }

    /// Hands the element that was closed earliest to a thread.
    pub(crate) fn hand_out(&mut self, me: u8, context: u8, now: Cycle) -> Option<u8> {
        let element = self.full.pop_front()?;
        self.elements[element as usize].holder = ElementHolder::Thread {
            me,
            context,
            since: now,
        };
        Some(element)
    }

    /// Puts an element back into the pool.
    ///
    /// # Errors
    /// Returns the holder if the element is neither held by microcode nor withheld.
    pub fn release(&mut self, element: u8) -> Result<(), ElementHolder> {
        let slot = &mut self.elements[element as usize];
        match slot.holder {
            ElementHolder::Thread { .. } | ElementHolder::Withheld => {
                slot.holder = ElementHolder::Pool;
                self.pool.push_back(element);
                self.freed += 1;
                Ok(())
            }
            holder => Err(holder),
        }
    }

    /// The number by which microcode knows an element. SPI-4 counts in units of 64 bytes, whatever
    /// the element size; SPI-3 counts elements.
    #[must_use]
    pub fn number_of(&self, element: u8) -> u8 {
        match self.bus {
            MediaBus::Spi3 => element,
            MediaBus::Spi4 => (u16::from(element) * (self.element_bytes / MIN_ELEMENT)) as u8,
        }
    }

    /// The element that microcode refers to by a number; `None` if there is none.
    #[must_use]
    pub(crate) fn element_of(&self, number: u32) -> Option<u8> {
        let unit = match self.bus {
            MediaBus::Spi3 => 1,
            MediaBus::Spi4 => u32::from(self.element_bytes / MIN_ELEMENT),
        };
        let element = (number / unit) as usize;
        (number.is_multiple_of(unit) && element < self.elements.len()).then_some(element as u8)
    }

    /// The two status longwords of an element: its number in bits 30-24, byte count in 23-16 (256
    /// is 0), SOP 15, EOP 14, port in 4-0 (7-0 on SPI-4); then the ones-complement sum of the
    /// mpacket's byte pairs. Bit 8, the type of an SPI-4 control word, is 1 for data.
    #[must_use]
    pub fn status(&self, element: u8) -> [u32; 2] {
        let e = &self.elements[element as usize];
        let port = match self.bus {
            MediaBus::Spi3 => u32::from(e.port & 0x1f),
            MediaBus::Spi4 => PAYLOAD_TYPE | u32::from(e.port),
        };
        let word = u32::from(self.number_of(element) & 0x7f) << 24
            | u32::from(e.bytes as u8) << 16
            | u32::from(e.sop) << 15
            | u32::from(e.eop) << 14
            | port;
        [word, u32::from(e.checksum)]
    }

    /// Reads longwords from a byte offset on. Returns the packet tag, which is that of the arrival
    /// if the element holds a frame's first mpacket.
    ///
    /// # Errors
    /// Returns an error if the range is not inside the buffer or not aligned to longwords.
    pub fn read(&self, offset: u32, words: &mut [u32]) -> Result<PacketTag, MsfError> {
        let range = longwords(self.words.len(), offset, words.len())?;
        let element = &self.elements[offset as usize / self.element_bytes as usize];
        words.copy_from_slice(&self.words[range]);
        Ok(if element.sop {
            PacketTag::new(element.frame, element.arrived)
        } else {
            PacketTag::default()
        })
    }

    /// The elements held by microcode.
    pub fn leaks(&self) -> impl Iterator<Item = Leak> + '_ {
        self.elements
            .iter()
            .enumerate()
            .filter_map(|(number, e)| match e.holder {
                ElementHolder::Thread { me, context, since } => Some(Leak {
                    element: self.number_of(number as u8),
                    frame: e.frame,
                    port: e.port,
                    me,
                    context,
                    since,
                }),
                _ => None,
            })
    }
}

/// Indices of `count` longwords from a byte offset on, in a buffer of `size` longwords.
pub(super) fn longwords(
    size: usize,
    offset: u32,
    count: usize,
) -> Result<std::ops::Range<usize>, MsfError> {
    let start = offset as usize / 4;
    let end = start + count;
    if !offset.is_multiple_of(4) {
        return Err(MsfError::Unaligned(offset));
    }
    if end > size || count == 0 {
        return Err(MsfError::OutOfBuffer {
            offset,
            bytes: count as u32 * 4,
        });
    }
    Ok(start..end)
}

/// Writes bytes to longwords, the last of which may be partial. Returns the ones-complement sum of
/// the byte pairs, with an odd last byte padded with zero.
fn fill(words: &mut [u32], bytes: &[u8]) -> u16 {
    // Whole quadwords are summed: after folding, the result is the sum of their 16-bit parts.
    let mut sum = 0;
    let (quadwords, rest) = bytes.as_chunks();
    let (pairs, _) = words.as_chunks_mut();
    for (pair, bytes) in pairs.iter_mut().zip(quadwords) {
        let quadword = u64::from_be_bytes(*bytes);
        *pair = [(quadword >> 32) as u32, quadword as u32];
        sum += u128::from(quadword);
    }
    let mut behind = { words.get_mut(2 * quadwords.len()..) }
        .unwrap_or_default()
        .iter_mut();
    let mut put = |bytes: [u8; 4]| {
        if let Some(word) = behind.next() {
            *word = u32::from_be_bytes(bytes);
            sum += u128::from(*word);
        }
    };
    let (whole, rest) = rest.as_chunks();
    for bytes in whole {
        put(*bytes);
    }
    if !rest.is_empty() {
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        put(last);
    }
    folded(sum)
}

/// Folds a sum of longer words into the equivalent 16-bit ones-complement sum.
fn folded(sum: u128) -> u16 {
    let sum = u128::from(sum as u64) + (sum >> 64);
    let sum = (sum as u64 & 0xffff_ffff) + (sum >> 32) as u64;
    let sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use npsim_profile::Profile;

    fn rbuf(chip: &str, element_bytes: u16, withheld: &[u8]) -> Rbuf {
        let parameters = MediaParameters::new(&Profile::load(chip).unwrap());
        Rbuf::new(&parameters, element_bytes, withheld)
    }

    #[test]
    fn spi4_status_uses_64_byte_units_and_eight_port_bits() {
        let mut rbuf = rbuf("ixp2800", 256, &[]);
        let elements = [rbuf.allocate(), rbuf.allocate()];
        assert_eq!(elements, [Some(0), Some(1)]);
        rbuf.close(
            1,
            &[0x10, 0x20, 0x30],
            0x25,
            true,
            true,
            PacketTag::new(7, 9),
        );
        // RPROT 0, element 4, three bytes, SOP, EOP, no error, type 1, ADR 0x25.
        assert_eq!(rbuf.status(1), [0x0403_c125, 0x4020]);
        assert_eq!(rbuf.element_of(4), Some(1));
        assert_eq!(rbuf.element_of(5), None);
        assert_eq!(rbuf.element_of(124), Some(31));
        assert_eq!(rbuf.element_of(128), None);
    }

    #[test]
    fn spi3_numbers_elements_by_element_size() {
        let rbuf = rbuf("ixp2400", 256, &[]);
        assert_eq!(rbuf.number_of(31), 31);
        assert_eq!(rbuf.element_of(31), Some(31));
        assert_eq!(rbuf.element_of(32), None);
    }

    #[test]
    fn receive_status_words_match_the_hardware_layout() {
        let mut rbuf = rbuf("ixp2400", 64, &[]);
        let element = rbuf.allocate().unwrap();
        assert_eq!(element, 0);
        rbuf.close(0, &[0; 64], 2, true, false, PacketTag::new(7, 9));
        assert_eq!(rbuf.status(0)[0], 0x0040_8002);
        let second = rbuf.allocate().unwrap();
        rbuf.close(
            second,
            &[0x45, 0, 0x10],
            1,
            false,
            true,
            PacketTag::new(7, 9),
        );
        assert_eq!(rbuf.status(1), [0x0103_4001, 0x5500]);
    }

    #[test]
    fn byte_count_of_256_is_encoded_as_zero() {
        let mut rbuf = rbuf("ixp2400", 256, &[0]);
        let element = rbuf.allocate().unwrap();
        rbuf.close(element, &[0xff; 256], 0, true, true, PacketTag::new(0, 9));
        assert_eq!(rbuf.status(element), [0x0100_c000, 0xffff]);
    }

    #[test]
    fn rbuf_elements_are_reused_in_the_order_freed() {
        let mut rbuf = rbuf("ixp2400", 256, &[]);
        for _ in 0..32 {
            let element = rbuf.allocate().unwrap();
            rbuf.close(element, &[1], 0, true, true, PacketTag::new(0, 9));
            rbuf.hand_out(0, 0, 5);
        }
        assert_eq!(rbuf.allocate(), None);
        assert_eq!(rbuf.lowest, 0);
        for element in [7, 3, 30] {
            rbuf.release(element).unwrap();
        }
        assert_eq!(
            [rbuf.allocate(), rbuf.allocate(), rbuf.allocate()],
            [Some(7), Some(3), Some(30)]
        );
        assert_eq!(rbuf.leaks().count(), 29);
    }

    #[test]
    fn checksum_matches_a_naive_sum_for_every_length() {
        for length in 1..=64usize {
            for step in [0, 1, 0x35, 0xff] {
                let bytes: Vec<u8> = (0..length).map(|at| (at * step + step) as u8).collect();
                let mut words = [7; 17];
                let pairs = bytes.chunks(2);
                let pair =
                    |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
                let mut sum: u32 = pairs.map(pair).sum();
                while sum >> 16 != 0 {
                    sum = (sum & 0xffff) + (sum >> 16);
                }
                assert_eq!(u32::from(fill(&mut words, &bytes)), sum, "{bytes:x?}");
                let behind = length.div_ceil(4);
                assert!(words[behind..].iter().all(|word| *word == 7));
                let filled = words[..behind].iter().flat_map(|word| word.to_be_bytes());
                assert!(filled.take(length).eq(bytes.iter().copied()));
            }
        }
    }

    #[test]
    fn freeing_an_rbuf_element_twice_is_refused() {
        let mut rbuf = rbuf("ixp2400", 64, &[0, 9]);
        assert_eq!(rbuf.free(), 126);
        assert_eq!(rbuf.release(1), Err(ElementHolder::Pool));
        rbuf.release(0).unwrap();
        assert_eq!(rbuf.free(), 127);
        let element = rbuf.allocate().unwrap();
        assert_eq!(rbuf.release(element), Err(ElementHolder::Filling));
        rbuf.close(element, &[1], 0, true, true, PacketTag::new(0, 9));
        assert_eq!(rbuf.release(element), Err(ElementHolder::Full));
    }

    #[test]
    fn reads_outside_the_buffer_are_refused() {
        let mut rbuf = rbuf("ixp2400", 64, &[]);
        rbuf.allocate();
        rbuf.close(0, &[1, 2, 3, 4, 5], 0, true, true, PacketTag::new(41, 9));
        let mut words = [0; 2];
        assert_eq!(rbuf.read(0, &mut words), Ok(PacketTag::new(41, 9)));
        assert_eq!(words, [0x0102_0304, 0x0500_0000]);
        assert_eq!(rbuf.read(2, &mut words), Err(MsfError::Unaligned(2)));
        assert_eq!(
            rbuf.read(0x1ffc, &mut words),
            Err(MsfError::OutOfBuffer {
                offset: 0x1ffc,
                bytes: 8
            })
        );
    }
}
