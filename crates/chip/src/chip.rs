//! The chip: its microengines and units, and how a run begins, pauses and ends. The event loop is
//! in `chip/events.rs`.

mod events;

use npsim_isa::{CONTEXTS, ContextSet};
use serde::{Deserialize, Serialize};

use crate::Cycle;
use crate::core::{Core, CoreKind, Program, WaitInfo};
use crate::gpp::boot::BootPlan;
use crate::gpp::routes::{ChangeError, RouteChange};
use crate::gpp::{Gpp, LoadError, MemoryImage, load_image};
use crate::kernel::check::{Check, Fault};
use crate::kernel::fabric::Fabric;
use crate::kernel::fault_injection::{LAST_CYCLE, Perturbations};
use crate::kernel::lock::Lock;
use crate::kernel::observer::Observer;
use crate::kernel::port_io::PortIo;
use crate::kernel::remote_access::RemoteAccess;
use crate::periodic_skip::{Bounds, SkipPolicy};
use crate::units::Units;
use crate::units::msf::MediaSetup;
use npsim_profile::Profile;

/// Why [`Chip::run`] returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The requested cycle was reached.
    Reached,
    /// No events are pending: no more frames will arrive, and every context sleeps, is killed or
    /// waits for a frame.
    Quiet,
    /// A check or an invalid instruction stopped the chip.
    Fault(Box<Fault>),
}

/// Why a chip could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChipError {
    /// A program was given for a microengine that the chip lacks.
    #[error("there is no microengine {index}: this chip has microengines 0 to {last}")]
    NoSuchMicroengine {
        /// The requested index.
        index: u8,
        /// Index of the chip's last microengine.
        last: u8,
    },
    /// Two programs were given for one microengine.
    #[error("microengine {index} was given two programs")]
    TwoPrograms {
        /// Index of the microengine.
        index: u8,
    },
    /// A stall was requested for a context that does not run.
    #[error("context {context} of microengine {me} does not run, so it cannot be stalled")]
    NoSuchContext {
        /// Index of the microengine.
        me: u8,
        /// Index of the context.
        context: u8,
    },
    /// The boot plan does not fit the chip.
    #[error(transparent)]
    Boot(#[from] LoadError),
}

/// A chip with programs loaded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chip {
    /// Buses, events and commands in flight.
    pub(crate) fabric: Fabric,
    /// The microengines, in index order. Each one saves its own state.
    #[serde(skip)]
    pub(crate) microengines: Vec<Box<dyn Core>>,
    /// Memories, media interface and the other units.
    pub(crate) units: Units,
    /// The general-purpose core.
    pub(crate) gpp: Gpp,
    /// Whether and when the chip skips time.
    #[serde(skip)]
    pub(crate) skip_policy: SkipPolicy,
    /// Whether unknown frames may still arrive, in which case no event can be taken for the last
    /// one.
    #[serde(skip)]
    pub(crate) open: bool,
    /// Where the run paused, or 0: everything before this cycle is counted.
    paused: Cycle,
}

