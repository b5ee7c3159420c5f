//! The events of one packet: what happened to it, when, and by which context and line.

use std::collections::BTreeMap;
use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::gpp::boot::CounterSetup;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::{EventKinds, RbufStep, TbufStep, TraceEvent, TraceEventKind};
use npsim_chip::watch::Sampler;
use npsim_image::Image;
use npsim_isa::{CommandOp, Unit};

use super::rows::{exception_reasons, images, reason_name};
use super::{DropFinder, MicrocodeDrop};
use crate::names;
use crate::series::OccupancyProbe;

/// Something that happened to a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketEvent {
    /// The cycle.
    pub at: Cycle,
    /// A description of the event.
    pub what: String,
    /// The microengine and context that caused it, if any.
    pub by: Option<(u8, u8)>,
    /// The instruction's source line with the macros that it was expanded from,
    /// if a command caused it.
    pub place: Option<String>,
}

/// The observer that follows one packet.
#[derive(Debug)]
pub struct PacketFollower {
    number: u64,
    /// Number of packets that have arrived.
    arrival_count: u64,
    list: Vec<PacketEvent>,
    drops: DropFinder,
    counters: Vec<CounterSetup>,
    reasons: Vec<String>,
    images: Vec<Arc<Image>>,
    places: Vec<OccupancyProbe>,
    /// The instruction whose command a unit served last, by context and unit.
    served: BTreeMap<(u8, u8, Unit), u16>,
    /// The instruction that last moved data from RBUF to DRAM, by context. RBUF provides the data
    /// before DRAM serves the command.
    moved: BTreeMap<(u8, u8), u16>,
}

impl PacketFollower {
    /// Follows the packet with this number, from 0 in order of arrival. `places` contains the
    /// project's names of rings and queues.
    #[must_use]
    pub fn new(chip: &Chip, number: u64, places: &[OccupancyProbe]) -> Self {
        Self {
            number,
            arrival_count: 0,
            list: Vec::new(),
            drops: DropFinder::new(chip),
            counters: chip.gpp().counters().to_vec(),
            reasons: exception_reasons(chip),
            images: images(chip),
            places: places.to_vec(),
            served: BTreeMap::new(),
            moved: BTreeMap::new(),
        }
    }

    /// The packet's number.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Number of packets that have arrived.
    #[must_use]
    pub const fn arrival_count(&self) -> u64 {
        self.arrival_count
    }

    /// The events in order of time; none if the packet did not arrive.
    #[must_use]
    pub fn finish(mut self) -> Vec<PacketEvent> {
        for drop in self.drops.finish() {
            self.dropped(&drop);
        }
        self.list.sort_by_key(|it| it.at);
        self.list
    }

    fn add(&mut self, at: Cycle, what: String) {
        self.list.push(PacketEvent {
            at,
            what,
            by: None,
            place: None,
        });
    }

    fn by(&mut self, at: Cycle, (me, context): (u8, u8), pc: Option<u16>, what: String) {
        let image = self.images.get(usize::from(me));
        let place = pc.and_then(|pc| image.map(|image| image.place(pc)));
        let event = PacketEvent {
            at,
            what,
            by: Some((me, context)),
            place,
        };
        // One line handles many mpackets.
        let again = { self.list.last() }.is_some_and(|last| {
            (&last.what, last.by, &last.place) == (&event.what, event.by, &event.place)
        });
        if !again {
            self.list.push(event);
        }
    }

    /// The instruction whose command was last served at a unit.
    fn command(&self, (me, context): (u8, u8), unit: Unit) -> Option<u16> {
        self.served.get(&(me, context, unit)).copied()
    }

    fn dropped(&mut self, drop: &MicrocodeDrop) {
        if drop.frame == Some(self.number) {
            let counter = self.counters.get(drop.counter);
            let text = counter.map_or("", |it| &it.text);
            let what = format!("dropped: {text}");
            self.by(drop.at, (drop.me, drop.context), Some(drop.pc), what);
        }
    }

    fn rbuf(&mut self, at: Cycle, element: u8, step: RbufStep) {
        let what = names::rbuf_step(element, step);
        match step {
            RbufStep::Filled { .. } => self.add(at, what),
            RbufStep::HandedOver { me, context } => self.by(at, (me, context), None, what),
            RbufStep::Read { me, context } => {
                let pc = self.moved.get(&(me, context)).copied();
                self.by(at, (me, context), pc, what);
            }
            RbufStep::Freed { me, context } => {
                let pc = self.command((me, context), Unit::Msf);
                self.by(at, (me, context), pc, what);
            }
        }
    }

