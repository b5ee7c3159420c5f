//! A network that contains whole chips: scheduling of its parts.
//!
//! The packets between chips are simulated as one part, the outside, and each chip as another. The
//! effect of one part reaches another over a link, which takes the link's delay; so each part may run
//! up to the earliest time at which something could still reach it (conservative windows, with Chandy
//! and Misra's look-ahead):
//!
//! - the outside does nothing before its next event, and anything it then sends reaches a chip after
//!   the link's delay;
//! - a chip sends nothing before the cycle that it has reached, and once the engine has found that its
//!   state recurs, nothing until something arrives ([`Node::silent_until`]);
//! - a chip that sends stops before an answer could arrive.
//!
//! An idle chip is therefore run in long pieces or not at all, and the engine skips the recurring
//! states in them. The windows depend only on the simulation, never on the host, and no event depends
//! on where a window ends: frames arrive at chips in the order of their first bits and then of ports,
//! and simultaneous events from several chips are ordered by line.
//!
//! [`Node::silent_until`]: npsim_session::node::Node::silent_until

use std::ops::ControlFlow;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::CoreKind;
use npsim_chip::gpp::routes::RouteChange;
use npsim_chip::kernel::check::Fault;
use npsim_chip::kernel::observer::Observer;
use npsim_engine::ENGINE;
use npsim_project::problem::Problem;
use npsim_session::simulation::Ending;
use npsim_session::workers::Workers;
use npsim_transport::time::Time;

use crate::chips::{ChipNode, ChipReport, System};
use crate::reorder_buffer::{RecordingTap, ReorderBuffer, Watched};
use crate::simulation::{InjectError, OutgoingFrame, Simulation, ToChip};
use crate::snapshot::Snapshot;
use crate::stack_addresses;
use crate::stacks::Stacks;
use crate::tap::Tap;
use crate::work_slices;

/// Tells whether to continue; called from any thread.
pub type Progress<'a> = dyn Fn() -> ControlFlow<()> + Sync + 'a;

/// A running network.
#[derive(Debug)]
pub struct Network {
    packet_simulation: Simulation,
    /// The hosts with a stack at its open ends.
    stacks: Stacks,
    chips: Vec<ChipNode>,
    /// Smallest delays of each chip: to and from the outside, and from other chips by their indices.
    ways: Vec<Ways>,
    /// Index of the chip at each node.
    at: Vec<Option<usize>>,
    /// Threads that run several chips at a time.
    workers: Workers,
    /// What was seen on lines and has not been passed on yet.
    held: ReorderBuffer,
    /// What the tap watches.
    watched: Watched,
}

#[derive(Debug, Clone)]
struct Ways {
    outwards: Time,
    inwards: Time,
    from: Vec<(usize, Time)>,
}

/// Longest step of a network without chips, in picoseconds. Only chips call `progress` during a step,
/// and a network of a few Gb/s has at most 100,000 events in ten milliseconds.
const MAX_STEP: Time = 10_000_000_000;

impl Network {
    /// Returns how far to run at a time, in simulated picoseconds: a run of `length` takes at least
    /// `parts` steps, so that a request to stop it takes effect soon.
    #[must_use]
    pub fn step(&self, length: Time, parts: u64) -> Time {
        let step = (length / parts).max(1);
        if self.chips.is_empty() {
            step.min(MAX_STEP)
        } else {
            step
        }
    }

    /// Creates a network at time 0; the systems are those of the topology's chips.
    ///
    /// # Errors
    /// Returns an error if a system does not run on its chip, or a stack would not reach other hosts.
    pub fn new(packet_simulation: Simulation, systems: Vec<System>) -> Result<Self, Problem> {
        Self::on_core(packet_simulation, systems, ENGINE)
    }

