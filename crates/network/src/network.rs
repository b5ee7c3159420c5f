//! A network with whole chips in it: the schedule of its parts.
//!
//! The packets between chips are simulated in one piece, the outside, and each chip by itself.
//! What one does reaches another one over a link, which takes its time; so each may go on to the
//! earliest time at which something could still reach it (conservative windows, with Chandy and
//! Misra's look-ahead):
//!
//! - the outside does nothing before its next event, and what it sends then comes to a chip after
//!   the link's delay;
//! - a chip sends nothing before the cycle that it has come to, and where the engine has found
//!   that its state recurs, nothing until something comes ([`Node::silent_until`]);
//! - when a chip sends, it stops before an answer could come.
//!
//! An idle chip is therefore run in long pieces or not at all, and the engine skips what recurs
//! in them. Rounds follow from what is simulated, never from the host, and nothing that happens
//! depends on where a window ends: frames come to chips in the order of their first bits and then
//! of ports, events of one time from several chips are ordered by line.
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

/// Whether to go on; asked from any thread.
pub type Progress<'a> = dyn Fn() -> ControlFlow<()> + Sync + 'a;

/// A network that runs.
#[derive(Debug)]
pub struct Network {
    outside: Simulation,
    /// The hosts with a stack at its open ends.
    stacks: Stacks,
    chips: Vec<ChipNode>,
    /// By chip: the least times to and from the outside, and from other chips by their places.
    ways: Vec<Ways>,
    /// By node: the chip there.
    at: Vec<Option<usize>>,
    /// Run several chips at a time.
    workers: Workers,
    /// What was seen on lines and not told yet.
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

/// Without a chip, which asks by itself, a run asks whether to go on after ten milliseconds at
/// the latest: a network of some Gb/s has no more than 100,000 events in them.
const LONGEST_STEP: Time = 10_000_000_000;

impl Network {
    /// How far to run at a time, in simulated picoseconds: a run of `length` takes at least `parts`
    /// steps, and a request to stop it is soon met.
    #[must_use]
    pub fn step(&self, length: Time, parts: u64) -> Time {
        let step = (length / parts).max(1);
        if self.chips.is_empty() {
            step.min(LONGEST_STEP)
        } else {
            step
        }
    }

    /// A network at time 0; the systems are those of the topology's chips.
    ///
    /// # Errors
    /// A system does not run on its chip, or a stack would not find others.
    pub fn new(outside: Simulation, systems: Vec<System>) -> Result<Self, Problem> {
        Self::on_core(outside, systems, ENGINE)
    }

