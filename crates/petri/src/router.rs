//! One router as the paper describes it: a packet goes from RFIFO to DRAM, its header is read, looked up
//! and written, and it goes from DRAM to TBUF. One context does all of it, and yields its microengine
//! whenever it has put a command into the microengine's queue.

use std::collections::VecDeque;

use crate::net::{
    Fired, Guard, Net, Place, Pool, Rule, Service, Tick, Token, TokenChoice, TokenFate, Transition,
};
use crate::parameters::{ContextRelease, Drain, Parameters, SlotPolicy};

/// Ticks per microengine cycle.
pub const CYCLE: Tick = 1000;
/// Bytes transferred between a FIFO and DRAM by one command.
const ELEMENT: u64 = 64;
/// Bytes of a header as read from DRAM.
const HEADER: u64 = 8;
/// Number of steps after which a caller may stop the run.
const STEPS: u64 = 1 << 12;

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The flow.
    pub flow: u32,
    /// Number of earlier packets of its flow.
    pub sequence: u64,
}

/// The results of a router's packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterOutcome {
    /// The packets that left with their times, in order.
    pub left: Vec<(Tick, Packet)>,
    /// Number of packets that found no room.
    pub lost: u64,
    /// Ticks for which the DRAM was busy.
    pub dram_busy: Tick,
    /// Time of the last event.
    pub end: Tick,
}

/// What a context does after one of its visits to the microengine.
#[derive(Clone, Copy, Debug)]
enum ContextWork {
    Dram { bytes: u64, latency: u64 },
    Sram,
    Lock,
}

/// Returns what a context does for a packet, visit by visit.
fn program(p: &Parameters) -> Vec<ContextWork> {
    let mut work = Vec::new();
    let mut transfer = |latency| {
        for from in (0..p.bytes).step_by(ELEMENT as usize) {
            let bytes = ELEMENT.min(p.bytes - from);
            work.push(ContextWork::Dram { bytes, latency });
        }
    };
    transfer(p.dram_from_rfifo);
    let after = work.len();
    let header = |latency| ContextWork::Dram {
        bytes: HEADER,
        latency,
    };
    work.push(header(p.dram_read));
    work.extend(std::iter::repeat_n(ContextWork::Sram, p.lookups));
    work.push(header(p.dram_write));
    if p.slots == SlotPolicy::Global {
        work.push(ContextWork::Lock);
    }
    for at in 0..after {
        if let ContextWork::Dram { bytes, .. } = work[at] {
            let latency = p.dram_to_tbuf;
            work.push(ContextWork::Dram { bytes, latency });
        }
    }
    work
}

/// A place of TBUF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TbufSlot {
    Empty,
    Claimed,
    Filled(Packet),
}

/// Packets and places of TBUF, and the transitions that depend on them.
struct Buffers {
    slots: SlotPolicy,
    /// Whether a context claims its own place only once its packet is ready for it.
    late: bool,
    drain: Drain,
    contexts: usize,
    received: VecDeque<Packet>,
    held: Vec<Option<(Packet, usize)>>,
    tbuf: Vec<TbufSlot>,
    /// The place to be sent next.
    turn: usize,
    /// The place to be claimed next, by microengine or for all.
    claim: Vec<usize>,
    accept: Option<Transition>,
    done: Option<Transition>,
    lock: Option<Transition>,
    transmit: Option<Transition>,
    freed: Option<Transition>,
}

impl Buffers {
    fn context(&self, token: &Token) -> usize {
        token.colour * self.contexts + token.number
    }

    /// Returns the place that a context would claim.
    fn next(&self, token: &Token) -> usize {
        match self.slots {
            SlotPolicy::Contiguous => self.context(token),
            SlotPolicy::Strided => token.number * self.claim.len() + token.colour,
            SlotPolicy::Local => token.colour * self.contexts + self.claim[token.colour],
            SlotPolicy::Global => self.claim[0],
        }
    }

