//! The path of a packet through the chip.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use npsim_chip::kernel::fabric::BusCommand;
use npsim_chip::kernel::trace_event::{EventKinds, RbufStep, TbufStep, TraceEvent, TraceEventKind};
use npsim_isa::Unit;
use npsim_observe::names;

use crate::debugger::Debugger;
use crate::error::DebugError;
use crate::search::{Candidate, CodePoint, Condition, Direction, STEP, SearchResult};
use crate::thread::Thread;
use crate::timeline::TimePoint;

/// Picoseconds per second.
const PICO: u128 = 1_000_000_000_000;
/// Fraction of a second for which a packet that was not seen leaving is followed.
const PATIENCE: u64 = 1000;

/// An event of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketEvent {
    /// The cycle.
    pub cycle: Cycle,
    /// A description of the event.
    pub what: String,
    /// The context that caused it, if any, and its instruction.
    pub place: Option<CodePoint>,
}

/// The events of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketTrail {
    /// The frame's number.
    pub packet: u64,
    /// The events, in order.
    pub events: Vec<PacketEvent>,
    /// Whether it has left or was lost. Otherwise neither was observed before `until`.
    pub over: bool,
    /// The cycle up to which it was followed.
    pub until: Cycle,
}

/// Microengine, context, and the unit of the command that causes the event.
type CommandIssuer = (u8, u8, Option<Unit>);

struct PacketFollower {
    packet: u64,
    events: Vec<PacketEvent>,
    /// The current instructions of contexts.
    at: BTreeMap<Thread, u16>,
    /// The last command of each context that each unit handled.
    commands: BTreeMap<(Thread, Unit), BusCommand>,
}

impl PacketFollower {
    /// The current instruction of a context, or that of its command at a unit.
    fn place(&self, (me, context, unit): CommandIssuer) -> CodePoint {
        let thread = Thread { me, context };
        let command = unit.and_then(|unit| self.commands.get(&(thread, unit)));
        let known = self.at.get(&thread).copied().unwrap_or(0);
        CodePoint {
            me,
            context,
            pc: command.map_or(known, |it| it.pc),
        }
    }

    fn add_event(&mut self, cycle: Cycle, what: impl Into<String>, by: Option<CommandIssuer>) {
        let place = by.map(|by| self.place(by));
        self.events.push(PacketEvent {
            cycle,
            what: what.into(),
            place,
        });
    }

    fn end(at: Cycle, candidates: &mut Vec<Candidate>) {
        candidates.push(Candidate {
            moment: TimePoint::before(at + 1),
            mark: STEP,
            place: None,
        });
    }
}

impl Condition for PacketFollower {
    fn wants(&self) -> EventKinds {
        EventKinds::of(&[
            TraceEventKind::Issued,
            TraceEventKind::Context,
            TraceEventKind::Served,
            TraceEventKind::Done,
            TraceEventKind::Arrives,
            TraceEventKind::Dropped,
            TraceEventKind::Departed,
            TraceEventKind::Rbuf,
            TraceEventKind::Tbuf,
            TraceEventKind::Touched,
        ])
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent, candidates: &mut Vec<Candidate>) {
        let packet = self.packet;
        match *event {
            TraceEvent::Issued {
                me,
                context,
                pc,
                count,
            } => {
                self.at
                    .insert(Thread { me, context }, pc + count.saturating_sub(1));
            }
            TraceEvent::Context {
                me, context, pc, ..
            } => {
                self.at.insert(Thread { me, context }, pc);
            }
            TraceEvent::Served { command, .. } | TraceEvent::Done { command, .. } => {
                let thread = Thread {
                    me: command.me,
                    context: command.context,
                };
                self.commands
                    .insert((thread, command.op.info().unit), command);
            }
            TraceEvent::Arrives {
                port, frame, bytes, ..
            } if frame == packet => {
                let text = format!("starts to arrive at port {port}, {bytes} bytes");
                self.add_event(at, text, None);
            }
            TraceEvent::Dropped {
                port,
                frame: Some(frame),
                reason,
            } if frame == packet => {
                self.add_event(at, format!("lost at port {port}: {}", reason.text()), None);
                Self::end(at, candidates);
            }
            TraceEvent::Departed {
                port,
                frame: Some(frame),
                bytes,
                ..
            } if frame == packet => {
                let text = format!("has left through port {port}, {bytes} bytes");
                self.add_event(at, text, None);
                Self::end(at, candidates);
            }
            TraceEvent::Rbuf {
                element,
                frame,
                step,
            } if frame == packet => {
                self.add_event(at, names::rbuf_step(element, step), rbuf_issuer(step));
            }
            TraceEvent::Touched { frame, me, context } if frame == packet => {
                let thread = Thread { me, context };
                let command = self.commands.get(&(thread, Unit::Dram));
                let what = command.map_or_else(
                    || "first bytes read or written in DRAM".to_owned(),
                    |it| format!("first bytes in DRAM: {}", names::operation(it.op)),
                );
                self.add_event(at, what, Some((me, context, Some(Unit::Dram))));
            }
            TraceEvent::Tbuf {
                element,
                frame: Some(frame),
                step,
            } if frame == packet => {
                self.add_event(at, names::tbuf_step(element, step), tbuf_issuer(step));
            }
            _ => {}
        }
    }
}

