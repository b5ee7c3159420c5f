//! The table of packets, written as the run proceeds.
//!
//! Rows are in order of arrival. A packet's row is written once its end is known and those of all
//! earlier packets are written, so only the packets from the oldest undecided one on are kept: at
//! most [`MAX_OPEN`], and some that are already written.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::gpp::boot::CounterSetup;
use npsim_chip::gpp::exceptions::Exceptions;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent, TraceEventKind};
use npsim_chip::watch::Sampler;
use npsim_image::Image;

use super::order::FlowOrder;
use super::row::{IncomingPacket, MAX_OPEN, PacketEnd, PacketRow, PacketSink};
use super::{DropFinder, MicrocodeDrop};

/// Packets that are kept after their row is written, for later ends such as those of copies.
const KEPT: usize = 4096;

/// The flows of frames, passed from the source of the traffic to the writer of
/// the rows. Without it, rows contain no flow and no order.
#[derive(Clone, Debug, Default)]
pub struct Flows(Arc<Mutex<VecDeque<(u64, String)>>>);

impl Flows {
    /// Announces a frame with its number and a description of its flow, in order of arrival.
    pub fn put(&self, frame: u64, flow: String) {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queue.push_back((frame, flow));
    }

    fn take(&self, frame: u64) -> Option<String> {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while queue.front()?.0 < frame {
            queue.pop_front();
        }
        (queue.front()?.0 == frame)
            .then(|| queue.pop_front())?
            .map(|it| it.1)
    }
}

/// A packet in the window.
#[derive(Debug)]
struct TrackedPacket {
    packet: IncomingPacket,
    ends: Vec<PacketEnd>,
}

/// The observer that passes the table's rows to a sink.
#[derive(Debug)]
pub struct PacketRows<S> {
    sink: S,
    flows: Flows,
    /// Packets in the order of their numbers, written ones first.
    window: VecDeque<TrackedPacket>,
    written: usize,
    order: FlowOrder,
    drops: DropFinder,
    counters: Vec<CounterSetup>,
    reasons: Vec<String>,
    images: Vec<Arc<Image>>,
    failed: Option<io::Error>,
}

impl<S: PacketSink> PacketRows<S> {
    /// An observer that adds a row for each packet that arrives at the chip from now on.
    pub fn new(sink: S, chip: &Chip, flows: Flows) -> Self {
        Self {
            sink,
            flows,
            window: VecDeque::new(),
            written: 0,
            order: FlowOrder::default(),
            drops: DropFinder::new(chip),
            counters: chip.gpp().counters().to_vec(),
            reasons: exception_reasons(chip),
            images: images(chip),
            failed: None,
        }
    }

    /// Ends the run: packets that are still inside get their rows.
    ///
    /// # Errors
    /// Returns the first error from writing.
    pub fn finish(mut self) -> io::Result<S::Table> {
        for drop in self.drops.finish() {
            self.microcode(&drop);
        }
        while self.written < self.window.len() {
            self.force();
        }
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.sink.finish()
    }

    /// Handles a frame that begins to arrive.
    fn arrives(&mut self, number: u64, port: u8, bytes: u32, time: (Cycle, Cycle)) {
        let flow = self.flows.take(number).unwrap_or_default();
        if !flow.is_empty() {
            self.order.came(&flow);
        }
        self.window.push_back(TrackedPacket {
            packet: IncomingPacket {
                number,
                flow,
                bytes,
                port,
                time,
            },
            ends: Vec::new(),
        });
        if self.window.len() - self.written > MAX_OPEN {
            self.force();
            self.write_decided();
        }
    }

    /// Writes the row of the oldest undecided packet as still inside.
    fn force(&mut self) {
        if let Some(entry) = self.window.get_mut(self.written) {
            if entry.ends.is_empty() {
                entry.ends.push(PacketEnd::Inside);
                if !entry.packet.flow.is_empty() {
                    self.order.ended(&entry.packet.flow);
                }
            }
            self.write_first();
        }
    }

    /// Writes the rows of the oldest unwritten packet.
    fn write_first(&mut self) {
        let Some(entry) = self.window.get(self.written) else {
            return;
        };
        for end in &entry.ends {
            let row = PacketRow::of(Some(&entry.packet), None, end);
            put(&mut self.sink, &mut self.failed, &row);
        }
        self.written += 1;
        if self.written > KEPT {
            self.window.pop_front();
            self.written -= 1;
        }
    }

    fn write_decided(&mut self) {
        while { self.window.get(self.written) }.is_some_and(|it| !it.ends.is_empty()) {
            self.write_first();
        }
    }

