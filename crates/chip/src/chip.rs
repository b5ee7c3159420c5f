//! The chip: microengines, units, and how a run begins, pauses and ends. The event loop stands
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

/// Why [`Chip::run`] came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The cycle that was asked for is reached.
    Reached,
    /// No events are pending: no frame is to come and every context
    /// sleeps, is killed or waits for a frame.
    Quiet,
    /// A check or an impossible instruction stopped the chip.
    Fault(Box<Fault>),
}

/// Why a chip could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChipError {
    /// A program is for a microengine that the chip lacks.
    #[error("there is no microengine {index}: this chip has microengines 0 to {last}")]
    NoSuchMicroengine {
        /// What was asked for.
        index: u8,
        /// The last there is.
        last: u8,
    },
    /// Two programs are for one microengine.
    #[error("microengine {index} was given two programs")]
    TwoPrograms {
        /// Which one.
        index: u8,
    },
    /// A context is to be stalled that does not run.
    #[error("context {context} of microengine {me} does not run, so it cannot be stalled")]
    NoSuchContext {
        /// Index of the microengine.
        me: u8,
        /// The context.
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
    /// The microengines in the order of their index. Each saves its state itself.
    #[serde(skip)]
    pub(crate) microengines: Vec<Box<dyn Core>>,
    /// Memories, media interface and the other units.
    pub(crate) units: Units,
    /// The general-purpose core.
    pub(crate) gpp: Gpp,
    /// Whether and when it skips time.
    #[serde(skip)]
    pub(crate) skip_policy: SkipPolicy,
    /// Whether frames may come that are not known, so that nothing is the last to happen.
    #[serde(skip)]
    pub(crate) open: bool,
    /// Where the run pauses, if it does: all that happens before is counted.
    paused: Cycle,
}

