//! Trace events of the media interface about its buffers.

use super::{DATA_WINDOW, Msf};
use crate::kernel::fabric::{BusCommand, CommandId, Fabric};
use crate::kernel::port_io::PacketTag;
use crate::kernel::sideband::MediaBuffers;
use crate::kernel::trace_event::{RbufStep, TbufStep, TraceEvent};

impl Msf {
    /// Reports that a command has freed an element.
    #[inline]
    pub(super) fn trace_rbuf_freed(&self, element: u8, slot: CommandId, fabric: &mut Fabric) {
        if fabric.trace.is_open() {
            self.trace_rbuf_freed_now(element, slot, fabric);
        }
    }

    #[cold]
    #[inline(never)]
    fn trace_rbuf_freed_now(&self, element: u8, slot: CommandId, fabric: &mut Fabric) {
        let command = &fabric.flight(slot).command;
        let step = RbufStep::Freed {
            me: command.me,
            context: command.context,
        };
        self.trace_rbuf(element, step, fabric);
    }

    fn trace_rbuf(&self, element: u8, step: RbufStep, fabric: &mut Fabric) {
        let frame = self.receive.rbuf.elements()[usize::from(element)].frame;
        fabric.trace.record(fabric.now, || TraceEvent::Rbuf {
            element,
            frame,
            step,
        });
    }

    /// Reports that a command has made an element valid.
    #[inline]
    pub(super) fn trace_tbuf_valid(&self, element: usize, slot: CommandId, fabric: &mut Fabric) {
        if fabric.trace.is_open() {
            self.trace_tbuf_valid_now(element, slot, fabric);
        }
    }

    #[cold]
    #[inline(never)]
    fn trace_tbuf_valid_now(&self, element: usize, slot: CommandId, fabric: &mut Fabric) {
        let BusCommand { me, context, .. } = fabric.flight(slot).command;
        let tbuf = &self.transmit.tbuf;
        let port = tbuf.control(element).map_or(0, |words| words[0] as u8);
        let frame = tbuf.tag(element).frame();
        fabric.trace.record(fabric.now, || TraceEvent::Tbuf {
            element: element as u8,
            frame,
            step: TbufStep::Valid { me, context, port },
        });
    }
}

impl MediaBuffers for Msf {
    fn rbuf_read(&self, address: u32, words: &mut [u32]) -> Result<PacketTag, String> {
        self.read_window(address, words)
            .map_err(|error| error.to_string())
    }

    fn trace_rbuf_read(&self, address: u32, slot: CommandId, fabric: &mut Fabric) {
        if !fabric.trace.is_open() {
            return;
        }
        let element = element_at(address, self.element_bytes());
        let command = &fabric.flight(slot).command;
        let step = RbufStep::Read {
            me: command.me,
            context: command.context,
        };
        self.trace_rbuf(element, step, fabric);
    }

    fn tbuf_write(&mut self, address: u32, words: &[u32], tag: PacketTag) -> Result<(), String> {
        self.write_window(address, words, tag)
            .map_err(|error| error.to_string())
    }

    fn trace_tbuf_written(&self, address: u32, slot: CommandId, fabric: &mut Fabric) {
        if !fabric.trace.is_open() {
            return;
        }
        let element = element_at(address, self.transmit.tbuf.element_bytes());
        let flight = fabric.flight(slot);
        let BusCommand { me, context, .. } = flight.command;
        let frame = flight.tag.frame();
        fabric.trace.record(fabric.now, || TraceEvent::Tbuf {
            element,
            frame,
            step: TbufStep::Written { me, context },
        });
    }
}

/// The element at an address in the data window, for elements of `element_bytes` bytes.
fn element_at(address: u32, element_bytes: u16) -> u8 {
    (address.saturating_sub(DATA_WINDOW) / u32::from(element_bytes)) as u8
}
