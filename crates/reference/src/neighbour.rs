//! The next-neighbour registers and their ring. The words are in the reader's registers; the
//! pointers are in the fabric, where both neighbours can access them.

use npsim_chip::Cycle;
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::trace_event::{RingName, TraceEvent};

use crate::Reference;

impl Reference {
    /// Returns the microengine whose registers this one writes. The last one of the chip has none;
    /// its writes are lost.
    fn neighbour(&self, fabric: &Fabric) -> Option<u8> {
        if self.state.neighbour_is_self {
            return Some(self.index);
        }
        let next = self.index + 1;
        (next < fabric.profile.microengines()).then_some(next)
    }

    pub(crate) fn put_on_ring(&mut self, value: u32, fabric: &mut Fabric) {
        if let Some(me) = self.neighbour(fabric) {
            let ring = &mut fabric.nn_rings[usize::from(me)];
            let index = ring.put;
            ring.put = (index + 1) % 128;
            self.send(me, index, value, true, fabric);
        }
    }

    /// Writes one register of the neighbour, by absolute number.
    pub(crate) fn write_neighbour(&mut self, register: u8, value: u32, fabric: &mut Fabric) {
        if let Some(me) = self.neighbour(fabric) {
            self.send(me, register % 128, value, false, fabric);
        }
    }

    fn send(&mut self, me: u8, index: u8, value: u32, ring: bool, fabric: &mut Fabric) {
        if me == self.index {
            self.receive(index, value, ring, fabric);
            return;
        }
        // A result leaves at the end of its cycle.
        let due = self.state.cycle + 1 + fabric.profile.nn_latency();
        let event = Event::NnPut {
            me,
            index,
            value,
            ring,
        };
        fabric.events.post(due, event);
    }

    /// Stores a word that arrives in this microengine's registers.
    pub(crate) fn receive(&mut self, index: u8, value: u32, ring: bool, fabric: &mut Fabric) {
        self.state.neighbour.values[usize::from(index % 128)] = value;
        if ring {
            let pointers = &mut fabric.nn_rings[usize::from(self.index)];
            pointers.arrived = (pointers.arrived + 1) % 128;
            self.trace_ring(fabric.now, fabric);
        }
    }

    /// Returns the word at the head of this microengine's ring.
    pub(crate) fn ring_head(&self, fabric: &Fabric) -> u32 {
        let get = fabric.nn_rings[usize::from(self.index)].get;
        self.state.neighbour.values[usize::from(get % 128)]
    }

    /// Removes the head of the ring. A program is not prevented from removing words that are not
    /// there.
    pub(crate) fn take_from_ring(&mut self, fabric: &mut Fabric) {
        let ring = &mut fabric.nn_rings[usize::from(self.index)];
        ring.get = (ring.get + 1) % 128;
        self.trace_ring(self.state.cycle + 1, fabric);
    }

    fn trace_ring(&self, at: Cycle, fabric: &mut Fabric) {
        let fill = u32::from(fabric.nn_rings[usize::from(self.index)].available());
        let ring = RingName::Neighbour(self.index);
        fabric.trace.record(at, || TraceEvent::Ring { ring, fill });
    }

    /// Whether `NN_Empty` holds: there are no more words than the threshold in `CTX_ENABLES`.
    pub(crate) fn ring_is_empty(&self, fabric: &Fabric) -> bool {
        let ring = fabric.nn_rings[usize::from(self.index)];
        ring.available() <= self.state.empty_threshold
    }

    /// Whether `NN_Full` holds: the neighbour's ring is nearly full.
    pub(crate) fn neighbours_ring_is_full(&self, fabric: &Fabric) -> bool {
        self.neighbour(fabric).is_some_and(|me| {
            let ring = fabric.nn_rings[usize::from(me)];
            ring.occupied() > fabric.profile.nn_full_threshold()
        })
    }

    /// Returns `NN_PUT`, the put pointer of the ring that this microengine writes.
    pub(crate) fn put_pointer(&self, fabric: &Fabric) -> u32 {
        self.neighbour(fabric)
            .map_or(0, |me| fabric.nn_rings[usize::from(me)].put.into())
    }

    /// Sets the put pointer; words in flight are discarded.
    pub(crate) fn set_put_pointer(&self, value: u32, fabric: &mut Fabric) {
        if let Some(me) = self.neighbour(fabric) {
            let ring = &mut fabric.nn_rings[usize::from(me)];
            ring.put = value as u8 % 128;
            ring.arrived = ring.put;
        }
    }
}
