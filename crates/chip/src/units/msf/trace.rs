//! What the media interface tells observers about its buffers.

use super::{DATA_WINDOW, Msf};
use crate::kernel::fabric::{BusCommand, Fabric};
use crate::kernel::lines::Tag;
use crate::kernel::neighbours::MediaBuffers;
use crate::kernel::trace_event::{RbufStep, TbufStep, TraceEvent};

impl Msf {
    /// DRAM has taken data of the element at a media address.
    fn tell_rbuf_read(&self, address: u32, command: &BusCommand, fabric: &mut Fabric) {
        let element = element_at(address, self.element_bytes());
        let step = RbufStep::Read {
            me: command.me,
            context: command.context,
        };
        self.tell_rbuf(element, step, fabric);
    }

    /// A command has freed an element.
    pub(super) fn tell_rbuf_freed(&self, element: u8, command: &BusCommand, fabric: &mut Fabric) {
        let step = RbufStep::Freed {
            me: command.me,
            context: command.context,
        };
        self.tell_rbuf(element, step, fabric);
    }

    fn tell_rbuf(&self, element: u8, step: RbufStep, fabric: &mut Fabric) {
        let frame = self.receive.rbuf.elements()[usize::from(element)].frame;
        fabric.journal.tell(fabric.now, || TraceEvent::Rbuf {
            element,
            frame,
            step,
        });
    }

    /// DRAM has written the element at a media address.
    fn tell_tbuf_written(&self, address: u32, tag: Tag, command: &BusCommand, fabric: &mut Fabric) {
        let element = element_at(address, self.transmit.tbuf.element_bytes());
        fabric.journal.tell(fabric.now, || TraceEvent::Tbuf {
            element,
            frame: tag.frame(),
            step: TbufStep::Written {
                me: command.me,
                context: command.context,
            },
        });
    }

    /// A command has made an element valid.
    pub(super) fn tell_tbuf_valid(
        &self,
        element: usize,
        command: &BusCommand,
        fabric: &mut Fabric,
    ) {
        let tbuf = &self.transmit.tbuf;
        let port = tbuf.control(element).map_or(0, |words| words[0] as u8);
        let frame = tbuf.tag(element).frame();
        fabric.journal.tell(fabric.now, || TraceEvent::Tbuf {
            element: element as u8,
            frame,
            step: TbufStep::Valid {
                me: command.me,
                context: command.context,
                port,
            },
        });
    }
}

impl MediaBuffers for Msf {
    fn rbuf_read(
        &mut self,
        address: u32,
        words: &mut [u32],
        command: &BusCommand,
        fabric: &mut Fabric,
    ) -> Result<Tag, String> {
        let tag = self
            .read_window(address, words)
            .map_err(|e| e.to_string())?;
        self.tell_rbuf_read(address, command, fabric);
        Ok(tag)
    }

    fn tbuf_write(
        &mut self,
        address: u32,
        words: &[u32],
        tag: Tag,
        command: &BusCommand,
        fabric: &mut Fabric,
    ) -> Result<(), String> {
        self.write_window(address, words, tag)
            .map_err(|e| e.to_string())?;
        self.tell_tbuf_written(address, tag, command, fabric);
        Ok(())
    }
}

/// The element of an address in the data window, for elements of so many bytes.
fn element_at(address: u32, element_bytes: u16) -> u8 {
    (address.saturating_sub(DATA_WINDOW) / u32::from(element_bytes)) as u8
}
