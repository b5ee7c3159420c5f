//! Transfer of data between registers and units.
//!
//! A transfer that is requested now but cannot start before a later cycle is booked on its push or
//! pull bus immediately and completes that much later. The order on a bus is therefore the order of
//! the requests, and a bus never idles while a request waits. A unit does not read while the bus
//! that takes its data is booked further ahead than the depth of its push FIFO.

use npsim_isa::CommandOp;

use crate::Cycle;
use crate::kernel::command::{BusCommand, TransferKind};
use crate::kernel::trace_buffer::TraceBuffer;
use crate::kernel::trace_event::Bus;

use super::data_bus::{D_BUS, DATA_BUSES};
use super::{Buses, MICROENGINES, note};

/// Direction of a data transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BusDirection {
    /// To the registers.
    Push,
    /// To the unit.
    Pull,
}

impl Buses {
    /// Books a bus for a number of its clocks, starting now or as soon as it is free. Returns the
    /// end.
    #[inline(always)]
    #[allow(clippy::inline_always)] // The direction is constant at each call.
    fn carry(
        &mut self,
        now: Cycle,
        (kind, way, me): (TransferKind, BusDirection, u8),
        clocks: u8,
        trace: Option<&mut TraceBuffer>,
    ) -> Cycle {
        let at = usize::from(self.data_bus[kind as usize][usize::from(me) % MICROENGINES]);
        let buses = match way {
            BusDirection::Push => &mut self.pushes,
            BusDirection::Pull => &mut self.pulls,
        };
        let bus = &mut buses[at % DATA_BUSES];
        let cycles = Cycle::from(clocks) * self.bus_cycle;
        // The bus is booked from now on even if the words come later. Otherwise every booking would
        // leave a gap before it, which a later request could fill only by overtaking; this way
        // requests keep their order and the bus its load, and only the end moves.
        let end = bus.reserve(now, cycles);
        if way == BusDirection::Push {
            self.note_push_end(end);
        }
        if let Some(trace) = trace {
            let cluster = self.cluster_of(me);
            let name = match (kind, way) {
                (TransferKind::S, BusDirection::Push) => Bus::SPush(cluster as u8),
                (TransferKind::S, BusDirection::Pull) => Bus::SPull(cluster as u8),
                (TransferKind::D, BusDirection::Push) => Bus::DPush,
                (TransferKind::D, BusDirection::Pull) => Bus::DPull,
            };
            note(name, end, cycles, trace);
        }
        end
    }

    /// Records that a push bus is booked until a cycle.
    #[inline]
    fn note_push_end(&mut self, end: Cycle) {
        if end > self.last_push {
            self.last_push = end;
        }
    }

    /// Carries longwords to or from the general-purpose core over the first cluster's S buses, or
    /// over the D buses, which carry 32 bits to it.
    pub(crate) fn core_data(
        &mut self,
        now: Cycle,
        (kind, read): (TransferKind, bool),
        words: u8,
        trace: &mut TraceBuffer,
    ) {
        let way = if read {
            BusDirection::Push
        } else {
            BusDirection::Pull
        };
        self.carry(now, (kind, way, 0), words, Some(trace));
    }

    /// Whether no push bus is booked so far ahead that a unit has to wait for it. If one is,
    /// [`Self::push_ready`] gives the cycle.
    #[must_use]
    #[inline]
    pub(crate) fn push_is_free(&self, now: Cycle) -> bool {
        self.last_push <= now + self.push_ahead
    }

    /// The cycle at which a unit may start to read for a command: the bus that takes the data is
    /// then booked no further ahead than a push FIFO holds.
    #[must_use]
    pub(crate) fn push_ready(&self, command: &BusCommand) -> Cycle {
        let media = command.op == CommandOp::DramTbufWr;
        let (at, ahead) = if media || command.transfer_kind == TransferKind::D {
            (D_BUS, self.d_ahead)
        } else {
            (self.cluster_of(command.transfer_me), self.s_ahead)
        };
        self.pushes[at].free.saturating_sub(ahead)
    }

    /// Takes data from OUT registers, requested now and starting `lead` cycles later. Returns the
    /// cycle at which the last word reaches the unit. A trace buffer is passed if an observer wants
    /// events of buses.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Whether there is a trace is constant at each call.
    pub(crate) fn pull(
        &mut self,
        now: Cycle,
        lead: Cycle,
        command: &BusCommand,
        words: u8,
        trace: Option<&mut TraceBuffer>,
    ) -> Cycle {
        let bus = (
            command.transfer_kind,
            BusDirection::Pull,
            command.transfer_me,
        );
        self.carry(now, bus, words, trace) + lead + self.transfer_latency
    }

    /// Carries data to IN registers, ready `lead` cycles from now. Returns the cycle at which the
    /// last word and the signal arrive. A trace buffer is passed if an observer wants events of
    /// buses.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Whether there is a trace is constant at each call.
    pub(crate) fn push(
        &mut self,
        now: Cycle,
        lead: Cycle,
        command: &BusCommand,
        words: u8,
        trace: Option<&mut TraceBuffer>,
    ) -> Cycle {
        let bus = (
            command.transfer_kind,
            BusDirection::Push,
            command.transfer_me,
        );
        self.carry(now, bus, words, trace) + lead + self.transfer_latency
    }

    /// Carries quadwords from the media interface to DRAM over the D pull bus, one per bus clock,
    /// `lead` cycles from now. Returns the end.
    pub(crate) fn media_pull(
        &mut self,
        now: Cycle,
        lead: Cycle,
        quadwords: u8,
        trace: &mut TraceBuffer,
    ) -> Cycle {
        let bus = (TransferKind::D, BusDirection::Pull, 0);
        self.carry(now, bus, quadwords, Some(trace)) + lead
    }

    /// Carries quadwords from DRAM to the media interface over the D push bus, one per bus clock,
    /// `lead` cycles from now. Returns the end.
    pub(crate) fn media_push(
        &mut self,
        now: Cycle,
        lead: Cycle,
        quadwords: u8,
        trace: &mut TraceBuffer,
    ) -> Cycle {
        let bus = (TransferKind::D, BusDirection::Push, 0);
        self.carry(now, bus, quadwords, Some(trace)) + lead
    }
}