/// The issuer of the command that caused a step of a frame in an RBUF element, if one did.
const fn rbuf_issuer(step: RbufStep) -> Option<CommandIssuer> {
    match step {
        RbufStep::Filled { .. } => None,
        RbufStep::HandedOver { me, context } => Some((me, context, None)),
        RbufStep::Read { me, context } => Some((me, context, Some(Unit::Dram))),
        RbufStep::Freed { me, context } => Some((me, context, Some(Unit::Msf))),
    }
}

/// The issuer of the command that caused a step of a frame in a TBUF element, if one did.
const fn tbuf_issuer(step: TbufStep) -> Option<CommandIssuer> {
    match step {
        TbufStep::Written { me, context } => Some((me, context, Some(Unit::Dram))),
        TbufStep::Valid { me, context, .. } => Some((me, context, Some(Unit::Msf))),
        TbufStep::Sent => None,
    }
}

/// The arrival of a frame.
struct PacketArrives(u64);

impl Condition for PacketArrives {
    fn wants(&self) -> EventKinds {
        EventKinds::of(&[TraceEventKind::Arrives])
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent, candidates: &mut Vec<Candidate>) {
        if matches!(*event, TraceEvent::Arrives { frame, .. } if frame == self.0) {
            candidates.push(Candidate {
                moment: TimePoint::before(at + 1),
                mark: STEP,
                place: None,
            });
        }
    }
}

impl Debugger {
    /// The path of a frame through the chip, by its number in order of arrival, from 0.
    ///
    /// # Errors
    /// Returns an error if no such frame arrives.
    pub fn packet(&mut self, packet: u64) -> Result<PacketTrail, DebugError> {
        let start = self.timeline().moment();
        let trail = self.follow(packet);
        self.timeline_mut().goto_point(start);
        trail
    }

    /// Moves the timeline along with a packet, from the cycle at which its first bit arrives until
    /// it is gone, and collects its events; the caller restores the timeline's position.
    ///
    /// The arrival of a packet is known once the run has been there (`Timeline::frame`), so a later
    /// one is searched for first. A packet that never leaves is followed for 1 ms ([`PATIENCE`]),
    /// or to the end of what has already been run if that is later.
    fn follow(&mut self, packet: u64) -> Result<PacketTrail, DebugError> {
        if self.timeline().frame(packet).is_none() {
            let recorded_to = self.timeline().recorded_to();
            self.timeline_mut().goto(recorded_to);
            match self.find(&mut PacketArrives(packet), Direction::Forward, None) {
                SearchResult::Hit(_) => {}
                SearchResult::Nothing => {
                    return Err(DebugError::new(format!("no packet {packet} arrives"))
                        .help("packets are numbered from 0 in the order of their arrival"));
                }
                SearchResult::Interrupted => {
                    let cycle = self.timeline().moment().cycle;
                    return Err(DebugError::new(format!(
                        "interrupted: no packet {packet} arrives before cycle {cycle}; later cycles were not searched"
                    )));
                }
            }
        }
        let hertz = self.timeline().hertz();
        let frame = self.timeline().frame(packet);
        let start_ps = frame.map_or(0, |frame| frame.start_ps);
        let begins = (start_ps * u128::from(hertz)).div_ceil(PICO) as Cycle;
        self.timeline_mut().goto(begins);
        let threads = self.threads();
        let mut follow = PacketFollower {
            packet,
            events: Vec::new(),
            at: threads.iter().map(|it| (it.thread, it.pc)).collect(),
            commands: BTreeMap::new(),
        };
        let patience = begins.saturating_add(hertz / PATIENCE);
        let until = patience.max(self.timeline().recorded_to());
        let limit = Some(TimePoint::before(until));
        let found = self.find(&mut follow, Direction::Forward, limit);
        let over = matches!(found, SearchResult::Hit(_));
        if !over {
            return Ok(PacketTrail {
                packet,
                events: follow.events,
                over,
                until: self.timeline().moment().cycle,
            });
        }
        let until = self.timeline().moment().cycle;
        follow.events.retain(|it| it.cycle < until);
        Ok(PacketTrail {
            packet,
            events: follow.events,
            over,
            until,
        })
    }
}