    fn tbuf(&mut self, at: Cycle, element: u8, step: TbufStep) {
        let what = names::tbuf_step(element, step);
        match step {
            TbufStep::Written { me, context } => {
                let pc = self.command((me, context), Unit::Dram);
                self.by(at, (me, context), pc, what);
            }
            TbufStep::Valid { me, context, .. } => {
                let pc = self.command((me, context), Unit::Msf);
                self.by(at, (me, context), pc, what);
            }
            TbufStep::Sent => self.add(at, what),
        }
    }
}

impl Sampler for PacketFollower {}

impl Observer for PacketFollower {
    fn wants(&self) -> EventKinds {
        DropFinder::KINDS.and(EventKinds::of(&[
            TraceEventKind::Arrives,
            TraceEventKind::Departed,
            TraceEventKind::Dropped,
            TraceEventKind::Exception,
            TraceEventKind::Tbuf,
        ]))
    }

    fn visit_state(&mut self, _: Cycle, state: &mut RecurringState<'_>) -> bool {
        state.value(self.arrival_count);
        state.value(self.list.len() as u64);
        state.value(self.served.len() as u64);
        { self.served.values() }.for_each(|pc| state.value(u64::from(*pc)));
        self.drops.visit_state(state);
        true
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        let ours = |frame: Option<u64>| frame == Some(self.number);
        match *event {
            TraceEvent::Command { command, .. } if command.op == CommandOp::DramRbufRd => {
                self.moved.insert((command.me, command.context), command.pc);
            }
            TraceEvent::Served { command, .. } => {
                let unit = command.op.info().unit;
                let key = (command.me, command.context, unit);
                self.served.insert(key, command.pc);
            }
            TraceEvent::Arrives {
                port,
                frame,
                bytes,
                until,
            } => {
                self.arrival_count += 1;
                if ours(Some(frame)) {
                    let what = format!("first bit arrives at port {port}");
                    self.add(at, what);
                    self.add(until, format!("last bit has arrived: {bytes} bytes"));
                }
            }
            TraceEvent::Rbuf {
                element,
                frame,
                step,
            } if ours(Some(frame)) => self.rbuf(at, element, step),
            TraceEvent::Tbuf {
                element,
                frame,
                step,
            } if ours(frame) => self.tbuf(at, element, step),
            TraceEvent::Stored { frame, address } if ours(Some(frame)) => {
                self.add(at, format!("first bytes stored in DRAM at 0x{address:x}"));
            }
            TraceEvent::Touched { frame, me, context } if ours(Some(frame)) => {
                let pc = self.command((me, context), Unit::Dram);
                let what = "first bytes read or written in DRAM".to_owned();
                self.by(at, (me, context), pc, what);
            }
            TraceEvent::BufferMoved {
                buffer,
                ring,
                takes,
                me,
                context,
                pc,
            } if ours(self.drops.in_buffer(buffer)) => {
                let name = names::ring_label(&self.places, ring);
                let what = if takes {
                    format!("buffer taken from {name}")
                } else {
                    format!("buffer put on {name}")
                };
                self.by(at, (me, context), Some(pc), what);
            }
            TraceEvent::Dropped {
                port,
                frame,
                reason,
            } if ours(frame) => {
                let what = format!("lost at port {port}: {}", reason.text());
                self.add(at, what);
            }
            TraceEvent::Departed {
                port,
                frame,
                bytes,
                from,
            } if ours(frame) => {
                self.add(from, format!("first bit leaves through port {port}"));
                self.add(at, format!("last bit has left: {bytes} bytes"));
            }
            TraceEvent::Exception { handle, reason } if ours(self.drops.of_handle(handle)) => {
                let reason = reason_name(&self.reasons, reason);
                let what = format!("taken by the general-purpose core: {reason}");
                self.add(at, what);
            }
            _ => {}
        }
        for drop in self.drops.see(at, event) {
            self.dropped(&drop);
        }
    }
}

/// The packets that are followed in a run.
#[derive(Debug)]
pub struct PacketFollowers(Vec<PacketFollower>);

impl PacketFollowers {
    /// An observer of these packets; `None` if none were chosen.
    #[must_use]
    pub fn of(all: Vec<PacketFollower>) -> Option<Self> {
        (!all.is_empty()).then_some(Self(all))
    }

    /// The observers of the individual packets.
    pub fn into_followers(self) -> impl Iterator<Item = PacketFollower> {
        self.0.into_iter()
    }
}

impl Sampler for PacketFollowers {}

impl Observer for PacketFollowers {
    fn wants(&self) -> EventKinds {
        let each = self.0.iter().map(Observer::wants);
        each.fold(EventKinds::NONE, EventKinds::and)
    }

    fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) -> bool {
        self.0.iter_mut().all(|it| it.visit_state(at, state))
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        for one in &mut self.0 {
            one.see(at, event);
        }
    }
}
