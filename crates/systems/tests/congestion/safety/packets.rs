//! Lists of packets, one for each context, processed by the router's code for a congestion control
//! protocol.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;

use super::bench::{CONTEXTS, Loaded, driver, ensure, run_until, valid_gap};
use npsim_testkit::microcode::Edit;

const FRAME: u32 = 64;
const WRITTEN: u32 = 1 << 31;
const LATEST: Cycle = 100_000_000;

/// Cycles between checks of the running contexts.
const CHECK_INTERVAL: Cycle = 1_511;

/// The offset of the congestion header in a frame, after Ethernet and IPv4.
pub const HEADER: usize = 34;

/// A packet to be forwarded.
#[derive(Clone, Debug)]
pub struct Packet {
    /// IP total length.
    pub size: u16,
    /// IP protocol.
    pub protocol: u8,
    /// The congestion header.
    pub header: Vec<u8>,
    /// Steps of 16 cycles to wait first.
    pub gap: u16,
}

/// A packet that has been forwarded.
#[derive(Clone, Debug)]
pub struct Done {
    pub ticket: u32,
    /// The congestion header afterwards.
    pub header: Vec<u8>,
}

/// Contexts with their lists of packets, running.
pub struct Packets {
    pub chip: Chip,
    pub loaded: Loaded,
    pub lists: Vec<Vec<Packet>>,
    /// How many of each context's packets are done.
    pub seen: Vec<usize>,
    room: u32,
}

impl Packets {
    /// Assembles the driver and stores the packets; the length of each list is the same power of
    /// two.
    pub fn new(
        microengines: u32,
        defines: &[(&str, u32)],
        edits: &[Edit],
        packet: impl Fn(u32, u32) -> Packet,
        room: u32,
    ) -> Self {
        assert!(room.is_power_of_two());
        let mut all = vec![("LIST_LOG", room.ilog2())];
        all.extend_from_slice(defines);
        let loaded = driver("packets", microengines, &all, edits);
        let contexts = microengines * CONTEXTS;
        let list = |context| (0..room).map(|index| packet(context, index)).collect();
        let mut packets = Self {
            chip: loaded.chip.clone(),
            lists: (0..contexts).map(list).collect(),
            seen: vec![0; contexts as usize],
            room,
            loaded,
        };
        for context in 0..contexts as usize {
            for index in 0..room as usize {
                let packet = packets.lists[context][index].clone();
                let mut frame = vec![0; FRAME as usize];
                frame[14] = 0x45;
                frame[16..18].copy_from_slice(&packet.size.to_be_bytes());
                frame[23] = packet.protocol;
                frame[HEADER..HEADER + packet.header.len()].copy_from_slice(&packet.header);
                let (note, at) = packets.places(context, index);
                assert!(packets.chip.units_mut().dram.write_bytes(at, &frame));
                assert!(
                    packets
                        .chip
                        .units_mut()
                        .sram
                        .write_word(note, u32::from(valid_gap(packet.gap)) << 16)
                );
            }
        }
        packets
    }

    /// Where a packet's note and its frame are.
    fn places(&self, context: usize, index: usize) -> (u32, u32) {
        let number = context as u32 * self.room + index as u32;
        let notes = self.loaded.value("NOTES") + 4 * number;
        (notes, self.loaded.value("FRAMES") + FRAME * number)
    }

    pub fn scratch(&self, name: &str, word: u32) -> u32 {
        let at = self.loaded.value(name) + 4 * word;
        self.chip.units().scratch.read(at).unwrap()
    }

    pub fn set_scratch(&mut self, name: &str, word: u32, value: u32) {
        let at = self.loaded.value(name) + 4 * word;
        assert!(self.chip.units_mut().scratch.write(at, value));
    }

    /// Runs to the end, with checks during the run and at the end; returns the results of each
    /// context's packets.
    pub fn run(
        &mut self,
        mut look: impl FnMut(&mut Self) -> Result<(), String>,
    ) -> Result<Vec<Vec<Done>>, String> {
        loop {
            let until = self.chip.now() + CHECK_INTERVAL;
            let quiet = run_until(&mut self.chip, until)?;
            for context in 0..self.lists.len() {
                while self.seen[context] < self.room as usize {
                    let (note, _) = self.places(context, self.seen[context]);
                    if self.chip.units().sram.read_word(note).unwrap() & WRITTEN == 0 {
                        break;
                    }
                    self.seen[context] += 1;
                }
            }
            look(self)?;
            if quiet {
                break;
            }
            ensure(self.chip.now() < LATEST, || "does not end".into())?;
        }
        let all = self.seen.iter().all(|seen| *seen == self.room as usize);
        ensure(all, || "packets were never done".into())?;
        let done = |context, index| {
            let (note, frame) = self.places(context, index);
            let length = self.lists[context][index].header.len();
            Done {
                ticket: self.chip.units().sram.read_word(note).unwrap() & !WRITTEN,
                header: self
                    .chip
                    .units()
                    .dram
                    .read_bytes(frame + HEADER as u32, length)
                    .unwrap(),
            }
        };
        let contexts = 0..self.lists.len();
        Ok(contexts
            .map(|context| {
                (0..self.room as usize)
                    .map(|index| done(context, index))
                    .collect()
            })
            .collect())
    }
}