impl Chip {
    /// Creates a chip at cycle 0 with this kind of core in every microengine: the boot plan
    /// executed, the programs loaded and their contexts ready to run.
    ///
    /// # Errors
    /// Returns an error if a program's microengine does not exist or already has a program, or if
    /// the boot plan does not fit the chip.
    pub fn new(
        kind: CoreKind,
        profile: Profile,
        boot: &BootPlan,
        programs: Vec<(u8, Program)>,
    ) -> Result<Self, ChipError> {
        boot.check_media()?;
        let count = profile.microengines();
        let media = MediaSetup {
            ports: &boot.ports,
            element_size: boot.element_size,
            transmit_element_size: boot.transmit_element_size,
        };
        let mut chip = Self {
            microengines: (0..count)
                .map(|index| (kind.make)(index, &profile))
                .collect(),
            units: Units::new(&profile, &media),
            gpp: Gpp::new(&profile, boot),
            skip_policy: SkipPolicy::default(),
            open: false,
            paused: 0,
            fabric: Fabric::new(profile, Units::inlets),
        };
        let profile = chip.fabric.profile.clone();
        boot.load(
            &profile,
            &mut chip.fabric,
            &mut chip.units.scratch,
            &mut chip.units.sram,
            &mut chip.units.dram,
            &mut chip.gpp,
        )?;
        for initial in { programs.iter() }.flat_map(|(_, it)| &it.image().initial_memory) {
            load_image(
                &MemoryImage::of_program(initial),
                &mut chip.units.scratch,
                &mut chip.units.sram,
                &mut chip.units.dram,
            )?;
        }
        let mut loaded = vec![false; usize::from(count)];
        let exposed = programs
            .iter()
            .fold(RemoteAccess::default(), |all, (_, it)| all | it.exposes());
        for (index, program) in programs {
            let Some(taken) = loaded.get_mut(usize::from(index)) else {
                return Err(ChipError::NoSuchMicroengine {
                    index,
                    last: count - 1,
                });
            };
            if std::mem::replace(taken, true) {
                return Err(ChipError::TwoPrograms { index });
            }
            chip.microengines[usize::from(index)].load(program);
        }
        for (microengine, _) in chip
            .microengines
            .iter_mut()
            .zip(loaded)
            .filter(|(_, loaded)| *loaded)
        {
            microengine.expose(exposed);
            microengine.start(ContextSet::ALL, &mut chip.fabric);
        }
        chip.disturb(&boot.disturbances)?;
        // No run has begun yet.
        chip.fabric.horizon = 0;
        Ok(chip)
    }

    /// Gives `PSEUDO_RANDOM_NUMBER` a different initial value in each microengine. Equal seeds give
    /// equal values; without a seed, the register starts at 1 in all microengines.
    pub fn seed(&mut self, seed: u64) {
        for (index, microengine) in (0..).zip(&mut self.microengines) {
            microengine.seed_random(start_value(seed, index));
        }
    }

    fn disturb(&mut self, disturbances: &Perturbations) -> Result<(), ChipError> {
        self.fabric.disturb(disturbances.late);
        for stall in &disturbances.stalls {
            let (me, context) = (stall.me, stall.context);
            let mut stall = *stall;
            stall.until = stall.until.min(LAST_CYCLE);
            let microengine = self.microengines.get_mut(usize::from(me));
            if context >= CONTEXTS || !microengine.is_some_and(|it| it.stall(stall)) {
                return Err(ChipError::NoSuchContext { me, context });
            }
        }
        Ok(())
    }

    /// The fault injection active on this chip.
    #[must_use]
    pub fn disturbances(&self) -> Perturbations {
        let stalls = self.microengines.iter().flat_map(|me| me.stalls());
        Perturbations {
            late: self.fabric.lateness(),
            stalls: stalls.copied().collect(),
        }
    }