    /// Returns the filled place to be sent now: with [`Drain::Waits`] all before it are empty.
    fn sendable(&self) -> Option<(usize, Packet)> {
        let order = (0..self.tbuf.len()).map(|at| (self.turn + at) % self.tbuf.len());
        for at in order {
            match self.tbuf[at] {
                TbufSlot::Filled(packet) => return Some((at, packet)),
                TbufSlot::Claimed if self.drain == Drain::Waits => return None,
                TbufSlot::Empty if self.drain == Drain::Waits && self.is_packet_expected(at) => {
                    return None;
                }
                TbufSlot::Empty | TbufSlot::Claimed => {}
            }
        }
        None
    }

    /// Whether the context that owns this place has a packet for it.
    fn is_packet_expected(&self, place: usize) -> bool {
        let context = match self.slots {
            SlotPolicy::Contiguous => place,
            SlotPolicy::Strided => {
                place % self.claim.len() * self.contexts + place / self.claim.len()
            }
            SlotPolicy::Local | SlotPolicy::Global => return false,
        };
        self.late && self.held[context].is_some()
    }

    fn claim_slot(&mut self, token: &Token) -> usize {
        let place = self.next(token);
        self.tbuf[place] = TbufSlot::Claimed;
        match self.slots {
            SlotPolicy::Local => {
                let next = &mut self.claim[token.colour];
                *next = (*next + 1) % self.contexts;
            }
            SlotPolicy::Global => self.claim[0] = (self.claim[0] + 1) % self.tbuf.len(),
            SlotPolicy::Contiguous | SlotPolicy::Strided => {}
        }
        place
    }
}

impl Guard for Buffers {
    fn allows(&self, transition: Transition, token: &Token) -> bool {
        let is_next_empty = || self.tbuf[self.next(token)] == TbufSlot::Empty;
        let of = Some(transition);
        if of == self.accept {
            self.late || self.slots == SlotPolicy::Global || is_next_empty()
        } else if of == self.done {
            !self.late || is_next_empty()
        } else if of == self.lock || of == self.freed {
            is_next_empty()
        } else if of == self.transmit {
            self.sendable().is_some()
        } else {
            true
        }
    }

    fn started(&mut self, _: Tick, transition: Transition, token: &Token) {
        let context = self.context(token);
        if Some(transition) == self.accept {
            if let Some(packet) = self.received.pop_front() {
                let place = match self.slots {
                    SlotPolicy::Global => usize::MAX,
                    _ if self.late => self.next(token),
                    _ => self.claim_slot(token),
                };
                self.held[context] = Some((packet, place));
            }
        } else if Some(transition) == self.lock {
            let place = self.claim_slot(token);
            if let Some((_, of)) = &mut self.held[context] {
                *of = place;
            }
        } else if Some(transition) == self.done && self.late {
            self.claim_slot(token);
        } else if Some(transition) == self.transmit
            && let Some((place, _)) = self.sendable()
        {
            self.turn = place;
        }
    }
}

/// The places for the tokens of contexts, and for that of the line.
#[derive(Clone, Copy)]
struct Stations {
    free: Place,
    ready: Place,
    locking: Place,
    wanting: Place,
    commands: Place,
    dram_queue: Place,
    sram_queue: Place,
    moving: Place,
    done: Place,
    waiting: Place,
    line: Place,
}

impl Stations {
    /// Creates the places, with all contexts free.
    fn new(net: &mut Net, engines: usize, contexts: usize) -> Self {
        let token = |colour, number| Token {
            colour,
            number,
            step: 0,
        };
        let all = (0..contexts).flat_map(|number| (0..engines).map(move |me| token(me, number)));
        let free = net.place(all.collect());
        let mut empty = || net.place(Vec::new());
        Self {
            free,
            ready: empty(),
            locking: empty(),
            wanting: empty(),
            commands: empty(),
            dram_queue: empty(),
            sram_queue: empty(),
            moving: empty(),
            done: empty(),
            waiting: empty(),
            line: net.place(vec![token(0, 0)]),
        }
    }

