//! The transmit path: TBUF in strict order, the transmit bus, MAC transmit FIFOs and lines.

use super::code::MediaEventCode;
use super::link::Link;
use super::parameters::MediaParameters;
use super::port::{FrameAssembly, Port};
use super::tbuf::{ControlWord, ControlWordError, Tbuf};
use crate::Cycle;
use crate::kernel::event::Event;
use crate::kernel::fabric::Fabric;
use crate::kernel::port_io::{Departure, MediaDrop, PacketTag, PortIo};
use crate::kernel::trace_event::{Bus, TbufStep, TraceEvent};
use serde::{Deserialize, Serialize};

/// Frames passed to TBUF that never reached a line, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransmitErrors {
    /// The first mpacket lacked SOP.
    pub no_sop: u64,
    /// An mpacket with SOP came before the EOP of the previous frame.
    pub sop_twice: u64,
    /// The abort bit was set.
    pub aborted: u64,
    /// The frame was larger than the MAC's FIFO.
    pub too_long: u64,
    /// The port does not exist.
    pub no_such_port: u64,
}

impl TransmitErrors {
    /// The counts, each with a description of its reason.
    #[must_use]
    pub fn by_reason(&self) -> [(&'static str, u64); 5] {
        [
            ("transmit: a frame's first mpacket had no SOP", self.no_sop),
            (
                "transmit: SOP before the EOP of the frame before",
                self.sop_twice,
            ),
            ("transmit: aborted by microcode", self.aborted),
            ("transmit: longer than the MAC's FIFO", self.too_long),
            ("transmit: no such port", self.no_such_port),
        ]
    }
}

/// The transmit half of the media interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Transmit {
    /// The transmit buffer.
    pub tbuf: Tbuf,
    /// Frames that were lost.
    pub errors: TransmitErrors,
    link: Link,
    busy: bool,
    start_latency: Cycle,
}

impl Transmit {
    pub(super) fn new(parameters: &MediaParameters, element_bytes: u16) -> Self {
        Self {
            tbuf: Tbuf::new(parameters.bus, parameters.tbuf_bytes, element_bytes),
            errors: TransmitErrors::default(),
            link: parameters.transmit_link(),
            busy: false,
            start_latency: parameters.transmit_start,
        }
    }

    /// Cycles in which the bus moved data.
    #[must_use]
    pub const fn bus_busy(&self) -> Cycle {
        self.link.busy
    }

    /// Makes an element valid.
    ///
    /// # Errors
    /// Returns the problem with its control word.
    pub(super) fn set_valid(
        &mut self,
        element: usize,
        control: [u32; 2],
        fabric: &mut Fabric,
    ) -> Result<(), ControlWordError> {
        self.tbuf.set_valid(element, control, fabric.now)?;
        fabric.events.post(
            fabric.now + self.start_latency,
            Event::Media(MediaEventCode::TransmitBus.with(0)),
        );
        Ok(())
    }

    /// Starts sending the head element if it is valid and both bus and MAC are ready.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Has a single caller.
    pub(super) fn arbitrate(
        &mut self,
        ports: &mut [Port],
        fabric: &mut Fabric,
        lines: &mut dyn PortIo,
    ) {
        while !self.busy {
            // Elements leave strictly in ring order. Threads may fill and validate them in any
            // order, and a late one holds back all behind it: the order of frames is the order in
            // which elements were allocated.
            let Some((control, since)) = self.tbuf.head() else {
                return;
            };
            if fabric.now < since + self.start_latency {
                // The element's own event is still pending.
                return;
            }
            if control.skip() {
                self.trace_sent(PacketTag::default(), fabric);
                self.tbuf.release(true);
                continue;
            }
            let bytes = u64::from(control.bytes());
            if let Some(port) = ports.get_mut(control.port() as usize) {
                // A MAC stores a frame completely before sending it. The beginning of a frame that
                // can never be completed would occupy its FIFO forever and, through the head
                // element, block all ports.
                if port.assembly == FrameAssembly::Within && !port.can_ever_hold(bytes) {
                    let tag = port.drop_partial();
                    let reason = if control.sop() {
                        port.assembly = FrameAssembly::Between;
                        self.errors.sop_twice += 1;
                        MediaDrop::TransmitSopTwice
                    } else {
                        port.assembly = FrameAssembly::Discarding;
                        self.errors.too_long += 1;
                        MediaDrop::TransmitTooLong
                    };
                    lose_frame(lines, fabric, control.port(), tag, reason);
                }
                // Room is reserved before the bus is: an mpacket on the bus cannot be rejected. A
                // port without room stops the others as well, since there is one order for all.
                match port.room_at(bytes, fabric.now) {
                    Some(at) if at <= fabric.now => port.reserve(bytes, fabric.now),
                    Some(at) => {
                        fabric
                            .events
                            .post(at, Event::Media(MediaEventCode::TransmitBus.with(0)));
                        return;
                    }
                    // Retried at the end of the frame on the line.
                    None => return,
                }
            }
            let end = self.link.reserve_bus(bytes, fabric.now);
            let from = self.link.begun;
            fabric.trace.record(from, || TraceEvent::Bus {
                bus: Bus::Transmit,
                from,
                until: end,
            });
            self.busy = true;
            fabric
                .events
                .post(end, Event::Media(MediaEventCode::TransmitDone.with(0)));
        }
    }