    /// The profile of the chip.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.fabric.profile
    }

    /// The chip's current cycle.
    #[must_use]
    pub const fn now(&self) -> Cycle {
        self.fabric.now
    }

    /// Bounds the pause cycle, which a state file can set to any value.
    pub(crate) fn limit_pause(&mut self) {
        self.paused = self.paused.min(LAST_CYCLE);
    }

    /// The cycle up to which the chip's counts are complete: the pause, if the run paused, which
    /// can be later than the last event before it.
    #[must_use]
    pub fn counts_complete_until(&self) -> Cycle {
        self.fabric
            .now
            .max(self.paused.min(self.fabric.events.next_time()))
    }

    /// Buses, events and commands in flight.
    #[must_use]
    pub const fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// The microengines, in index order.
    #[must_use]
    pub fn microengines(&self) -> &[Box<dyn Core>] {
        &self.microengines
    }

    /// Memories, media interface and the other units.
    #[must_use]
    pub const fn units(&self) -> &Units {
        &self.units
    }

    /// The units, for changes from outside, such as a debugger's writes to memory between two runs.
    pub const fn units_mut(&mut self) -> &mut Units {
        &mut self.units
    }

    /// A microengine, for changes to its registers and local memory from outside between two runs.
    pub fn microengine_mut(&mut self, index: u8) -> Option<&mut dyn Core> {
        let core = self.microengines.get_mut(usize::from(index))?;
        Some(&mut **core)
    }

    /// Declares that unknown frames may arrive while the chip runs: the timers of the
    /// general-purpose core then continue even if nothing else is pending.
    pub fn keep_open(&mut self) {
        self.open = true;
    }

    /// Gives the task that maintains the routes one more change, at the chip's current cycle or
    /// later. When the change is given makes no difference: the run is the same as if it had been
    /// known before the start.
    ///
    /// # Errors
    /// Returns an error if the change's cycle has passed, the chip takes no changes while it runs,
    /// or the change conflicts with the others; the chip is then unchanged.
    pub fn append_route_change(&mut self, change: RouteChange) -> Result<(), ChangeError> {
        let (at, now) = (change.at, self.counts_complete_until());
        if at < now {
            return Err(ChangeError::TooLate { at, now });
        }
        self.gpp.append_route_change(change, &mut self.fabric)
    }

    /// The general-purpose core.
    #[must_use]
    pub const fn gpp(&self) -> &Gpp {
        &self.gpp
    }

    /// The general-purpose core, for changes to its tasks from outside between two runs.
    pub const fn gpp_mut(&mut self) -> &mut Gpp {
        &mut self.gpp
    }

    /// Lets microcode do what this check would otherwise stop the chip for.
    pub fn allow(&mut self, check: Check) {
        self.fabric.checks.allow(check);
    }

    /// Lets microcode do what these checks, and only these, would otherwise stop the chip for.
    pub fn set_allowed(&mut self, checks: &[Check]) {
        self.fabric.checks.set_allowed(checks);
    }

    /// The fault that stopped the chip, if any.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        self.fabric.checks.fault()
    }

    /// The current fault, so that an analysis of the whole chip can add notes to it.
    pub fn fault_mut(&mut self) -> Option<&mut Fault> {
        self.fabric.checks.fault_mut()
    }

    /// Records a fault found by an analysis of the chip, as [`Checks::raise`] does.
    ///
    /// [`Checks::raise`]: crate::kernel::check::Checks::raise
    pub fn raise(&mut self, fault: Fault) {
        self.fabric.checks.raise(fault);
    }

    /// Raises [`Check::RbufLeak`] if threads still hold RBUF elements; for the end of a run that
    /// has drained.
    pub fn raise_leaks(&mut self) {
        self.units.msf.raise_leaks(&mut self.fabric);
    }

    /// The longwords watched as locks, unit by unit.
    pub fn locks(&self) -> impl Iterator<Item = &Lock> {
        self.units.locks()
    }

    /// The cycle of the next event; `Cycle::MAX` if none is pending.
    #[must_use]
    pub fn next_event(&self) -> Cycle {
        self.fabric.events.next_time()
    }

    /// Runs until every event before `until` is handled. Running in steps gives the same states as
    /// running in one go.
    pub fn run(
        &mut self,
        until: Cycle,
        lines: &mut dyn PortIo,
        observer: &mut dyn Observer,
    ) -> Stop {
        loop {
            if let Some(stop) = self.run_or_pause(until, Cycle::MAX, lines, observer) {
                return stop;
            }
        }
    }

    /// Runs as [`Self::run`] does, but returns `None` before the first event at or after `pause`.
    /// Unlike an earlier `until`, a pause leaves the chip entirely unaffected: microengines still
    /// run ahead of it.
    pub fn run_or_pause(
        &mut self,
        until: Cycle,
        pause: Cycle,
        lines: &mut dyn PortIo,
        observer: &mut dyn Observer,
    ) -> Option<Stop> {
        self.run_for(until, pause, Cycle::MAX, lines, observer)
    }

    /// Runs as [`Self::run_or_pause`] does, but also returns `None` before the first event at or
    /// after `progress_at`, for callers with periodic work that does not affect the run. When time
    /// is skipped, that event may be much later than `progress_at`; [`Self::next_event`] shows
    /// whether `pause` was reached.
    pub fn run_for(
        &mut self,
        until: Cycle,
        pause: Cycle,
        progress_at: Cycle,
        lines: &mut dyn PortIo,
        observer: &mut dyn Observer,
    ) -> Option<Stop> {
        self.fabric.watch(observer.wants());
        let observed = self.fabric.trace.is_open();
        let bounds = Bounds {
            until,
            pause,
            progress_at,
        };
        self.paused = 0;
        let stop = if observed {
            self.advance::<true>(bounds, lines, observer)
        } else {
            self.advance::<false>(bounds, lines, observer)
        };
        if stop.is_none() && self.fabric.events.next_time() >= pause {
            self.paused = pause;
        }
        for core in &mut self.microengines {
            core.forget_before(self.fabric.now);
        }
        if !observed {
            return stop;
        }
        let trace = &mut self.fabric.trace;
        match stop {
            // Work that microengines did ahead of the end, or that units scheduled after it, is not
            // part of the run.
            Some(Stop::Fault(_) | Stop::Quiet) => {
                trace.flush(self.fabric.now + 1, observer);
                trace.discard_rest();
            }
            // The stop may come before `until`: a departing frame can bring the end closer.
            Some(Stop::Reached) => trace.flush(self.fabric.now, observer),
            None => trace.flush(pause.min(self.fabric.events.next_time()), observer),
        }
        stop
    }

    /// Advances to the end of the run, or stops at the pause, when no event is left before it.
    fn run_out(&mut self, until: Cycle) -> Option<Stop> {
        if self.fabric.events.next_time() < until {
            // Unlike the end of a run, a pause does not move `now`: the run continues as if it had
            // never paused.
            return None;
        }
        if self.fabric.events.is_empty() {
            return Some(self.quiet());
        }
        self.fabric.now = until;
        self.fabric.events.advance_to(until);
        Some(Stop::Reached)
    }

    /// The reason to stop a chip with no pending events and no frames to come. Contexts that exited
    /// or wait for a frame are idle; if none waits for a frame, a context that waits for a signal
    /// waits forever.
    fn quiet(&mut self) -> Stop {
        let mut stuck = None;
        for (me, microengine) in (0..).zip(&self.microengines) {
            for context in 0..CONTEXTS {
                let Some(wait) = microengine
                    .waiting(context)
                    .filter(|wait| !wait.is_killed())
                else {
                    continue;
                };
                if self.units.msf.is_waiting(me, context) {
                    return Stop::Quiet;
                }
                stuck.get_or_insert((me, context, wait));
            }
        }
        let Some((me, context, wait)) = stuck else {
            return Stop::Quiet;
        };
        let fault = self.deadlock(me, context, &wait);
        self.fabric.checks.raise(fault);
        match self.fabric.checks.fault() {
            Some(fault) => Stop::Fault(Box::new(fault.clone())),
            None => Stop::Quiet,
        }
    }

    /// Builds the fault of a chip in which every context sleeps, this one forever.
    fn deadlock(&self, me: u8, context: u8, wait: &WaitInfo) -> Fault {
        let since = self.microengines[usize::from(me)].context(context).since;
        // A core that runs alone may be a few cycles ahead.
        let since = since.min(self.now());
        let states = self.microengines.iter();
        Fault {
            check: Some(Check::Deadlock),
            cycle: self.now(),
            me: Some(me),
            context: Some(context),
            pc: Some(wait.at),
            message: format!(
                "every context sleeps and nothing is pending that could wake one; microengine {me} context {context} waits for {}, since cycle {since}",
                wait.missing.join(if wait.any { " or " } else { " and " })
            ),
            notes: states.flat_map(|core| core.state_report()).collect(),
            help: Some(
                "look for the command, or the other context, that should have raised the signal; `npsim debug` goes back to it: `why` there, and `who` for who raised it last"
                    .to_owned(),
            ),
            also: Vec::new(),
        }
    }
}

/// Derives a microengine's own 32-bit value from a seed with the final steps of `SplitMix64`, so
/// that nearby seeds and neighbouring microengines get unrelated values.
fn start_value(seed: u64, me: u64) -> u32 {
    let mut bits = seed.wrapping_add((me + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::start_value;

    #[test]
    fn random_start_values_are_unique_per_seed_and_microengine() {
        let mut values: Vec<_> = (0..64)
            .flat_map(|seed| (0..8).map(move |me| start_value(seed, me)))
            .collect();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), 512);
    }
}