    /// Returns the places for contexts.
    const fn context_places(&self) -> [Place; 10] {
        [
            self.free,
            self.ready,
            self.locking,
            self.wanting,
            self.commands,
            self.dram_queue,
            self.sram_queue,
            self.moving,
            self.done,
            self.waiting,
        ]
    }
}

/// The resources shared by contexts.
struct SharedPools {
    packets: Pool,
    engine: Pool,
    queue: Pool,
    bus: Pool,
    dram: Pool,
    sram: Pool,
    port: Pool,
    /// Guards the next place of TBUF unless contexts have their own.
    mutex: Option<Pool>,
}

impl SharedPools {
    fn new(net: &mut Net, p: &Parameters) -> Self {
        let engines = p.microengines;
        Self {
            packets: net.pool(1, 0),
            engine: net.pool(engines, 1),
            queue: net.pool(engines, p.command_queue),
            bus: net.pool(1, 1),
            dram: net.pool(1, 1),
            sram: net.pool(1, 1),
            port: net.pool(1, 1),
            mutex: match p.slots {
                SlotPolicy::Contiguous | SlotPolicy::Strided => None,
                SlotPolicy::Local => Some(net.pool(engines, 1)),
                SlotPolicy::Global => Some(net.pool(1, 1)),
            },
        }
    }
}

/// A net under construction. Of transitions that can begin in the same tick, those that were added
/// earlier begin first.
struct NetBuilder<'a> {
    net: Net,
    p: &'a Parameters,
    work: Vec<ContextWork>,
    at: Stations,
    pools: SharedPools,
}

/// Returns a transition that holds no resource and takes no time, first come, first served.
fn immediate(from: Place, to: Place) -> Rule {
    Rule {
        from,
        acquires: Vec::new(),
        releases: Vec::new(),
        times: vec![0],
        service: Service::Deterministic,
        to: vec![to],
        next: TokenFate::Keep,
        choice: TokenChoice::Oldest,
    }
}