    /// Like [`Self::new`], with chips whose microcode is executed by this core.
    ///
    /// # Errors
    /// See [`Self::new`].
    pub fn on_core(
        mut packet_simulation: Simulation,
        systems: Vec<System>,
        core: CoreKind,
    ) -> Result<Self, Problem> {
        let addresses = stack_addresses::addresses(packet_simulation.topology(), &systems);
        let addresses = addresses.map_err(|error| Problem::new(error.to_string()))?;
        let mut stacks = Stacks::of(packet_simulation.topology(), addresses);
        packet_simulation.begin(&mut stacks);
        let topology = packet_simulation.topology();
        let chips = systems.into_iter().enumerate();
        let chips = chips.map(|(number, system)| ChipNode::new(system, number, topology, core));
        let chips = chips.collect::<Result<Vec<_>, _>>()?;
        let mut at = vec![None; topology.nodes.len()];
        for (number, chip) in chips.iter().enumerate() {
            at[chip.system.node] = Some(number);
        }
        let ways = { chips.iter() }
            .map(|chip| Ways {
                outwards: chip.delay_outwards(topology),
                inwards: chip.delay_inwards(topology),
                from: { chip.chips_before(topology).into_iter() }
                    .filter_map(|(node, delay)| Some((at[node]?, delay)))
                    .collect(),
            })
            .collect();
        Ok(Self {
            packet_simulation,
            stacks,
            chips,
            ways,
            at,
            workers: Workers::default(),
            held: ReorderBuffer::default(),
            watched: Watched::default(),
        })
    }

