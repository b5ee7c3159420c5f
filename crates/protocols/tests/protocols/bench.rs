//! A chip without programs: the test does to the shared memory what microengines
//! would do.

use std::ops::{Deref, DerefMut};

use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, ChipError};
use npsim_chip::gpp::Place;
use npsim_chip::gpp::boot::{
    Boot, BufferSetup, ExceptionsSetup, QueueSetup, RingSetup, RingStatus,
};
use npsim_chip::gpp::exceptions::Exceptions;
use npsim_chip::kernel::event::Event;
use npsim_chip::profile::Profile;

const BUFFERS: BufferSetup = BufferSetup {
    channel: 0,
    entry: 3,
    first_descriptor: 0x40,
    descriptor_longwords: 4,
    count: 16,
    size: 2048,
    shift: 9,
};

/// A free list, a ring for exception packets and the task that polls it.
pub fn plan() -> Boot {
    Boot {
        rings: vec![RingSetup {
            number: 2,
            base: 0x400,
            size: 128,
            status: RingStatus::Empty,
        }],
        queues: vec![QueueSetup {
            channel: 0,
            entry: 3,
            descriptor: 0x20,
        }],
        buffers: Some(BUFFERS),
        element_size: 64,
        tasks: vec![Box::new(Exceptions::new(ExceptionsSetup {
            ring: 2,
            period: 1200,
            reasons: vec![String::new(), "ttl".to_owned()],
            buffers: BUFFERS,
        }))],
        ..Boot::default()
    }
}

pub struct Bench {
    chip: Chip,
}

impl Deref for Bench {
    type Target = Chip;

    fn deref(&self) -> &Chip {
        &self.chip
    }
}

impl DerefMut for Bench {
    fn deref_mut(&mut self) -> &mut Chip {
        &mut self.chip
    }
}

pub fn load(boot: &Boot) -> Result<Bench, ChipError> {
    let profile = Profile::load("ixp2400").unwrap();
    let chip = Chip::new(profile, boot, Vec::new())?;
    Ok(Bench { chip })
}

impl Bench {
    /// Gives the core its turns. Timers go on although nothing else is pending, as
    /// beside microengines.
    pub fn run_until(&mut self, until: Cycle) {
        let chip = &mut self.chip;
        while chip.fabric.events.next_time() < until {
            if let Some((time, Event::Gpp(task))) = chip.fabric.events.pop() {
                chip.fabric.now = time;
                chip.gpp.event(
                    task,
                    &mut chip.fabric,
                    &mut chip.scratch,
                    &mut chip.sram,
                    &mut chip.dram,
                );
            }
        }
        chip.fabric.now = until;
    }

    pub fn word(&self, place: Place, word: u32) -> u32 {
        let chip = &self.chip;
        let place = place.after(4 * word);
        place.look(&chip.scratch, &chip.sram).unwrap()
    }

    pub fn words<const N: usize>(&self, place: Place) -> [u32; N] {
        std::array::from_fn(|word| self.word(place, word as u32))
    }

    pub fn set(&mut self, place: Place, word: u32, value: u32) {
        let (place, chip) = (place.after(4 * word), &mut self.chip);
        assert!(place.put(value, &mut chip.scratch, &mut chip.sram));
    }

    pub fn add(&mut self, place: Place, word: u32, value: i32) {
        let old = self.word(place, word);
        self.set(place, word, old.wrapping_add_signed(value));
    }
}