impl NetBuilder<'_> {
    fn serve(
        &self,
        from: Place,
        pool: Pool,
        times: Vec<Tick>,
        choice: TokenChoice,
        to: Vec<Place>,
    ) -> Rule {
        Rule {
            acquires: vec![pool],
            releases: vec![pool],
            times,
            service: self.p.service,
            to,
            choice,
            ..immediate(from, from)
        }
    }

    fn map_work<T>(&self, of: impl Fn(&ContextWork) -> T) -> Vec<T> {
        self.work.iter().map(of).collect()
    }

    fn dram_time(&self, bytes: u64) -> Tick {
        bytes * self.p.dram_byte_milli * CYCLE / 1000
    }

    /// Adds the transition by which a free context takes a packet.
    fn accept(&mut self) -> Transition {
        let mutex = self
            .pools
            .mutex
            .filter(|_| self.p.slots == SlotPolicy::Local);
        self.net.transition(Rule {
            acquires: [self.pools.packets].into_iter().chain(mutex).collect(),
            choice: self.p.arbitration.among_contexts(),
            ..immediate(self.at.free, self.at.ready)
        })
    }

    /// Adds the transition by which a context executes, and issues a command or requests the lock.
    fn execute(&mut self) {
        let (p, at) = (self.p, self.at);
        // The instructions for a packet of one element, divided among its visits: two transfers, reading
        // and writing the header, and the lookup.
        let visits = 4 + p.lookups as u64;
        let visit = p.instructions * CYCLE / visits;
        let leaves = self.map_work(|work| match work {
            ContextWork::Lock => at.locking,
            _ => at.wanting,
        });
        let among = p.arbitration.among_contexts();
        let rule = self.serve(at.ready, self.pools.engine, vec![visit], among, leaves);
        self.net.transition(rule);
        self.net.transition(Rule {
            acquires: vec![self.pools.queue],
            ..immediate(at.wanting, at.commands)
        });
    }

    /// Adds the transitions by which a command goes over the bus to its memory and is served there;
    /// returns that of the DRAM.
    fn serve_commands(&mut self) -> Transition {
        let (p, at) = (self.p, self.at);
        let among = p.arbitration.among_microengines();
        let bus = self.pools.bus;
        let memory = self.map_work(|work| match work {
            ContextWork::Sram => at.sram_queue,
            _ => at.dram_queue,
        });
        let times = vec![p.command_bus * CYCLE];
        let rule = Rule {
            releases: vec![bus, self.pools.queue],
            service: Service::Deterministic,
            ..self.serve(at.commands, bus, times, among, memory)
        };
        self.net.transition(rule);
        let times = self.map_work(|work| match work {
            ContextWork::Dram { bytes, .. } => self.dram_time(*bytes),
            _ => 0,
        });
        let moving = vec![at.moving];
        let rule = self.serve(at.dram_queue, self.pools.dram, times, among, moving.clone());
        let dram = self.net.transition(rule);
        let times = vec![p.sram_service * CYCLE];
        let rule = self.serve(at.sram_queue, self.pools.sram, times, among, moving);
        self.net.transition(rule);
        dram
    }

    /// Adds the remaining latency of an idle memory, besides its service and the bus; then the context
    /// continues.
    fn complete_commands(&mut self) {
        let (p, at) = (self.p, self.at);
        let rest = self.map_work(|work| {
            let (latency, served) = match work {
                ContextWork::Dram { bytes, latency } => (*latency, self.dram_time(*bytes)),
                ContextWork::Sram => (p.sram_read, p.sram_service * CYCLE),
                ContextWork::Lock => return 0,
            };
            (latency.saturating_sub(p.command_bus) * CYCLE).saturating_sub(served)
        });
        let mut after = vec![at.ready; self.work.len()];
        after[self.work.len() - 1] = at.done;
        self.net.transition(Rule {
            times: rest,
            service: p.delay,
            to: after,
            next: TokenFate::Increment,
            ..immediate(at.moving, at.ready)
        });
    }

    /// Adds the transition by which a context takes the lock before it claims one of the places shared by
    /// all contexts.
    fn lock(&mut self) -> Option<Transition> {
        let mutex = self
            .pools
            .mutex
            .filter(|_| self.p.slots != SlotPolicy::Local)?;
        Some(self.net.transition(Rule {
            acquires: vec![mutex],
            times: vec![self.p.scratch_atomic * CYCLE],
            service: self.p.delay,
            next: TokenFate::Increment,
            choice: self.p.arbitration.among_contexts(),
            ..immediate(self.at.locking, self.at.ready)
        }))
    }

    /// Adds the transitions by which a context has filled its place in TBUF, and becomes free at once or
    /// when the place has been sent.
    fn fill(&mut self, waits: bool) -> (Transition, Option<Transition>) {
        let at = self.at;
        let done = self.net.transition(Rule {
            releases: self.pools.mutex.into_iter().collect(),
            next: TokenFate::Reset,
            ..immediate(at.done, if waits { at.waiting } else { at.free })
        });
        // A context whose own place is still full waits until that has been sent.
        let freed = waits.then(|| self.net.transition(immediate(at.waiting, at.free)));
        (done, freed)
    }

    /// Adds the transition by which the line sends a place.
    fn transmit(&mut self) -> Transition {
        let line = self.at.line;
        let drain = self.p.bytes * 8 * 600 * CYCLE / self.p.drain_mbps;
        let rule = self.serve(
            line,
            self.pools.port,
            vec![drain],
            TokenChoice::Oldest,
            vec![line],
        );
        self.net.transition(Rule {
            service: Service::Deterministic,
            ..rule
        })
    }
}

/// A router with its net.
pub struct Router {
    net: Net,
    buffers: Buffers,
    room: usize,
    contexts: usize,
    packets: Pool,
    dram: Transition,
    stations: Stations,
}

