//! The commands in flight, by slot.
//!
//! There is room for more than twice as many commands as the shipped chips can have in flight, so
//! that a slot number is masked rather than checked: each command is looked up many times between
//! its issue and its end. A chip with far longer queues may need more; exceeding the room raises a
//! fault.

use std::ops::{Index, IndexMut};

use npsim_isa::CommandOp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{BusCommand, CommandId, InFlight, TransferKind};
use crate::kernel::port_io::PacketTag;

/// Number of slots; a power of two. FIFOs, inlets and queues of the largest chip hold less than
/// half as many commands, and threads that wait for frames have one each.
pub(super) const MAX_IN_FLIGHT: usize = 1024;

/// All slots that were ever in use at one time, and room for more.
#[derive(Clone, Debug)]
pub(super) struct Flights {
    all: Box<[InFlight; MAX_IN_FLIGHT]>,
    count: usize,
}

impl Default for Flights {
    fn default() -> Self {
        let blank = InFlight {
            command: BusCommand::blank(CommandOp::ALL[0], TransferKind::S),
            issued: 0,
            data: [0; 32],
            words: 0,
            unit_scratch: 0,
            tag: PacketTag::default(),
        };
        let all = vec![blank; MAX_IN_FLIGHT]
            .try_into()
            .expect("one for each place");
        Self { all, count: 0 }
    }
}

impl Flights {
    /// The most slots that were ever in use.
    pub fn len(&self) -> usize {
        self.count
    }

    /// All slots that were ever in use.
    pub fn all(&self) -> &[InFlight] {
        &self.all[..self.count]
    }

    /// Whether no slot can be added.
    pub fn is_full(&self) -> bool {
        self.count == MAX_IN_FLIGHT
    }

    /// Adds a slot; `None` if there is no room for it.
    pub fn grow(&mut self) -> Option<CommandId> {
        if self.is_full() {
            return None;
        }
        self.count += 1;
        Some(CommandId(self.count as u32 - 1))
    }
}

impl Index<CommandId> for Flights {
    type Output = InFlight;

    #[inline(always)]
    #[allow(clippy::inline_always)] // A single address computation.
    fn index(&self, slot: CommandId) -> &InFlight {
        &self.all[slot.0 as usize % MAX_IN_FLIGHT]
    }
}

impl IndexMut<CommandId> for Flights {
    #[inline(always)]
    #[allow(clippy::inline_always)] // A single address computation.
    fn index_mut(&mut self, slot: CommandId) -> &mut InFlight {
        &mut self.all[slot.0 as usize % MAX_IN_FLIGHT]
    }
}

impl Serialize for Flights {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.all().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Flights {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let all = Vec::<InFlight>::deserialize(deserializer)?;
        if all.len() > MAX_IN_FLIGHT {
            return Err(de::Error::custom("more commands in flight than a chip has"));
        }
        let mut flights = Self {
            count: all.len(),
            ..Self::default()
        };
        for (place, flight) in flights.all.iter_mut().zip(all) {
            *place = flight;
        }
        Ok(flights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::fabric::Fabric;
    use crate::units::Units;
    use npsim_profile::Profile;

    #[test]
    fn too_many_commands_in_flight_is_a_fault() {
        let mut fabric = Fabric::new(Profile::load("ixp2800").unwrap(), Units::inlets);
        let command = BusCommand::blank(CommandOp::SramRead, TransferKind::S);
        for _ in 0..MAX_IN_FLIGHT {
            fabric.open(command);
        }
        assert_eq!(fabric.checks.fault(), None);
        fabric.open(command);
        let fault = fabric.checks.fault().unwrap();
        assert_eq!(fault.message, "more than 1024 commands are in flight");
        assert_eq!(fabric.in_flight(), MAX_IN_FLIGHT);
    }
}