impl Chip {
    /// A chip at cycle 0 with this kind of core in all microengines: the boot plan carried out,
    /// the programs loaded, their contexts ready to run.
    ///
    /// # Errors
    /// A program's microengine is not there or has one already, or the boot
    /// plan does not fit the chip.
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
        // No run has begun.
        chip.fabric.horizon = 0;
        Ok(chip)
    }

    /// Makes `PSEUDO_RANDOM_NUMBER` begin at another value in every microengine.
    /// Equal seeds give equal values; without one the register begins at 1
    /// in all of them.
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

    /// What disturbs this chip.
    #[must_use]
    pub fn disturbances(&self) -> Perturbations {
        let stalls = self.microengines.iter().flat_map(|me| me.stalls());
        Perturbations {
            late: self.fabric.lateness(),
            stalls: stalls.copied().collect(),
        }
    }

    /// The chip as data.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.fabric.profile
    }

    /// The cycle that the chip is at.
    #[must_use]
    pub const fn now(&self) -> Cycle {
        self.fabric.now
    }

    /// A file may say anything of where the run paused.
    pub(crate) fn limit_pause(&mut self) {
        self.paused = self.paused.min(LAST_CYCLE);
    }

    /// The cycle up to which it has counted: where it pauses, if it does, which may lie behind
    /// the last event before.
    #[must_use]
    pub fn counted_to(&self) -> Cycle {
        self.fabric
            .now
            .max(self.paused.min(self.fabric.events.next_time()))
    }

    /// Buses, events and commands in flight.
    #[must_use]
    pub const fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// The microengines in the order of their index.
    #[must_use]
    pub fn microengines(&self) -> &[Box<dyn Core>] {
        &self.microengines
    }

    /// Memories, media interface and the other units.
    #[must_use]
    pub const fn units(&self) -> &Units {
        &self.units
    }

    /// The units, for changes from outside: of memory between two runs, as a
    /// debugger makes them.
    pub const fn units_mut(&mut self) -> &mut Units {
        &mut self.units
    }

    /// A microengine, for changes of its registers and local memory from outside between
    /// two runs.
    pub fn microengine_mut(&mut self, index: u8) -> Option<&mut dyn Core> {
        let core = self.microengines.get_mut(usize::from(index))?;
        Some(&mut **core)
    }

    /// Frames may come that are not known while the chip runs: the timers of the general-purpose
    /// core go on where nothing else is pending.
    pub fn keep_open(&mut self) {
        self.open = true;
    }

    /// Gives the task that keeps the routes one more change, at the cycle that the chip has come to
    /// or later. When it is given changes nothing: the run is that of a chip to which the same
    /// changes were known before the start.
    ///
    /// # Errors
    /// The chip has come to a later cycle, takes no changes while it runs, or the change cannot be
    /// made among the others; nothing has changed then.
    pub fn append_route_change(&mut self, change: RouteChange) -> Result<(), ChangeError> {
        let (at, now) = (change.at, self.counted_to());
        if at < now {
            return Err(ChangeError::Over { at, now });
        }
        self.gpp.append_route_change(change, &mut self.fabric)
    }

    /// The general-purpose core.
    #[must_use]
    pub const fn gpp(&self) -> &Gpp {
        &self.gpp
    }

    /// The general-purpose core, for changes of its tasks from outside between two runs.
    pub const fn gpp_mut(&mut self) -> &mut Gpp {
        &mut self.gpp
    }

    /// Lets microcode do what a check would stop the chip for.
    pub fn allow(&mut self, check: Check) {
        self.fabric.checks.allow(check);
    }

    /// Lets microcode do what these checks would stop the chip for, and nothing else.
    pub fn set_allowed(&mut self, checks: &[Check]) {
        self.fabric.checks.set_allowed(checks);
    }

    /// What stopped the chip, if anything did.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        self.fabric.checks.fault()
    }

    /// The fault that stands, for what an analysis of the whole chip adds to its notes.
    pub fn fault_mut(&mut self) -> Option<&mut Fault> {
        self.fabric.checks.fault_mut()
    }

    /// Records a fault that an analysis of the chip has found, as [`Checks::raise`] does.
    ///
    /// [`Checks::raise`]: crate::kernel::check::Checks::raise
    pub fn raise(&mut self, fault: Fault) {
        self.fabric.checks.raise(fault);
    }

    /// Raises [`Check::RbufLeak`] when threads still have RBUF elements: for the
    /// end of a run that has drained.
    pub fn raise_leaks(&mut self) {
        self.units.msf.raise_leaks(&mut self.fabric);
    }

    /// The longwords that are watched as locks, unit by unit.
    pub fn locks(&self) -> impl Iterator<Item = &Lock> {
        self.units.locks()
    }

    /// The cycle of the next event; `Cycle::MAX` if none is pending.
    #[must_use]
    pub fn next_event(&self) -> Cycle {
        self.fabric.events.next_time()
    }

    /// Runs until every event before `until` is handled. Running in steps gives
    /// the same states as running through.
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

    /// Runs as [`Self::run`] does, but comes back with `None` before the first event at `pause` or
    /// later. Unlike an earlier `until`, a pause changes nothing at all in the
    /// chip: microengines still run ahead of it.
    pub fn run_or_pause(
        &mut self,
        until: Cycle,
        pause: Cycle,
        lines: &mut dyn PortIo,
        observer: &mut dyn Observer,
    ) -> Option<Stop> {
        self.run_for(until, pause, Cycle::MAX, lines, observer)
    }

    /// Runs as [`Self::run_or_pause`] does, but also comes back with `None` before the first event at `progress_at`
    /// or later: for callers with periodic work on which the
    /// run does not depend. Where time is skipped, that event may lie far behind
    /// `progress_at`; whether `pause` is reached, [`Self::next_event`] says.
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
            // What microengines did ahead of the end, and what units booked
            // behind it, is no part of the run.
            Some(Stop::Fault(_) | Stop::Quiet) => {
                trace.flush(self.fabric.now + 1, observer);
                trace.discard_rest();
            }
            // The stop may lie before `until`: a frame that leaves can bring the end nearer.
            Some(Stop::Reached) => trace.flush(self.fabric.now, observer),
            None => trace.flush(pause.min(self.fabric.events.next_time()), observer),
        }
        stop
    }

    /// Advances to the end of the run, or to the pause, when no event is left before it.
    fn run_out(&mut self, until: Cycle) -> Option<Stop> {
        if self.fabric.events.next_time() < until {
            // Unlike the end of a run, a pause does not move `now`: the run goes on as if it
            // had never come.
            return None;
        }
        if self.fabric.events.is_empty() {
            return Some(self.quiet());
        }
        self.fabric.now = until;
        self.fabric.events.advance_to(until);
        Some(Stop::Reached)
    }

    /// The stop of a chip without pending events and without frames to come. Contexts that wait for a
    /// frame, or exited, are idle; if none of the former is left, a context that still waits for a
    /// signal waits for ever.
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

    /// The fault of a chip in which every context sleeps, and this one for ever.
    fn deadlock(&self, me: u8, context: u8, wait: &WaitInfo) -> Fault {
        let since = self.microengines[usize::from(me)].context(context).since;
        // A core that is alone may have run a few cycles ahead.
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

/// A microengine's own 32 bits of a seed: the last steps of `SplitMix64`, so that
/// near seeds and neighbours get values that have nothing in common.
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
    fn seeds_and_microengines_have_values_of_their_own() {
        let mut values: Vec<_> = (0..64)
            .flat_map(|seed| (0..8).map(move |me| start_value(seed, me)))
            .collect();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), 512);
    }
}