    /// Completes a transfer: the mpacket on the bus has reached its MAC.
    pub(super) fn transferred(
        &mut self,
        ports: &mut [Port],
        fabric: &mut Fabric,
        lines: &mut dyn PortIo,
    ) {
        self.busy = false;
        if let Some((control, _)) = self.tbuf.head() {
            let element = self.tbuf.next();
            let tag = self.tbuf.tag(element);
            self.trace_sent(tag, fabric);
            self.tbuf.release(false);
            if let Some(port) = ports.get_mut(control.port() as usize) {
                self.deliver(control, element, tag, port, fabric, lines);
            } else if control.sop() {
                self.errors.no_such_port += 1;
                lose_frame(lines, fabric, control.port(), tag, MediaDrop::NoSuchPort);
            }
        }
        self.arbitrate(ports, fabric, lines);
    }

    fn deliver(
        &mut self,
        control: ControlWord,
        element: usize,
        tag: PacketTag,
        port: &mut Port,
        fabric: &mut Fabric,
        lines: &mut dyn PortIo,
    ) {
        let mut lose = |counter: &mut u64, tag: PacketTag, reason: MediaDrop| {
            *counter += 1;
            lose_frame(lines, fabric, control.port(), tag, reason);
        };
        if control.sop() && port.assembly == FrameAssembly::Within {
            lose(
                &mut self.errors.sop_twice,
                port.drop_partial(),
                MediaDrop::TransmitSopTwice,
            );
        }
        if control.sop() {
            port.assembly = FrameAssembly::Within;
            port.partial.tag = tag;
        } else if port.assembly == FrameAssembly::Between {
            lose(&mut self.errors.no_sop, tag, MediaDrop::TransmitNoSop);
            port.assembly = FrameAssembly::Discarding;
        }
        if control.abort() && port.assembly == FrameAssembly::Within {
            lose(
                &mut self.errors.aborted,
                port.drop_partial(),
                MediaDrop::TransmitAborted,
            );
            port.assembly = FrameAssembly::Discarding;
        }
        if port.assembly == FrameAssembly::Within {
            // The element has been released, but its bytes are unchanged.
            self.tbuf.extract(element, &mut port.partial.bytes);
        } else {
            port.unreserve(u64::from(control.bytes()));
        }
        if control.eop() {
            if port.assembly == FrameAssembly::Within
                && let Some(end) = port.complete(fabric.now)
            {
                begin(control.port(), port, end, fabric, lines);
            }
            port.assembly = FrameAssembly::Between;
        }
    }

    /// Handles the end of a frame: its last bit has left.
    pub(super) fn line_end(
        &mut self,
        index: usize,
        ports: &mut [Port],
        fabric: &mut Fabric,
        lines: &mut dyn PortIo,
    ) {
        let Some(port) = ports.get_mut(index) else {
            return;
        };
        if let Some((start, end, frame)) = port.left() {
            let (bytes, tag) = (frame.bytes.as_slice(), frame.tag);
            fabric.trace.record(end, || TraceEvent::Departed {
                port: index as u8,
                frame: tag.frame(),
                bytes: bytes.len() as u32,
                from: start,
            });
            lines.departed(Departure {
                start,
                end,
                port: index as u8,
                bytes,
                frame: tag.frame(),
                arrived: tag.arrived(),
            });
            if let Some(end) = port.next(fabric.now, frame) {
                begin(index as u8, port, end, fabric, lines);
            }
        }
        self.arbitrate(ports, fabric, lines);
    }

    /// Reports to observers that the head element is finished.
    fn trace_sent(&self, tag: PacketTag, fabric: &mut Fabric) {
        let element = self.tbuf.next() as u8;
        fabric.trace.record(fabric.now, || TraceEvent::Tbuf {
            element,
            frame: tag.frame(),
            step: TbufStep::Sent,
        });
    }

    /// Whether no element is waiting or on the bus.
    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        !self.busy && self.tbuf.valid() == 0
    }
}

/// Reports that a frame begins to leave and schedules its end.
fn begin(index: u8, port: &Port, end: Cycle, fabric: &mut Fabric, lines: &mut dyn PortIo) {
    let over = Event::Media(MediaEventCode::LineEnd.with(u32::from(index)));
    fabric.events.post(end, over);
    if let Some((start, frame)) = port.leaving() {
        lines.departing(Departure {
            start,
            end,
            port: index,
            bytes: &frame.bytes,
            frame: frame.tag.frame(),
            arrived: frame.tag.arrived(),
        });
    }
    // The run has to return by the latest cycle of the lines, as a reply to the frame may arrive
    // then.
    fabric.horizon = fabric.horizon.min(lines.answer_deadline());
}

/// Reports a lost frame to the lines and to observers.
fn lose_frame(
    lines: &mut dyn PortIo,
    fabric: &mut Fabric,
    port: u8,
    tag: PacketTag,
    reason: MediaDrop,
) {
    let frame = tag.frame();
    fabric.trace.record(fabric.now, || TraceEvent::Dropped {
        port,
        frame,
        reason,
    });
    lines.dropped(fabric.now, port, frame, reason);
}
