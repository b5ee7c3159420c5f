//! A chip without programs, for testing slow-path tasks: the test accesses the shared
//! memory as microengines would.

use npsim_chip::Cycle;
use npsim_chip::gpp::boot::{BootPlan, ExceptionsSetup, QueueSetup, RingSetup, RingStatus};
use npsim_chip::gpp::exceptions::Exceptions;
use npsim_chip::gpp::{Gpp, LoadError, LongwordAddress};
use npsim_chip::kernel::buffers::BufferSetup;
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::units::Units;
use npsim_chip::units::msf::MediaSetup;
use npsim_profile::Profile;

const BUFFERS: BufferSetup = BufferSetup {
    channel: 0,
    entry: 3,
    first_descriptor: 0x40,
    descriptor_longwords: 4,
    count: 16,
    size: 2048,
    shift: 9,
};

/// A boot plan with a free list, a ring for exception packets and the task that polls
/// it.
#[must_use]
pub fn plan() -> BootPlan {
    BootPlan {
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
        ..BootPlan::default()
    }
}

/// The parts of the chip that tests use.
#[derive(Debug)]
pub struct Bench {
    /// The event queue and the buses.
    pub fabric: Fabric,
    /// The memories and rings.
    pub units: Units,
    /// The core with its tasks.
    pub gpp: Gpp,
}

/// Loads an IXP2400 as `boot` specifies.
///
/// # Errors
/// Returns an error if a task does not fit the chip.
///
/// # Panics
/// Panics if the chip's profile cannot be read.
pub fn load(boot: &BootPlan) -> Result<Bench, LoadError> {
    load_on(&Profile::load("ixp2400").unwrap(), boot)
}

/// Loads a chip as `boot` specifies.
///
/// # Errors
/// Returns an error if a task does not fit the chip.
pub fn load_on(profile: &Profile, boot: &BootPlan) -> Result<Bench, LoadError> {
    let mut bench = Bench {
        units: Units::new(profile, &MediaSetup::default()),
        gpp: Gpp::new(profile, boot),
        fabric: Fabric::new(profile.clone(), Units::inlets),
    };
    let units = &mut bench.units;
    boot.load(
        profile,
        &mut bench.fabric,
        &mut units.scratch,
        &mut units.sram,
        &mut units.dram,
        &mut bench.gpp,
    )?;
    Ok(bench)
}

impl Bench {
    /// Runs the core's events. Timers keep running even if nothing else is pending, as
    /// they do beside microengines.
    pub fn run_until(&mut self, until: Cycle) {
        while self.fabric.events.next_time() < until {
            if let Some((time, Event::Gpp(task))) = self.fabric.events.pop() {
                self.fabric.now = time;
                self.gpp.event(task, &mut self.fabric, &mut self.units);
            }
        }
        self.fabric.now = until;
    }

    /// Returns longword number `word` after `place`.
    ///
    /// # Panics
    /// Panics if there is no memory at this address.
    #[must_use]
    pub fn word(&self, place: LongwordAddress, word: u32) -> u32 {
        let place = place.after(4 * word);
        place
            .peek_word(&self.units.scratch, &self.units.sram)
            .unwrap()
    }

    /// Returns the longwords from `place` on.
    #[must_use]
    pub fn words<const N: usize>(&self, place: LongwordAddress) -> [u32; N] {
        std::array::from_fn(|word| self.word(place, word as u32))
    }

    /// Writes longword number `word` after `place`.
    ///
    /// # Panics
    /// Panics if there is no memory at this address.
    pub fn set(&mut self, place: LongwordAddress, word: u32, value: u32) {
        let (place, units) = (place.after(4 * word), &mut self.units);
        assert!(place.put(value, &mut units.scratch, &mut units.sram));
    }

    /// Adds to longword number `word` after `place`.
    pub fn add(&mut self, place: LongwordAddress, word: u32, value: i32) {
        let old = self.word(place, word);
        self.set(place, word, old.wrapping_add_signed(value));
    }
}