    /// As [`Self::new`], on chips whose microcode is executed by this core.
    ///
    /// # Errors
    /// As there.
    pub fn on_core(
        mut outside: Simulation,
        systems: Vec<System>,
        core: CoreKind,
    ) -> Result<Self, Problem> {
        let addresses = stack_addresses::addresses(outside.topology(), &systems);
        let addresses = addresses.map_err(|error| Problem::new(error.to_string()))?;
        let mut stacks = Stacks::of(outside.topology(), addresses);
        outside.begin(&mut stacks);
        let topology = outside.topology();
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
            outside,
            stacks,
            chips,
            ways,
            at,
            workers: Workers::default(),
            held: ReorderBuffer::default(),
            watched: Watched::default(),
        })
    }

    /// Runs so many chips at a time; the results are the same with any number. With fewer threads
    /// than the system gives the run comes to the same, only later.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.workers = Workers::new(threads, self.chips.len());
        self
    }

    /// Hosts, switches, lines and packet-level routers.
    #[must_use]
    pub fn outside(&self) -> &Simulation {
        &self.outside
    }

    /// As [`Self::outside`], for observers and settings that change no event.
    pub fn outside_mut(&mut self) -> &mut Simulation {
        &mut self.outside
    }

    /// As [`Simulation::inject`].
    ///
    /// # Errors
    /// As there.
    pub fn inject(&mut self, node: usize, bytes: &[u8], at: Time) -> Result<(), InjectError> {
        self.outside.inject(node, bytes, at)
    }

    /// As [`Simulation::take_outgoing`].
    pub fn take_outgoing(&mut self) -> Vec<OutgoingFrame> {
        self.outside.take_outgoing()
    }

    /// Before which time nothing happens unless something comes in.
    #[must_use]
    pub fn next_at(&self) -> Time {
        let chips = self.chips.iter().map(|node| node.time(node.acts()));
        chips.fold(self.outside.next_at(), Time::min)
    }

    /// Of the cycles that the chips have come to here, how many the engine skipped, and all: it says
    /// how much was saved, and nothing of what happened.
    #[must_use]
    pub fn skipped(&self) -> (Cycle, Cycle) {
        let chips = self.chips.iter().map(ChipNode::skipped);
        chips.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// A chip as it stands, in the order of nodes. Those that have nothing to do may not have come to
    /// the time of the network.
    #[must_use]
    pub fn chip(&self, chip: usize) -> Option<&Chip> {
        self.chips.get(chip).map(|node| node.node.chip())
    }

    /// What each context of a chip does, in lines.
    #[must_use]
    pub fn state_report(&self, chip: usize) -> Option<Vec<String>> {
        Some(self.chips.get(chip)?.node.state_report())
    }

    /// Gives a chip one more change of its routes, at a time to which the network has run or later;
    /// `change` makes it of the cycle.
    ///
    /// # Errors
    /// As of `change`, and where the chip [takes none](npsim_session::node::Node::append_route_change).
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

    /// Lets an observer see all that a chip does from now on, which has no other; what the network
    /// does is the same. It is called from the threads that run chips.
    pub fn observe(&mut self, chip: usize, observer: Box<dyn Observer + Send>) {
        if let Some(node) = self.chips.get_mut(chip) {
            node.observe(observer);
        }
    }

    /// What each chip is, in the order of nodes.
    pub fn systems(&self) -> impl Iterator<Item = (&str, &System, &Chip)> {
        let chips = self.chips.iter();
        chips.map(|node| (node.name.as_str(), &node.system, node.node.chip()))
    }

    /// What stopped a chip, with what it is and its state.
    #[must_use]
    pub fn fault(&self, chip: usize) -> Option<(&Fault, &System, Vec<String>)> {
        let node = self.chips.get(chip)?;
        match node.node.ending()? {
            Ending::Fault(fault) => Some((&**fault, &node.system, node.node.state_report())),
            _ => None,
        }
    }

    /// The chips, in the order of their nodes: the router's name, what runs on it, and the chip.
    #[must_use]
    pub fn chips(&self) -> impl ExactSizeIterator<Item = (&str, &System, &Chip)> {
        { self.chips.iter() }.map(|it| (it.name.as_str(), &it.system, it.node.chip()))
    }

    /// What each chip counted from the beginning on, in the order of nodes.
    pub fn chip_reports(&self) -> impl Iterator<Item = ChipReport<'_>> {
        self.chips.iter().map(ChipNode::report)
    }

    /// Bytes of all chips' memories.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let chips = self.chips.iter();
        chips.map(|node| node.node.chip().memory_bytes()).sum()
    }

    /// The state between two runs, or where one was interrupted.
    ///
    /// # Errors
    /// The state of a chip cannot be encoded, or [that of a host](Self::savable).
    pub fn snapshot(&mut self) -> Result<Snapshot, Problem> {
        self.savable()?;
        let chips = self.chips.iter_mut().map(ChipNode::save);
        Ok(Snapshot {
            chips: chips.collect::<Result<_, _>>()?,
            outside: self.outside.clone(),
            held: self.held.clone(),
        })
    }

    /// Whether the state can be saved.
    ///
    /// # Errors
    /// It cannot, and why: a stack of other people's keeps its own to itself.
    pub fn savable(&self) -> Result<(), Problem> {
        let topology = self.outside.topology();
        let Some(node) = topology.stacks.first() else {
            return Ok(());
        };
        let name = &topology.nodes[*node].name;
        let message = format!("the state of `{name}` cannot be saved: it is a host with a stack");
        Err(Problem::new(message).help("run the network without checkpoints"))
    }

    /// Goes on from the state of a network of the same file. It must not have run yet.
    ///
    /// # Errors
    /// It is no state of such a network, in words.
    pub fn restore(&mut self, snapshot: Snapshot) -> Result<(), String> {
        let Snapshot {
            outside,
            chips,
            held,
        } = snapshot;
        if chips.len() != self.chips.len() {
            let (has, are) = (chips.len(), self.chips.len());
            return Err(format!("it has {has} chips, and there are {are}"));
        }
        let lines = 2 * self.outside.topology().links.len();
        let flows = self.outside.topology().flows.len();
        if !held.is_sound(lines, flows, |frame| self.outside.has(frame)) {
            return Err("what was seen on its lines cannot have been".to_owned());
        }
        self.outside.restore(outside)?;
        for (node, state) in self.chips.iter_mut().zip(chips) {
            node.restore(state, &self.outside)?;
        }
        self.held = held;
        Ok(())
    }

    /// Runs to a time: all that happens until then. `progress` is asked now and then whether to
    /// go on. What the tap was to see when the run stops is [kept](Self::tell_rest).
    ///
    /// # Errors
    /// The microcode of a chip did what a check forbids, or the caller broke the run off.
    pub fn run_to(
        &mut self,
        until: Time,
        tap: &mut dyn Tap,
        progress: &Progress<'_>,
    ) -> Result<(), Stopped> {
        if self.chips.is_empty() {
            self.outside.run_with(until, &mut self.stacks, tap);
            return Ok(());
        }
        self.go_to(until, tap, progress)?;
        self.held.hand_on(until.saturating_add(1), tap);
        Ok(())
    }

    /// Tells a tap what was seen and kept, because others had not come so far. Nothing comes after
    /// it.
    pub fn tell_rest(&mut self, tap: &mut dyn Tap) {
        self.held.hand_on(Time::MAX, tap);
    }

    fn go_to(
        &mut self,
        until: Time,
        tap: &mut dyn Tap,
        progress: &Progress<'_>,
    ) -> Result<(), Stopped> {
        let lines = 0..2 * self.outside.topology().links.len();
        self.watched = Watched {
            lines: lines.map(|line| tap.watches(line)).collect(),
            senders: tap.watches_senders(),
        };
        loop {
            let (from_chips, _) = self.earliest(None);
            let limit = from_chips.min(until.saturating_add(1));
            if self.outside.next_at() < limit {
                let (held, watched) = (&mut self.held, &self.watched);
                let tap = &mut RecordingTap { held, watched };
                self.outside.run_with(limit - 1, &mut self.stacks, tap);
                let coming: Vec<_> = self.outside.take_to_chips().collect();
                self.deliver(coming)?;
                continue;
            }
            self.held.hand_on(self.seen_until(), tap);
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
        self.outside.run_with(until, &mut self.stacks, tap);
        Ok(())
    }

    /// Before which time nothing more will be seen on a line.
    fn seen_until(&self) -> Time {
        let chips = self
            .chips
            .iter()
            .map(|node| node.time(node.acts().max(node.node.handled())));
        chips.fold(self.outside.next_at(), Time::min)
    }

    /// Chips that had nothing to do come to the time to which the network has run, so that they
    /// have counted until then.
    ///
    /// # Errors
    /// As for [`Self::run_to`].
    pub fn catch_up(&mut self, progress: &Progress<'_>) -> Result<(), Stopped> {
        let until = self.outside.now();
        let late = self.chips.iter().enumerate();
        let late = late.map(|(number, node)| (number, node.cycle(until)));
        let late: Vec<_> = late
            .filter(|(number, cycle)| self.chips[*number].node.handled() < *cycle)
            .collect();
        self.run_chips(&late, progress)
    }

    /// Ends the run: chips [catch up](Self::catch_up), and whether contexts sleep for ever is
    /// looked at.
    ///
    /// # Errors
    /// As for [`Self::run_to`].
    pub fn end(&mut self, tap: &mut dyn Tap, progress: &Progress<'_>) -> Result<(), Stopped> {
        let ran = self.catch_up(progress);
        self.tell_rest(tap);
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
            onwards.extend(node.tell(happened, &mut self.outside, tap));
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
            let link = &self.outside.topology().links[coming.line / 2];
            let node = link.ends[1 - coming.line % 2];
            if let Some(chip) = self.at[node] {
                let fed = self.chips[chip].feed(coming, &mut self.outside);
                fed.map_err(Stopped::Frame)?;
            }
        }
        Ok(())
    }

    /// The earliest time at which a chip could send something to the outside, and at which
    /// something not yet known could come to `chip`. What `chip` itself sends is left out
    /// of account: it stops when it does.
    ///
    /// A chip sends of its own accord (`own`), or in answer to what comes to it: so when each
    /// could send (`sends`) and when something could come to each (`comes`) depend on each
    /// other. Both only ever become earlier, each round by at least a link's delay of a chip
    /// that has not had its earliest time yet; the loop ends when nothing changes.
    fn earliest(&self, chip: Option<usize>) -> (Time, Time) {
        let now: Vec<Time> = { self.chips.iter() }
            .map(|node| node.time(node.node.handled()))
            .collect();
        // When each would next send of its own accord.
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
            let acts = self.outside.next_at().min(from_chips);
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

/// Why a network came to no end of its own.
#[derive(Debug)]
pub enum Stopped {
    /// The microcode of this chip did what a check forbids.
    Fault(usize),
    /// The caller broke it off.
    Interrupted,
    /// A host made a packet that cannot stand in a frame.
    Frame(Problem),
}
