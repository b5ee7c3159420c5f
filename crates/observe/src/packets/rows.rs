//! The table of packets, written while the run goes on.
//!
//! Rows stand in the order of arrival. A packet's row is written when its end is known and
//! those of all packets before it are written, so what is kept are the packets from the
//! oldest undecided on, at most [`OPEN_MOST`] and some that are written already.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::gpp::boot::CounterSetup;
use npsim_chip::gpp::exceptions::Exceptions;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::{Kinds, TraceEvent, TraceEventKind};
use npsim_chip::watch::Sampler;
use npsim_image::Image;

use super::order::FlowOrder;
use super::row::{self, COLUMNS, IncomingPacket, OPEN_MOST, PacketEnd};
use super::{DropFinder, MicrocodeDrop};

/// Packets that are kept behind their row, for ends that come later: copies, for example.
const KEPT: usize = 4096;

/// What flow a frame is of, from what puts it on a line to what writes its row.
/// Without it rows say nothing of flows and of order.
#[derive(Clone, Debug, Default)]
pub struct Flows(Arc<Mutex<VecDeque<(u64, String)>>>);

impl Flows {
    /// A frame will come: its number and its flow in words. In the order of arrival.
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

/// The observer that writes the table.
#[derive(Debug)]
pub struct PacketRows<W> {
    out: W,
    line: String,
    flows: Flows,
    /// Packets in the order of their numbers, those in front written.
    window: VecDeque<TrackedPacket>,
    written: usize,
    order: FlowOrder,
    drops: DropFinder,
    counters: Vec<CounterSetup>,
    reasons: Vec<String>,
    images: Vec<Arc<Image>>,
    failed: Option<io::Error>,
}

impl<W: Write> PacketRows<W> {
    /// Writes a row for each packet that comes to a chip from now on.
    pub fn new(out: W, chip: &Chip, flows: Flows) -> Self {
        let mut rows = Self {
            out,
            line: String::new(),
            flows,
            window: VecDeque::new(),
            written: 0,
            order: FlowOrder::default(),
            drops: DropFinder::new(chip),
            counters: chip.gpp().counters().to_vec(),
            reasons: exception_reasons(chip),
            images: images(chip),
            failed: None,
        };
        COLUMNS.clone_into(&mut rows.line);
        rows.line.push('\n');
        rows.put_line();
        rows
    }

    /// The run is over: what is still inside gets its row.
    ///
    /// # Errors
    /// The first error that writing came to.
    pub fn finish(mut self) -> io::Result<W> {
        for drop in self.drops.finish() {
            self.microcode(&drop);
        }
        while self.written < self.window.len() {
            self.force();
        }
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.out.flush()?;
        Ok(self.out)
    }

    fn put_line(&mut self) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(self.line.as_bytes()).err();
        }
    }

    /// A frame begins to come.
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
        if self.window.len() - self.written > OPEN_MOST {
            self.force();
            self.write_decided();
        }
    }

    /// Writes the row of the oldest that is undecided as one of a packet inside.
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

    /// Writes the rows of the oldest packet that is not written.
    fn write_first(&mut self) {
        let Some(entry) = self.window.get(self.written) else {
            return;
        };
        let mut lines = String::new();
        for end in &entry.ends {
            row::write(&mut self.line, Some(&entry.packet), None, end);
            lines.push_str(&self.line);
        }
        self.written += 1;
        self.line = lines;
        self.put_line();
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

    /// The place of a packet in the window.
    fn place(&self, number: u64) -> Option<usize> {
        let found = self
            .window
            .binary_search_by_key(&number, |it| it.packet.number);
        found.ok()
    }

    /// A packet comes to an end, or something does that is no packet that came.
    fn ends(&mut self, number: Option<u64>, end: PacketEnd) {
        let Some(at) = number.and_then(|number| self.place(number)) else {
            row::write(&mut self.line, None, number, &end);
            return self.put_line();
        };
        let entry = &mut self.window[at];
        if entry.ends.is_empty() && !entry.packet.flow.is_empty() {
            self.order.ended(&entry.packet.flow);
        }
        if at < self.written {
            row::write(&mut self.line, Some(&entry.packet), None, &end);
            return self.put_line();
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

/// What the microcode's reasons for the slow path are called, by number.
pub(super) fn exception_reasons(chip: &Chip) -> Vec<String> {
    let task = chip.gpp().task::<Exceptions>();
    task.map_or_else(Vec::new, |it| it.setup().reasons.clone())
}

/// The name of a reason, as the statistics have it.
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

impl<W: Write> Sampler for PacketRows<W> {}

impl<W: Write> Observer for PacketRows<W> {
    fn wants(&self) -> Kinds {
        DropFinder::KINDS.and(Kinds::of(&[
            TraceEventKind::Arrives,
            TraceEventKind::Departed,
            TraceEventKind::Dropped,
            TraceEventKind::Exception,
        ]))
    }

    fn recur(&mut self, _: Cycle, state: &mut RecurringState<'_>) -> bool {
        state.value(self.window.len() as u64);
        state.value(self.written as u64);
        self.drops.recur(state);
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
