//! The channel's side of the coprocessor's window: which commands go there, when
//! they can start, and what they carry.

use npsim_isa::CommandOp;

use super::Leads;
use super::channel::{Channel, Concern, Waiting, longword, masked, paced, words};
use crate::Cycle;
use crate::kernel::fabric::{BusCommand, Fabric};
use crate::units::coprocessor::{Access, Coprocessor, MAILBOXES, REQUESTS, WINDOW_BYTES};

const ONLY_READS_AND_WRITES: &str =
    "the coprocessor takes only sram[read] and sram[write]; keep locks, queues and rings in memory";
const WINDOW_HELP: &str =
    "docs/src/coprocessor.md shows the window; NAME_REQUESTS and NAME_MAILBOXES are its parts";

impl Channel {
    /// What a command of `count` longwords that memory does not reach is for in
    /// the window, or what is wrong with it and what to do; `None` if it is not
    /// there.
    pub(super) fn check_window(
        &self,
        command: &BusCommand,
        count: u32,
    ) -> Option<Result<Access, (String, &'static str)>> {
        let device = self.device.as_deref()?;
        let first = longword(command.address);
        let last = first + (count - 1);
        let place = match (device.place(first), device.place(last)) {
            (Some(place), Some(_)) => place,
            (None, None) => return None,
            _ => {
                let message = format!(
                    "{}: the window of the coprocessor {} is from {:#x} to {:#x}",
                    described(command, count),
                    device.setup().name,
                    device.setup().address,
                    device.setup().address + (WINDOW_BYTES - 1),
                );
                return Some(Err((message, WINDOW_HELP)));
            }
        };
        let (writes, help) = match command.op {
            CommandOp::SramRead => (false, WINDOW_HELP),
            CommandOp::SramWrite => (true, WINDOW_HELP),
            _ => {
                let message = format!(
                    "{}: this is in the window of the coprocessor {}, which has no atomic operations",
                    described(command, count),
                    device.setup().name
                );
                return Some(Err((message, ONLY_READS_AND_WRITES)));
            }
        };
        let access = device.access(writes, place, count);
        Some(access.map_err(|reason| (refusal(device, command, count, &reason), help)))
    }

    /// Refuses descriptors and buffers in the window: the Q-array works on
    /// memory only.
    pub(super) fn check_links(&self, command: &BusCommand) -> Result<(), (String, &'static str)> {
        use CommandOp as Op;
        let Some(device) = &self.device else {
            return Ok(());
        };
        let names_memory = matches!(
            command.op,
            Op::SramEnqueue
                | Op::SramEnqueueTail
                | Op::SramWrQdesc
                | Op::SramWrQdescCount
                | Op::SramRdQdescOther
                | Op::SramRdQdescTail
                | Op::SramRdQdescHead
        );
        let named = command.address & 0x00ff_ffff;
        if !names_memory || device.place(named).is_none() {
            return Ok(());
        }
        let message = format!(
            "sram[{}] of the longword {named:#x} of channel {}: this is in the window of the coprocessor {}, where no queue or ring can be",
            command.op.info().name,
            self.number,
            device.setup().name
        );
        Err((message, ONLY_READS_AND_WRITES))
    }

    /// What a command in the window must not overtake.
    pub(super) fn concern_of_window(&self, command: &BusCommand, access: Access) -> Concern {
        let first = longword(command.address);
        let place = self
            .device
            .as_ref()
            .and_then(|device| device.place(first))
            .unwrap_or_default();
        let range = access.concerns(place, words(command));
        let window = first - place;
        Concern::Memory {
            first: window + range.start,
            end: window + range.end,
            writes: command.op == CommandOp::SramWrite,
        }
    }

    /// The first cycle at which the device can be handed a command.
    pub(super) fn device_free_at(&self, access: Access) -> Cycle {
        self.device
            .as_ref()
            .map_or(0, |device| device.free_at(access))
    }

    /// Hands a command over to the device.
    pub(super) fn start_window(
        &mut self,
        waiting: &Waiting,
        access: Access,
        fabric: &mut Fabric,
        leads: &Leads,
    ) {
        let (now, slot) = (fabric.now, waiting.slot);
        let command = fabric.flight(slot).command;
        let count = words(&command);
        let writes = command.op == CommandOp::SramWrite;
        if writes {
            self.use_write(now, count, leads);
        } else {
            self.use_read(now, count, leads);
        }
        let Some(device) = &mut self.device else {
            return fabric.finish(slot);
        };
        let mut ready = now;
        let done = match access {
            Access::Registers(first) if writes => {
                let places = u32::from(first)..;
                for (place, &word) in places.zip(&fabric.flight(slot).data[..count as usize]) {
                    let old = device.register(place).unwrap_or_default();
                    let mask = if count == 1 { command.byte_mask } else { 0xff };
                    device.set_register(place, masked(old, word, mask));
                }
                Ok(())
            }
            Access::Registers(first) => {
                let places = u32::from(first)..;
                for (place, word) in places.zip(&mut fabric.flight_mut(slot).data[..count as usize])
                {
                    *word = device.register(place).unwrap_or_default();
                }
                Ok(())
            }
            Access::QuickStart { group, code } => {
                let (grant, answered) = device.request_rate(now, waiting.since, group, code);
                fabric.flight_mut(slot).data[0] = grant;
                ready = answered;
                Ok(())
            }
            Access::XcpRequest(mailbox) => {
                let [group, x, size, delta, ..] = fabric.flight(slot).data;
                let request = [group, x, size, delta];
                device
                    .request_feedback(now, waiting.since, mailbox, request)
                    .map(|_| ())
            }
            Access::XcpAnswer(mailbox) => device
                .feedback(mailbox)
                .map(|delta| fabric.flight_mut(slot).data[0] = delta),
        };
        if let Err(reason) = done {
            let message = refusal(device, &command, count, &reason);
            fabric.fault(slot, None, message, Some(WINDOW_HELP.to_owned()));
            fabric.finish(slot);
        } else if writes {
            fabric.finish(slot);
        } else {
            fabric.push_at(slot, count as u8, ready + leads.read + paced(count, leads));
        }
    }

    /// A register of the device at a longword of the channel; `None` where there
    /// is none.
    pub(super) fn device_register(&self, longword: u32) -> Option<u32> {
        let device = self.device.as_ref()?;
        device.register(device.place(longword)?)
    }

    /// Sets it; false where there is none.
    pub(super) fn set_device_register(&mut self, longword: u32, value: u32) -> bool {
        let Some(device) = &mut self.device else {
            return false;
        };
        let place = device.place(longword);
        place.is_some_and(|place| device.set_register(place, value))
    }
}

fn described(command: &BusCommand, count: u32) -> String {
    format!(
        "sram[{}] of {count} longword(s) at address {:#x}",
        command.op.info().name,
        command.address
    )
}

/// What the device does not do, and where in its window.
fn refusal(device: &Coprocessor, command: &BusCommand, count: u32, reason: &str) -> String {
    let place = device.place(longword(command.address)).unwrap_or_default();
    let part = match place * 4 {
        place if place < REQUESTS => "the registers",
        place if place < MAILBOXES => "the Quick-Start requests",
        _ => "the XCP mailboxes",
    };
    format!(
        "{}, {:#x} in the window of the coprocessor {}, among {part}: {reason}",
        described(command, count),
        place * 4,
        device.setup().name
    )
}