impl Router {
    /// Creates an empty router; `stream` makes its random numbers independent of those of others.
    #[must_use]
    pub fn new(p: &Parameters, stream: u64) -> Self {
        let (engines, contexts) = (p.microengines, p.active_contexts());
        let mut net = Net::new(p.seed, stream);
        let mut builder = NetBuilder {
            p,
            work: program(p),
            at: Stations::new(&mut net, engines, contexts),
            pools: SharedPools::new(&mut net, p),
            net,
        };
        let accept = builder.accept();
        builder.execute();
        let dram = builder.serve_commands();
        builder.complete_commands();
        let lock = builder.lock();
        let fixed = matches!(p.slots, SlotPolicy::Contiguous | SlotPolicy::Strided);
        let (done, freed) = builder.fill(fixed && p.freed == ContextRelease::Sent);
        let transmit = builder.transmit();
        let places = match p.slots {
            SlotPolicy::Global => p.places(),
            _ => engines * contexts,
        };
        Self {
            buffers: Buffers {
                slots: p.slots,
                late: fixed && p.freed == ContextRelease::Filled,
                drain: p.drain,
                contexts,
                received: VecDeque::new(),
                held: vec![None; engines * contexts],
                tbuf: vec![TbufSlot::Empty; places],
                turn: 0,
                claim: vec![0; engines],
                accept: Some(accept),
                done: Some(done),
                lock,
                transmit: Some(transmit),
                freed,
            },
            room: (p.receive_bytes / p.bytes) as usize,
            contexts: engines * contexts,
            packets: builder.pools.packets,
            dram,
            stations: builder.at,
            net: builder.net,
        }
    }

    /// Sends packets that arrive at these times through the router, until all have left.
    #[must_use]
    pub fn run(self, come: &[(Tick, Packet)]) -> RouterOutcome {
        self.run_while(come, &|| true).unwrap_or_default()
    }

    /// Sends packets like [`run`](Self::run) while `go_on` returns true; `None` if it was stopped.
    pub fn run_while(
        mut self,
        come: &[(Tick, Packet)],
        go_on: &dyn Fn() -> bool,
    ) -> Option<RouterOutcome> {
        let mut passed = RouterOutcome::default();
        let mut come = come.iter().peekable();
        for step in 0_u64.. {
            if step.is_multiple_of(STEPS) && !go_on() {
                return None;
            }
            self.net.begin(&mut self.buffers);
            let end = self.net.next_end();
            let arrival = come.next_if(|(at, _)| end.is_none_or(|end| *at <= end));
            if let Some(&(at, packet)) = arrival {
                self.net.wait_until(at);
                if self.buffers.received.len() < self.room {
                    self.buffers.received.push_back(packet);
                    self.net.give(self.packets, 0);
                } else {
                    passed.lost += 1;
                }
            } else if let Some(fired) = self.net.end_next() {
                self.after(fired, &mut passed);
            } else {
                break;
            }
        }
        passed.dram_busy = self.net.busy(self.dram);
        passed.end = self.net.now();
        debug_assert_eq!(self.context_tokens(), self.contexts);
        Some(passed)
    }

    /// Returns the number of context tokens at places.
    fn context_tokens(&self) -> usize {
        self.stations
            .context_places()
            .iter()
            .map(|&place| self.net.tokens(place))
            .sum()
    }

    fn after(&mut self, fired: Fired, passed: &mut RouterOutcome) {
        let context = self.buffers.context(&fired.token);
        if Some(fired.transition) == self.buffers.done {
            if let Some((packet, place)) = self.buffers.held[context].take() {
                self.buffers.tbuf[place] = TbufSlot::Filled(packet);
            }
            self.buffers
                .transmit
                .iter()
                .for_each(|t| self.net.recheck(*t));
        } else if Some(fired.transition) == self.buffers.transmit {
            let turn = self.buffers.turn;
            if let TbufSlot::Filled(packet) = self.buffers.tbuf[turn] {
                passed.left.push((fired.at, packet));
            }
            self.buffers.tbuf[turn] = TbufSlot::Empty;
            self.buffers.turn = (turn + 1) % self.buffers.tbuf.len();
            let of = &self.buffers;
            for transition in [of.transmit, of.freed, of.done, of.accept, of.lock]
                .into_iter()
                .flatten()
            {
                self.net.recheck(transition);
            }
        }
    }
}
