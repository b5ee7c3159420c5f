//! The channel's side of its devices' windows: which commands go there, when they can start, and
//! what they transfer.

use npsim_isa::CommandOp;

use super::Leads;
use super::channel::{Channel, QueuedCommand, bits_of, longword, paced};
use super::device::{Device, Handover, WindowRequest};
use super::device_command::{AccessError, DeviceCommand};
use crate::Cycle;
use crate::kernel::fabric::{BusCommand, CommandId, Fabric};
use crate::kernel::memory::OutOfRange;

impl Channel {
    /// The device command for a command of `count` longwords that memory does not cover, or the
    /// reason why it is refused; `None` if it is in no window.
    ///
    /// Addresses here are in longwords: `first` and `last` in the channel, `place` in the window.
    /// Windows neither overlap each other nor touch memory (`Sram::attach` ensures that), so a
    /// window that contains either end of the command is the only one. The device reports the
    /// longwords of its window on which the command depends; the channel keeps commands that share
    /// any of them in order.
    pub(super) fn check_window(
        &self,
        command: &BusCommand,
        count: u32,
    ) -> Option<Result<DeviceCommand, AccessError>> {
        let first = longword(command.address);
        let last = first + (count - 1);
        let touched = |device: &dyn Device| {
            let own = device.attachment();
            own.place(first).or(own.place(last)).is_some()
        };
        let number = self.devices.iter().position(|it| touched(&**it))?;
        let device = &*self.devices[number];
        let own = device.attachment();
        let (Some(place), Some(_)) = (own.place(first), own.place(last)) else {
            let message = format!(
                "{}: the window of {} is from {:#x} to {:#x}",
                described(command, count),
                named(device),
                own.address,
                own.address + (own.bytes - 1),
            );
            return Some(Err((message, device.help().to_owned())));
        };
        let writes = match command.op {
            CommandOp::SramRead => false,
            CommandOp::SramWrite => true,
            _ => {
                let message = format!(
                    "{}: this is in the window of {}, which has no atomic operations",
                    described(command, count),
                    named(device)
                );
                return Some(Err((message, only_reads_and_writes(device))));
            }
        };
        let request = WindowRequest {
            writes,
            place,
            count,
        };
        Some(match device.check(request) {
            Ok(concerns) => {
                let window = first - place;
                Ok(DeviceCommand {
                    device: number as u8,
                    request,
                    concerns: (window + concerns.start, window + concerns.end),
                })
            }
            Err(reason) => Err((
                refusal(device, command, count, &reason),
                device.help().to_owned(),
            )),
        })
    }

    /// Refuses descriptors and buffers in a window: the Q-array works only on memory.
    pub(super) fn check_links(&self, command: &BusCommand) -> Result<(), AccessError> {
        use CommandOp as Op;
        if self.devices.is_empty() {
            return Ok(());
        }
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
        let place = command.address & 0x00ff_ffff;
        let Some((device, _)) = self.device_at(place).filter(|_| names_memory) else {
            return Ok(());
        };
        let message = format!(
            "sram[{}] of the longword {place:#x} of channel {}: this is in the window of {}, where no queue or ring can be",
            command.op.info().name,
            self.number,
            named(device)
        );
        Err((message, only_reads_and_writes(device)))
    }

    /// The device at a longword of the channel, and the place in its window.
    fn device_at(&self, longword: u32) -> Option<(&dyn Device, u32)> {
        let mut devices = self.devices.iter();
        devices.find_map(|device| Some((&**device, device.attachment().place(longword)?)))
    }

    /// The first cycle at which the device can take a command.
    #[cold]
    #[inline(never)]
    pub(super) fn device_free_at(&self, slot: CommandId) -> Cycle {
        let own = self.windows.iter().find(|(other, _)| *other == slot);
        own.map_or(0, |(_, window)| {
            self.devices[usize::from(window.device)].free_at(window.request)
        })
    }

    /// Hands a command over to the device whose window it is for.
    ///
    /// # Errors
    /// Returns an error if the command is for no device.
    #[cold]
    #[inline(never)]
    pub(super) fn start_window(
        &mut self,
        waiting: QueuedCommand,
        waited: Cycle,
        fabric: &mut Fabric,
        leads: &Leads,
    ) -> Result<(), OutOfRange> {
        let (now, slot) = (fabric.now, waiting.slot);
        let mut windows = self.windows.iter();
        let at = windows.position(|(other, _)| *other == slot);
        let (_, window) = self.windows.remove(at.ok_or(OutOfRange)?);
        let command = fabric.flight(slot).command;
        let WindowRequest { writes, count, .. } = window.request;
        self.counters.started(command.op, count as u8, waited);
        if writes {
            self.use_write(now, count, leads);
        } else {
            self.use_read(now, count, leads);
        }
        let handover = Handover {
            now,
            since: now - waited,
            mask: match count {
                1 => bits_of(command.byte_mask),
                _ => u32::MAX,
            },
        };
        self.handovers += 1;
        let device = &mut self.devices[usize::from(window.device)];
        let data = &mut fabric.flight_mut(slot).data[..count as usize];
        match device.serve(window.request, handover, data) {
            Err(reason) => {
                let message = refusal(&**device, &command, count, &reason);
                fabric.fault(slot, None, message, Some(device.help().to_owned()));
                fabric.finish(slot);
            }
            Ok(_) if writes => fabric.finish(slot),
            Ok(ready) => {
                fabric.push_at(slot, count as u8, ready + leads.read + paced(count, leads));
            }
        }
        Ok(())
    }

    /// The device register at a longword of the channel; `None` if there is none.
    pub(super) fn device_register(&self, longword: u32) -> Option<u32> {
        let (device, place) = self.device_at(longword)?;
        device.register(place)
    }

    /// Sets a device register. Returns false if there is none.
    pub(super) fn set_device_register(&mut self, longword: u32, value: u32) -> bool {
        self.devices.iter_mut().any(|device| {
            let place = device.attachment().place(longword);
            place.is_some_and(|place| device.set_register(place, value))
        })
    }
}

fn named(device: &dyn Device) -> String {
    format!("the {} {}", device.kind(), device.attachment().name)
}

fn only_reads_and_writes(device: &dyn Device) -> String {
    format!(
        "the {} takes only sram[read] and sram[write]; keep locks, queues and rings in memory",
        device.kind()
    )
}

fn described(command: &BusCommand, count: u32) -> String {
    format!(
        "sram[{}] of {count} longword(s) at address {:#x}",
        command.op.info().name,
        command.address
    )
}

/// The message for a refused command, with its place in the device's window.
fn refusal(device: &dyn Device, command: &BusCommand, count: u32, reason: &str) -> String {
    let own = device.attachment();
    let place = own.place(longword(command.address)).unwrap_or_default();
    format!(
        "{}, {:#x} in the window of {}, among {}: {reason}",
        described(command, count),
        place * 4,
        named(device),
        device.part_at(place)
    )
}
