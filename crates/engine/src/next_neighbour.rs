//! The next-neighbour registers and their ring.
//!
//! The words are in the reader's registers; the pointers are in the fabric, where the writer can
//! see how full its neighbour's ring is.

use crate::microengine::Microengine;
use crate::registers::NN;
use npsim_chip::Cycle;
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::{Fabric, NnRing};
use npsim_chip::kernel::trace_event::{RingName, TraceEvent};

impl Microengine {
    /// The microengine whose registers this one writes.
    fn neighbour(&self, fabric: &Fabric) -> Option<u8> {
        if self.nn_self {
            return Some(self.index);
        }
        let next = self.index + 1;
        (next < fabric.profile.microengines()).then_some(next)
    }

    /// Puts a word on the neighbour's ring. The last microengine of the chip has
    /// no neighbour; its words are lost.
    pub(crate) fn ring_put(&mut self, value: u32, fabric: &mut Fabric) {
        let Some(me) = self.neighbour(fabric) else {
            return;
        };
        let ring = &mut fabric.nn_rings[me as usize];
        let index = ring.put;
        ring.put = (ring.put + 1) % NnRing::PLACES;
        self.send(me, index, value, true, fabric);
    }

    /// Writes a context-relative register of the neighbour.
    pub(crate) fn neighbour_write(&mut self, register: u8, value: u32, fabric: &mut Fabric) {
        let Some(me) = self.neighbour(fabric) else {
            return;
        };
        let index = (self.datapath.base() as u8 + register) % NnRing::PLACES;
        self.send(me, index, value, false, fabric);
    }

    #[inline(always)]
    fn send(&mut self, me: u8, index: u8, value: u32, ring: bool, fabric: &mut Fabric) {
        if me == self.index {
            self.neighbour_wrote(index, value, ring, fabric);
        } else {
            fabric.events.post(
                self.cycle + self.timing.neighbour,
                Event::NnPut {
                    me,
                    index,
                    value,
                    ring,
                },
            );
        }
    }

    /// Handles a word that arrives in this microengine's registers.
    pub(crate) fn neighbour_wrote(
        &mut self,
        index: u8,
        value: u32,
        ring: bool,
        fabric: &mut Fabric,
    ) {
        self.datapath.file[(NN + u16::from(index % NnRing::PLACES)) as usize] = value;
        if ring {
            let ring = &mut fabric.nn_rings[self.index as usize];
            ring.arrived = (ring.arrived + 1) % NnRing::PLACES;
            self.trace_ring(fabric.now, fabric);
        }
    }

    /// The word at the head of this microengine's ring.
    pub(crate) fn ring_head(&self, fabric: &Fabric) -> u32 {
        let get = fabric.nn_rings[self.index as usize].get;
        self.datapath.file[(NN + u16::from(get)) as usize]
    }

    /// Removes the head. Nothing stops a program from taking words that do not exist.
    pub(crate) fn ring_take(&mut self, fabric: &mut Fabric) {
        let ring = &mut fabric.nn_rings[self.index as usize];
        ring.get = (ring.get + 1) % NnRing::PLACES;
        self.trace_ring(self.cycle, fabric);
    }

    /// Records how many words wait on this microengine's ring.
    fn trace_ring(&self, at: Cycle, fabric: &mut Fabric) {
        let fill = u32::from(fabric.nn_rings[self.index as usize].available());
        let ring = RingName::Neighbour(self.index);
        fabric.trace.record(at, || TraceEvent::Ring { ring, fill });
    }

    /// The `NN_Empty` state: at most as many words as the threshold of `CTX_ENABLES`.
    pub(crate) fn ring_is_empty(&self, fabric: &Fabric) -> bool {
        fabric.nn_rings[self.index as usize].available() <= self.nn_empty_threshold
    }

    /// The `NN_Full` state: the neighbour's ring is nearly full.
    pub(crate) fn ring_is_full(&self, fabric: &Fabric) -> bool {
        self.neighbour(fabric)
            .is_some_and(|me| fabric.nn_rings[me as usize].occupied() > self.timing.neighbour_full)
    }

    /// The `NN_PUT` pointer of this microengine, for the ring that it writes.
    pub(crate) fn nn_put_pointer(&self, fabric: &Fabric) -> u32 {
        self.neighbour(fabric)
            .map_or(0, |me| u32::from(fabric.nn_rings[me as usize].put))
    }

    /// Writes `NN_PUT`; words in flight are discarded.
    pub(crate) fn set_nn_put_pointer(&mut self, value: u32, fabric: &mut Fabric) {
        if let Some(me) = self.neighbour(fabric) {
            let ring = &mut fabric.nn_rings[me as usize];
            ring.put = value as u8 % NnRing::PLACES;
            ring.arrived = ring.put;
        }
    }
}
