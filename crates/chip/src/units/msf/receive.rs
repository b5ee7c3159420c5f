//! The receive path: lines, MAC receive FIFOs, the receive bus, RBUF, and threads waiting for
//! mpackets.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use npsim_isa::CommandOp;

use super::code::MediaEventCode;
use super::link::Link;
use super::parameters::MediaParameters;
use super::port::{MIN_FRAME, Port};
use super::rbuf::Rbuf;
use crate::Cycle;
use crate::kernel::event::Event;
use crate::kernel::fabric::{BusCommand, Fabric, TransferKind};
use crate::kernel::freelist_entry::FreelistEntry;
use crate::kernel::port_io::{Arrival, MediaDrop, PacketTag, PortIo};
use crate::kernel::snapshot::{bits, count};
use crate::kernel::trace_event::{Bus, RbufStep, TraceEvent};

/// Number of thread freelists.
pub(crate) const FREELISTS: usize = 3;
/// Null status: no mpacket came within the timeout.
pub(crate) const NULL_STATUS: u32 = 1 << 9;

/// The command that pushes the status word to a thread.
fn push_to(waiter: FreelistEntry) -> BusCommand {
    BusCommand {
        me: waiter.me,
        context: waiter.context,
        count: 2,
        transfer_me: waiter.me,
        transfer: waiter.absolute_register(),
        signal_context: waiter.context,
        push_signals: if waiter.signal == 0 {
            0
        } else {
            1 << waiter.signal
        },
        ..BusCommand::blank(CommandOp::MsfRead, TransferKind::S)
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Freelist {
    waiters: VecDeque<FreelistEntry>,
    /// Timeout in cycles; 0 for none.
    timeout: Cycle,
    /// When the running countdown ends.
    due: Option<Cycle>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct RbufTransfer {
    port: usize,
    element: u8,
}

/// The receive half of the media interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receive {
    /// The receive buffer.
    pub rbuf: Rbuf,
    lists: [Freelist; FREELISTS],
    next_arrival: Option<Arrival>,
    exhausted: bool,
    link: Link,
    transfer: Option<RbufTransfer>,
    /// Whether data waits for an RBUF element, and when it last did.
    starving: bool,
    starved: Option<Cycle>,
    turn: usize,
    #[serde(with = "bits")]
    fifo_bytes: u64,
    autopush: Cycle,
    /// Number of elements given to threads.
    pub handed: u64,
    /// Largest number of threads that were waiting.
    pub freelist_peak: u64,
    /// Number of null status words pushed.
    #[serde(with = "count")]
    pub null_pushes: u64,
    /// Frames for ports that the chip does not have.
    pub no_such_port: u64,
    /// Whether a thread has put another one on a freelist.
    pub lists_others: bool,
}

impl Receive {
    pub(super) fn new(parameters: &MediaParameters, element_bytes: u16, withheld: &[u8]) -> Self {
        Self {
            rbuf: Rbuf::new(parameters, element_bytes, withheld),
            lists: Default::default(),
            next_arrival: None,
            exhausted: false,
            link: parameters.receive_link(),
            transfer: None,
            starving: false,
            starved: None,
            turn: 0,
            fifo_bytes: u64::from(parameters.receive_fifo_bytes),
            autopush: parameters.autopush_lead,
            handed: 0,
            freelist_peak: 0,
            null_pushes: 0,
            no_such_port: 0,
            lists_others: false,
        }
    }

    /// Cycles in which the bus moved data.
    #[must_use]
    pub const fn bus_busy(&self) -> Cycle {
        self.link.busy
    }

    /// Number of threads waiting on all lists.
    #[must_use]
    pub fn waiters(&self) -> usize {
        self.lists.iter().map(|l| l.waiters.len()).sum()
    }

    /// The waiting threads, list by list.
    pub fn all_waiters(&self) -> impl Iterator<Item = &FreelistEntry> {
        self.lists.iter().flat_map(|list| &list.waiters)
    }

    /// The threads waiting on each list, next in line first.
    pub fn waiting_threads(&self) -> impl Iterator<Item = &VecDeque<FreelistEntry>> {
        self.lists.iter().map(|list| &list.waiters)
    }

    /// Whether a thread is waiting for an mpacket.
    #[must_use]
    pub(crate) fn is_waiting(&self, me: u8, context: u8) -> bool {
        self.all_waiters()
            .any(|w| (w.me, w.context) == (me, context))
    }

    /// The first bit of the next known frame; `Cycle::MAX` if there is none.
    #[must_use]
    pub(super) fn next_arrival(&self) -> Cycle {
        { self.next_arrival.as_ref() }.map_or(Cycle::MAX, |arrival| arrival.start)
    }

    /// Whether the lines have no more frames and all have arrived.
    #[must_use]
    pub(crate) const fn exhausted(&self) -> bool {
        self.exhausted && self.next_arrival.is_none()
    }

    /// Fetches the next arrival if none is known.
    pub(super) fn refill(&mut self, fabric: &mut Fabric, lines: &mut dyn PortIo) {
        if self.next_arrival.is_some() {
            return;
        }
        match lines.next_arrival() {
            Some(mut arrival) => {
                self.exhausted = false;
                arrival.start = arrival.start.max(fabric.now);
                arrival.end = arrival.end.max(arrival.start);
                if arrival.bytes.len() < MIN_FRAME {
                    arrival.bytes.resize(MIN_FRAME, 0);
                }
                fabric
                    .events
                    .post(arrival.start, Event::Media(MediaEventCode::Arrival.with(0)));
                self.next_arrival = Some(arrival);
            }
            None => self.exhausted = true,
        }
    }

    /// Handles the arrival of a frame's first bit on the line.
    pub(super) fn arrival(
        &mut self,
        ports: &mut [Port],
        fabric: &mut Fabric,
        lines: &mut dyn PortIo,
    ) {
        if let Some(arrival) = self.next_arrival.take() {
            self.accept(arrival, ports, fabric, lines);
        }
        self.refill(fabric, lines);
    }

    /// Takes a frame at its first bit into its port's receive FIFO, or drops it.
    ///
    /// A drop is recorded three times: in the port's counters, for observers, and outside the chip
    /// (`lines`), where every frame is accounted for. The reason names the bottleneck behind the
    /// full FIFO: `starving` if RBUF has no free element now or had none at any time since the
    /// FIFO's oldest frame arrived; otherwise the frame alone exceeds the FIFO, or the bus is too
    /// slow.
    fn accept(
        &mut self,
        arrival: Arrival,
        ports: &mut [Port],
        fabric: &mut Fabric,
        lines: &mut dyn PortIo,
    ) {
        let now = fabric.now;
        fabric.trace.record(now, || TraceEvent::Arrives {
            port: arrival.port,
            frame: arrival.frame,
            bytes: arrival.bytes.len() as u32,
            until: arrival.end,
        });
        let Some(port) = ports.get_mut(arrival.port as usize) else {
            self.no_such_port += 1;
            trace_dropped(&arrival, MediaDrop::NoSuchPort, fabric);
            lines.dropped(
                now,
                arrival.port,
                Some(arrival.frame),
                MediaDrop::NoSuchPort,
            );
            return;
        };
        let bytes = arrival.bytes.len() as u64;
        port.counts.received_frames += 1;
        port.counts.received_bytes += bytes;
        // Room is taken for the whole frame at its first bit, so a frame is lost completely or not
        // at all. A frame longer than the FIFO passes through an empty one, as it is moved on while
        // it arrives.
        let held = port.receive_backlog() + bytes.min(self.fifo_bytes);
        if held > self.fifo_bytes {
            port.counts.overflow_frames += 1;
            let waits_since = port.incoming().front().map(|front| front.arrival.start);
            let reason = if self.starving || self.starved >= waits_since {
                MediaDrop::ReceiveFifoFull
            } else if bytes > self.fifo_bytes {
                MediaDrop::ReceiveTooLong
            } else {
                MediaDrop::ReceiveBusBehind
            };
            trace_dropped(&arrival, reason, fabric);
            lines.dropped(now, arrival.port, Some(arrival.frame), reason);
            return;
        }
        port.counts.receive_fifo_peak = port.counts.receive_fifo_peak.max(held);
        let first = port.incoming().is_empty();
        port.arrives(arrival, self.rbuf.element_bytes());
        if first {
            Self::announce(port, fabric);
        }
    }

    /// Schedules the time at which the port's next mpacket can go over the bus.
    fn announce(port: &Port, fabric: &mut Fabric) {
        if !port.incoming().is_empty() {
            let at = port.available().max(fabric.now);
            fabric
                .events
                .post(at, Event::Media(MediaEventCode::ReceiveBus.with(0)));
        }
    }

    /// Starts the next mpacket if bus, data and an element are available.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Has a single caller.
    pub(super) fn arbitrate(&mut self, ports: &[Port], fabric: &mut Fabric) {
        if self.transfer.is_some() {
            return;
        }
        let first = self.turn.min(ports.len());
        let mut in_turn = (first..ports.len()).chain(0..first);
        let Some(index) = in_turn.find(|at| ports[*at].available() <= fabric.now) else {
            return;
        };
        let Some(frame) = ports[index].incoming().front() else {
            return;
        };
        // Done last, since it takes the element. Without one the bus stays idle; the next element
        // to be freed triggers another attempt.
        let element = self.rbuf.allocate();
        if self.starving || element.is_none() {
            self.starving = element.is_none();
            self.starved = Some(fabric.now);
        }
        let Some(element) = element else {
            return;
        };
        self.turn = if index + 1 == ports.len() {
            0
        } else {
            index + 1
        };
        let end = self
            .link
            .reserve_bus(frame.chunk(self.rbuf.element_bytes()) as u64, fabric.now);
        let from = self.link.begun;
        fabric.trace.record(from, || TraceEvent::Bus {
            bus: Bus::Receive,
            from,
            until: end,
        });
        self.transfer = Some(RbufTransfer {
            port: index,
            element,
        });
        fabric
            .events
            .post(end, Event::Media(MediaEventCode::ReceiveDone.with(0)));
    }

    /// Completes a transfer: the mpacket on the bus is in its element.
    pub(super) fn transferred(&mut self, ports: &mut [Port], fabric: &mut Fabric) {
        let Some(RbufTransfer {
            port: index,
            element,
        }) = self.transfer.take()
        else {
            return;
        };
        let port = &mut ports[index];
        if let Some(frame) = port.incoming().front() {
            let (from, to) = (
                frame.moved,
                frame.moved + frame.chunk(self.rbuf.element_bytes()),
            );
            let eop = to == frame.arrival.bytes.len();
            let mpacket = &frame.arrival.bytes[from..to];
            self.rbuf.close(
                element,
                mpacket,
                index as u8,
                from == 0,
                eop,
                PacketTag::new(frame.arrival.frame, frame.arrival.end),
            );
            let step = RbufStep::Filled {
                port: index as u8,
                bytes: (to - from) as u16,
                sop: from == 0,
                eop,
            };
            let frame_number = frame.arrival.frame;
            fabric.trace.record(fabric.now, || TraceEvent::Rbuf {
                element,
                frame: frame_number,
                step,
            });
            port.moved(to - from, self.rbuf.element_bytes());
        }
        Self::announce(port, fabric);
        self.match_threads(fabric);
        self.arbitrate(ports, fabric);
    }

    /// Adds a thread to a freelist.
    ///
    /// # Errors
    /// Returns an error if the list is full.
    pub(super) fn enlist(
        &mut self,
        list: usize,
        waiter: FreelistEntry,
        depth: usize,
        fabric: &mut Fabric,
    ) -> Result<(), String> {
        if self.lists[list].waiters.len() >= depth {
            return Err(format!(
                "RX_THREAD_FREELIST_{list} already holds {depth} threads"
            ));
        }
        self.lists[list].waiters.push_back(waiter);
        self.freelist_peak = self.freelist_peak.max(self.waiters() as u64);
        if self.lists[list].waiters.len() == 1 {
            self.restart_timeout(list, fabric);
        }
        self.match_threads(fabric);
        Ok(())
    }

    /// Matches closed elements with waiting threads. With one partition, every element belongs to
    /// list 0.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of its caller.
    fn match_threads(&mut self, fabric: &mut Fabric) {
        // Elements and threads both wait in order, and never both at once: a newcomer is matched
        // with the other list or joins its own.
        while self.rbuf.waiting() > 0 {
            let Some(waiter) = self.lists[0].waiters.pop_front() else {
                return;
            };
            let Some(element) = self.rbuf.hand_out(waiter.me, waiter.context, fabric.now) else {
                return;
            };
            self.handed += 1;
            if let Some(buffers) = &mut fabric.buffers {
                buffers.packet_handed_over();
            }
            let frame = self.rbuf.elements()[usize::from(element)].frame;
            fabric.trace.record(fabric.now, || TraceEvent::Rbuf {
                element,
                frame,
                step: RbufStep::HandedOver {
                    me: waiter.me,
                    context: waiter.context,
                },
            });
            self.push(waiter, self.rbuf.status(element), fabric);
            self.restart_timeout(0, fabric);
        }
    }

    fn push(&self, waiter: FreelistEntry, status: [u32; 2], fabric: &mut Fabric) {
        // The status word uses the same push bus as the replies to commands, so a loaded bus delays
        // packets as well.
        let slot = fabric.open(push_to(waiter));
        fabric.flight_mut(slot).data[..2].copy_from_slice(&status);
        fabric.push_at(slot, 2, fabric.now + self.autopush);
    }

    /// Sets a freelist's timeout; 0 disables it.
    pub(super) fn set_timeout(&mut self, list: usize, timeout: Cycle, fabric: &mut Fabric) {
        self.lists[list].timeout = timeout;
        self.restart_timeout(list, fabric);
    }

    /// The timeout of a freelist.
    #[must_use]
    pub const fn timeout(&self, list: usize) -> Cycle {
        self.lists[list].timeout
    }

    /// Restarts a freelist's countdown. It runs while a thread is waiting, and starts over with
    /// each push and with the first thread.
    fn restart_timeout(&mut self, list: usize, fabric: &mut Fabric) {
        let freelist = &mut self.lists[list];
        let over = Event::Media(MediaEventCode::Timeout.with(list as u32));
        if let Some(due) = freelist.due.take() {
            fabric.events.cancel(due, over);
        }
        if freelist.timeout > 0 && !freelist.waiters.is_empty() {
            let due = fabric.now + freelist.timeout;
            freelist.due = Some(due);
            fabric.events.post(due, over);
        }
    }

    /// Handles the end of a countdown.
    pub(super) fn timed_out(&mut self, argument: u32, fabric: &mut Fabric) {
        let list = argument as usize;
        self.lists[list].due = None;
        if let Some(waiter) = self.lists[list].waiters.pop_front() {
            self.null_pushes += 1;
            self.push(waiter, [NULL_STATUS, 0], fabric);
            self.restart_timeout(list, fabric);
        }
    }
}

/// Reports to observers that an arrival was dropped.
fn trace_dropped(arrival: &Arrival, reason: MediaDrop, fabric: &mut Fabric) {
    fabric.trace.record(fabric.now, || TraceEvent::Dropped {
        port: arrival.port,
        frame: Some(arrival.frame),
        reason,
    });
}
