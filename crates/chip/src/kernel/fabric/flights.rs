//! The commands in flight by their places.
//!
//! There is room for more than twice what the chips as shipped can have at one time, so that a
//! place is masked and not checked: each of these is found many times between its issue and its
//! end. A chip with far longer queues may need more; that is a fault which says so.

use std::ops::{Index, IndexMut};

use npsim_isa::CommandOp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{BusCommand, CommandId, InFlight, TransferKind};
use crate::kernel::port_io::PacketTag;

/// Room, a power of two. FIFOs, inlets and queues of the largest chip hold less than half
/// as many commands, and threads that wait for frames have one each.
pub(super) const MOST: usize = 1024;

/// All that were ever needed at one time, and room for more.
#[derive(Clone, Debug)]
pub(super) struct Flights {
    all: Box<[InFlight; MOST]>,
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
        let all = vec![blank; MOST].try_into().expect("one for each place");
        Self { all, count: 0 }
    }
}

impl Flights {
    /// How many were ever needed.
    pub fn len(&self) -> usize {
        self.count
    }

    /// All that were ever needed.
    pub fn all(&self) -> &[InFlight] {
        &self.all[..self.count]
    }

    /// Whether there is no room for one more.
    pub fn is_full(&self) -> bool {
        self.count == MOST
    }

    /// One more is needed; `None` if there is no room for it.
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
    #[allow(clippy::inline_always)] // It is an address.
    fn index(&self, slot: CommandId) -> &InFlight {
        &self.all[slot.0 as usize % MOST]
    }
}

impl IndexMut<CommandId> for Flights {
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is an address.
    fn index_mut(&mut self, slot: CommandId) -> &mut InFlight {
        &mut self.all[slot.0 as usize % MOST]
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
        if all.len() > MOST {
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
    fn more_commands_than_there_is_room_for_are_a_fault() {
        let mut fabric = Fabric::new(Profile::load("ixp2800").unwrap(), Units::inlets);
        let command = BusCommand::blank(CommandOp::SramRead, TransferKind::S);
        for _ in 0..MOST {
            fabric.open(command);
        }
        assert_eq!(fabric.checks.fault(), None);
        fabric.open(command);
        let fault = fabric.checks.fault().unwrap();
        assert_eq!(fault.message, "more than 1024 commands are in flight");
        assert_eq!(fabric.in_flight(), MOST);
    }
}