    /// Sets the number of chips that run at a time. The results do not depend on it, nor on how many
    /// threads the system provides; only the speed does.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.workers = Workers::new(threads, self.chips.len());
        self
    }

    /// Returns the hosts, switches, lines and packet-level routers.
    #[must_use]
    pub fn packet_simulation(&self) -> &Simulation {
        &self.packet_simulation
    }

    /// Like [`Self::packet_simulation`], for observers and settings that change no event.
    pub fn packet_simulation_mut(&mut self) -> &mut Simulation {
        &mut self.packet_simulation
    }

    /// Calls [`Simulation::inject`].
    ///
    /// # Errors
    /// See [`Simulation::inject`].
    pub fn inject(&mut self, node: usize, bytes: &[u8], at: Time) -> Result<(), InjectError> {
        self.packet_simulation.inject(node, bytes, at)
    }

    /// Calls [`Simulation::take_outgoing`].
    pub fn take_outgoing(&mut self) -> Vec<OutgoingFrame> {
        self.packet_simulation.take_outgoing()
    }

    /// Returns the time before which nothing happens unless a frame arrives from outside the
    /// simulation.
    #[must_use]
    pub fn next_at(&self) -> Time {
        let chips = self.chips.iter().map(|node| node.time(node.acts()));
        chips.fold(self.packet_simulation.next_at(), Time::min)
    }

    /// Returns how many of the cycles that the chips ran here were skipped by the engine, and the
    /// number of all cycles: a measure of the work saved, which tells nothing about the simulation's
    /// results.
    #[must_use]
    pub fn skipped(&self) -> (Cycle, Cycle) {
        let chips = self.chips.iter().map(ChipNode::skipped);
        chips.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Returns a chip in its current state, by its index in the order of nodes. Chips that have nothing
    /// to do may lag behind the time of the network.
    #[must_use]
    pub fn chip(&self, chip: usize) -> Option<&Chip> {
        self.chips.get(chip).map(|node| node.node.chip())
    }

    /// Describes the state of each context of a chip, one per line.
    #[must_use]
    pub fn state_report(&self, chip: usize) -> Option<Vec<String>> {
        Some(self.chips.get(chip)?.node.state_report())
    }

    /// Adds a route change to a chip, at the current time of the network or later; `change` creates it
    /// for the chip's cycle.
    ///
    /// # Errors
    /// Returns an error if `change` does, or if the chip [accepts
    /// none](npsim_session::node::Node::append_route_change).
    pub fn change_routes(
        &mut self,
        chip: usize,
        at: Time,
        change: impl FnOnce(&System, Cycle) -> Result<RouteChange, Problem>,
    ) -> Result<(), Problem> {
        let node = &mut self.chips[chip];
        let change = change(&node.system, node.cycle(at))?;
        let appended = node.node.append_route_change(change);
        appended.map_err(|error| Problem::new(error.to_string()))
    }

    /// Attaches an observer to a chip that has no other; it sees all later events there, and does not
    /// affect the network. It is called from the threads that run chips.
    pub fn observe(&mut self, chip: usize, observer: Box<dyn Observer + Send>) {
        if let Some(node) = self.chips.get_mut(chip) {
            node.observe(observer);
        }
    }

    /// Returns the name and system of each chip with the chip itself, in the order of nodes.
    pub fn systems(&self) -> impl Iterator<Item = (&str, &System, &Chip)> {
        let chips = self.chips.iter();
        chips.map(|node| (node.name.as_str(), &node.system, node.node.chip()))
    }

    /// Returns the fault that stopped a chip, with its system and its state.
    #[must_use]
    pub fn fault(&self, chip: usize) -> Option<(&Fault, &System, Vec<String>)> {
        let node = self.chips.get(chip)?;
        match node.node.ending()? {
            Ending::Fault(fault) => Some((&**fault, &node.system, node.node.state_report())),
            _ => None,
        }
    }

    /// Returns the chips in the order of their nodes: the router's name, its system, and the chip.
    #[must_use]
    pub fn chips(&self) -> impl ExactSizeIterator<Item = (&str, &System, &Chip)> {
        { self.chips.iter() }.map(|it| (it.name.as_str(), &it.system, it.node.chip()))
    }

    /// Returns what each chip counted since the start, in the order of nodes.
    pub fn chip_reports(&self) -> impl Iterator<Item = ChipReport<'_>> {
        self.chips.iter().map(ChipNode::report)
    }

    /// Returns the total bytes of all chips' memories.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let chips = self.chips.iter();
        chips.map(|node| node.node.chip().memory_bytes()).sum()
    }

    /// Saves the state between two runs, or where one was interrupted.
    ///
    /// # Errors
    /// Returns an error if the state of a chip cannot be encoded, or [that of a host](Self::check_savable).
    pub fn snapshot(&mut self) -> Result<Snapshot, Problem> {
        self.check_savable()?;
        let chips = self.chips.iter_mut().map(ChipNode::save);
        Ok(Snapshot {
            chips: chips.collect::<Result<_, _>>()?,
            packet_simulation: self.packet_simulation.clone(),
            held: self.held.clone(),
        })
    }

    /// Checks whether the state can be saved.
    ///
    /// # Errors
    /// Returns an error if there is a host with a stack: that third-party code does not expose its
    /// state.
    pub fn check_savable(&self) -> Result<(), Problem> {
        let topology = self.packet_simulation.topology();
        let Some(node) = topology.stacks.first() else {
            return Ok(());
        };
        let name = &topology.nodes[*node].name;
        let message = format!("the state of `{name}` cannot be saved: it is a host with a stack");
        Err(Problem::new(message).help("run the network without checkpoints"))
    }

    /// Continues from the state of a network of the same file. This network must not have run yet.
    ///
    /// # Errors
    /// Returns a message if it is not a state of such a network.
    pub fn restore(&mut self, snapshot: Snapshot) -> Result<(), String> {
        let Snapshot {
            packet_simulation,
            chips,
            held,
        } = snapshot;
        if chips.len() != self.chips.len() {
            let (has, are) = (chips.len(), self.chips.len());
            return Err(format!("it has {has} chips, and there are {are}"));
        }
        let lines = 2 * self.packet_simulation.topology().links.len();
        let flows = self.packet_simulation.topology().flows.len();
        if !held.is_sound(lines, flows, |frame| self.packet_simulation.has(frame)) {
            return Err("what it records of its lines is impossible".to_owned());
        }
        self.packet_simulation.restore(packet_simulation)?;
        for (node, state) in self.chips.iter_mut().zip(chips) {
            node.restore(state, &self.packet_simulation)?;
        }
        self.held = held;
        Ok(())
    }

    /// Runs up to and including a time. `progress` is called now and then and tells whether to
    /// continue. What the tap has yet to see when the run stops is [kept](Self::flush_tap).
    ///
    /// # Errors
    /// Returns an error if the microcode of a chip violated a check, or the caller interrupted the run.
    pub fn run_to(
        &mut self,
        until: Time,
        tap: &mut dyn Tap,
        progress: &Progress<'_>,
    ) -> Result<(), Stopped> {
        if self.chips.is_empty() {
            self.packet_simulation
                .run_with(until, &mut self.stacks, tap);
            return Ok(());
        }
        self.advance_to(until, tap, progress)?;
        self.held.flush_before(until.saturating_add(1), tap);
        Ok(())
    }

    /// Passes everything that was held back to a tap. Nothing may follow.
    pub fn flush_tap(&mut self, tap: &mut dyn Tap) {
        self.held.flush_before(Time::MAX, tap);
    }

    fn advance_to(
        &mut self,
        until: Time,
        tap: &mut dyn Tap,
        progress: &Progress<'_>,
    ) -> Result<(), Stopped> {
        let lines = 0..2 * self.packet_simulation.topology().links.len();
        self.watched = Watched {
            lines: lines.map(|line| tap.watches(line)).collect(),
            senders: tap.watches_senders(),
        };
        loop {
            let (from_chips, _) = self.earliest(None);
            let limit = from_chips.min(until.saturating_add(1));
            if self.packet_simulation.next_at() < limit {
                let (held, watched) = (&mut self.held, &self.watched);
                let tap = &mut RecordingTap { held, watched };
                self.packet_simulation
                    .run_with(limit - 1, &mut self.stacks, tap);
                let coming: Vec<_> = self.packet_simulation.take_to_chips().collect();
                self.deliver(coming)?;
                continue;
            }
            self.held.flush_before(self.reported_until(), tap);
            let work: Vec<(usize, Cycle)> = { self.chips.iter().enumerate() }
                .filter(|(_, node)| node.could_run_before(node.cycle(until)))
                .filter_map(|(number, node)| {
                    let (_, bound) = self.earliest(Some(number));
                    let horizon = node.cycle(bound.min(until));
                    node.could_run_before(horizon).then_some((number, horizon))
                })
                .collect();
            if work.is_empty() {
                break;
            }
            self.run_chips(&work, progress)?;
        }
        let (held, watched) = (&mut self.held, &self.watched);
        let tap = &mut RecordingTap { held, watched };
        self.packet_simulation
            .run_with(until, &mut self.stacks, tap);
        Ok(())
    }

    /// Returns the time before which nothing more will be seen on a line.
    fn reported_until(&self) -> Time {
        let chips = self
            .chips
            .iter()
            .map(|node| node.time(node.acts().max(node.node.handled())));
        chips.fold(self.packet_simulation.next_at(), Time::min)
    }

    /// Runs chips that had nothing to do up to the current time of the network, so that their counters
    /// extend to it.
    ///
    /// # Errors
    /// See [`Self::run_to`].
    pub fn catch_up(&mut self, progress: &Progress<'_>) -> Result<(), Stopped> {
        let until = self.packet_simulation.now();
        let late = self.chips.iter().enumerate();
        let late = late.map(|(number, node)| (number, node.cycle(until)));
        let late: Vec<_> = late
            .filter(|(number, cycle)| self.chips[*number].node.handled() < *cycle)
            .collect();
        self.run_chips(&late, progress)
    }

    /// Ends the run: chips [catch up](Self::catch_up), and are checked for contexts that sleep forever.
    ///
    /// # Errors
    /// See [`Self::run_to`].
    pub fn end(&mut self, tap: &mut dyn Tap, progress: &Progress<'_>) -> Result<(), Stopped> {
        let ran = self.catch_up(progress);
        self.flush_tap(tap);
        ran?;
        self.chips.iter_mut().for_each(|node| node.node.end());
        let faulty = { self.chips.iter() }
            .position(|node| matches!(node.node.ending(), Some(Ending::Fault(_))));
        faulty.map_or(Ok(()), |number| Err(Stopped::Fault(number)))
    }

    fn run_chips(
        &mut self,
        work: &[(usize, Cycle)],
        progress: &Progress<'_>,
    ) -> Result<(), Stopped> {
        let mut to_run = work.iter().peekable();
        let mut chosen = Vec::with_capacity(work.len());
        for (number, node) in self.chips.iter_mut().enumerate() {
            if let Some((_, horizon)) = to_run.next_if(|(other, _)| *other == number) {
                chosen.push((node, *horizon));
            }
        }
        work_slices::run(chosen, &self.workers, progress);
        let mut onwards = Vec::new();
        for (number, _) in work {
            let node = &mut self.chips[*number];
            let happened = node.take();
            let (held, watched) = (&mut self.held, &self.watched);
            let tap = &mut RecordingTap { held, watched };
            onwards.extend(node.notify(happened, &mut self.packet_simulation, tap));
        }
        self.deliver(onwards)?;
        for (number, _) in work {
            match self.chips[*number].node.ending() {
                None => {}
                Some(Ending::Fault(_)) => return Err(Stopped::Fault(*number)),
                Some(_) => return Err(Stopped::Interrupted),
            }
        }
        if progress().is_break() {
            return Err(Stopped::Interrupted);
        }
        Ok(())
    }

    fn deliver(&mut self, coming: Vec<ToChip>) -> Result<(), Stopped> {
        for coming in coming {
            let link = &self.packet_simulation.topology().links[coming.line / 2];
            let node = link.ends[1 - coming.line % 2];
            if let Some(chip) = self.at[node] {
                let fed = self.chips[chip].feed(coming, &mut self.packet_simulation);
                fed.map_err(Stopped::Frame)?;
            }
        }
        Ok(())
    }

    /// Returns the earliest time at which a chip could send something to the outside, and at which
    /// something not yet known could arrive at `chip`. Anything that `chip` itself sends is ignored,
    /// since it stops when it does.
    ///
    /// A chip sends on its own (`own`), or in response to an arrival: so the time at which each could
    /// send (`sends`) and the time at which something could arrive at each (`comes`) depend on each
    /// other. Both only decrease. A response comes at least a link's delay after its cause, so each
    /// round settles the earliest times of at least one more chip; the loop ends when nothing changes.
    fn earliest(&self, chip: Option<usize>) -> (Time, Time) {
        let now: Vec<Time> = { self.chips.iter() }
            .map(|node| node.time(node.node.handled()))
            .collect();
        // When each would next send on its own.
        let own = self
            .chips
            .iter()
            .zip(&now)
            .map(|(node, now)| node.time(node.acts()).max(*now));
        let mut sends: Vec<Time> = own.collect();
        if let Some(chip) = chip {
            sends[chip] = Time::MAX;
        }
        let mut from_chips = Time::MAX;
        let mut comes = vec![Time::MAX; self.chips.len()];
        loop {
            let mut changed = false;
            let earliest = sends.iter().zip(&self.ways);
            let earliest = earliest.map(|(at, ways)| at.saturating_add(ways.outwards));
            from_chips = earliest.min().unwrap_or(Time::MAX).min(from_chips);
            let acts = self.packet_simulation.next_at().min(from_chips);
            for (to, ways) in self.ways.iter().enumerate() {
                let others = ways.from.iter();
                let others = others.map(|(from, delay)| sends[*from].saturating_add(*delay));
                let next = others.fold(acts.saturating_add(ways.inwards), Time::min);
                comes[to] = comes[to].min(next);
                let answer = comes[to].max(now[to]);
                if Some(to) != chip && answer < sends[to] {
                    sends[to] = answer;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        (from_chips, chip.map_or(Time::MAX, |chip| comes[chip]))
    }
}

/// Why a network stopped prematurely.
#[derive(Debug)]
pub enum Stopped {
    /// The microcode of this chip violated a check.
    Fault(usize),
    /// The caller interrupted it.
    Interrupted,
    /// A host created a packet that does not fit into a frame.
    Frame(Problem),
}