    /// The index of a packet in the window.
    fn place(&self, number: u64) -> Option<usize> {
        let found = self
            .window
            .binary_search_by_key(&number, |it| it.packet.number);
        found.ok()
    }

    /// Handles the end of a packet, or of something that is not a packet that arrived.
    fn ends(&mut self, number: Option<u64>, end: PacketEnd) {
        let Some(at) = number.and_then(|number| self.place(number)) else {
            let row = PacketRow::of(None, number, &end);
            return put(&mut self.sink, &mut self.failed, &row);
        };
        let entry = &mut self.window[at];
        if entry.ends.is_empty() && !entry.packet.flow.is_empty() {
            self.order.ended(&entry.packet.flow);
        }
        if at < self.written {
            let row = PacketRow::of(Some(&entry.packet), None, &end);
            return put(&mut self.sink, &mut self.failed, &row);
        }
        entry.ends.push(end);
        self.write_decided();
    }

    fn departs(&mut self, number: Option<u64>, port: u8, bytes: u32, time: (Cycle, Cycle)) {
        let entry = number
            .and_then(|it| self.place(it))
            .map(|at| &self.window[at]);
        let known = entry.filter(|it| it.ends.is_empty() && !it.packet.flow.is_empty());
        let extent = known.map(|it| {
            let oldest = self.window.get(self.written);
            let oldest = oldest.map_or(it.packet.number, |it| it.packet.number);
            (it.packet.flow.as_str(), it.packet.number, oldest)
        });
        let extent = extent.map(|(flow, number, oldest)| self.order.leaves(flow, number, oldest));
        self.ends(
            number,
            PacketEnd::Sent {
                port,
                bytes,
                time,
                extent,
            },
        );
    }

    fn microcode(&mut self, drop: &MicrocodeDrop) {
        let counter = self.counters.get(drop.counter);
        let image = self.images.get(usize::from(drop.me));
        self.ends(
            drop.frame,
            PacketEnd::Microcode {
                at: drop.at,
                counter: counter.map_or_else(String::new, |it| it.name.clone()),
                reason: counter.map_or_else(String::new, |it| it.text.clone()),
                me: drop.me,
                context: drop.context,
                place: image.map_or_else(String::new, |it| it.place(drop.pc)),
            },
        );
    }
}

/// Passes a row to the sink, until the first error.
fn put(sink: &mut impl PacketSink, failed: &mut Option<io::Error>, row: &PacketRow<'_>) {
    if failed.is_none() {
        *failed = sink.put(row).err();
    }
}

/// The names of the microcode's reasons for the slow path, by number.
pub(super) fn exception_reasons(chip: &Chip) -> Vec<String> {
    let task = chip.gpp().task::<Exceptions>();
    task.map_or_else(Vec::new, |it| it.setup().reasons.clone())
}

/// The name of a reason, as in the statistics.
pub(super) fn reason_name(reasons: &[String], reason: u8) -> String {
    let known = reasons.get(usize::from(reason)).filter(|it| !it.is_empty());
    known.map_or_else(|| format!("reason {reason}"), Clone::clone)
}

/// The program of each microengine.
pub(super) fn images(chip: &Chip) -> Vec<Arc<Image>> {
    let cores = chip.microengines().iter();
    cores
        .map(|core| Arc::clone(core.program().image()))
        .collect()
}

impl<S: PacketSink> Sampler for PacketRows<S> {}

impl<S: PacketSink> Observer for PacketRows<S> {
    fn wants(&self) -> EventKinds {
        DropFinder::KINDS.and(EventKinds::of(&[
            TraceEventKind::Arrives,
            TraceEventKind::Departed,
            TraceEventKind::Dropped,
            TraceEventKind::Exception,
        ]))
    }

    fn visit_state(&mut self, _: Cycle, state: &mut RecurringState<'_>) -> bool {
        state.value(self.window.len() as u64);
        state.value(self.written as u64);
        self.drops.visit_state(state);
        true
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        match *event {
            TraceEvent::Arrives {
                port,
                frame,
                bytes,
                until,
            } => self.arrives(frame, port, bytes, (at, until)),
            TraceEvent::Departed {
                port,
                frame,
                bytes,
                from,
            } => self.departs(frame, port, bytes, (from, at)),
            TraceEvent::Dropped {
                port,
                frame,
                reason,
            } => {
                let reason = reason.text();
                self.ends(frame, PacketEnd::Media { at, port, reason });
            }
            TraceEvent::Exception { handle, reason } => {
                let frame = self.drops.of_handle(handle);
                let reason = reason_name(&self.reasons, reason);
                self.ends(frame, PacketEnd::SlowPath { at, reason });
            }
            _ => {
                for drop in self.drops.see(at, event) {
                    self.microcode(&drop);
                }
            }
        }
    }
}
