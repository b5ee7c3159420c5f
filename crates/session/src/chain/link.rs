//! The link between two routers of a chain: what has left one comes in at the
//! next, bit by bit as it left, after the link's delay.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::vec;

use npsim_chip::Cycle;
use npsim_chip::kernel::lines::Departure;
use npsim_net::LineFrame;
use npsim_net::capture::CaptureError;

use super::permits::Permit;

/// Groups of frames that may be on their way between two threads. It bounds how
/// far a router is ahead of the next one, and so what is kept in memory.
const GROUPS: usize = 2;

/// How many frames back a router knows where a frame came from.
const REMEMBERED: usize = 1 << 18;

const PICO: u128 = 1_000_000_000_000;

/// Where a frame came into the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its number at the first router.
    pub frame: u64,
    /// Its last bit there.
    pub arrived: Cycle,
}

/// A frame between two routers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// First preamble bit out.
    start: Cycle,
    /// Last bit out.
    end: Cycle,
    port: u8,
    bytes: Vec<u8>,
    origin: Option<Origin>,
}

/// The two ends of a link.
pub fn link() -> (Outlet, Inlet) {
    let (sender, receiver) = sync_channel(GROUPS);
    let outlet = Outlet {
        left: Vec::new(),
        sender: Some(sender),
    };
    (outlet, Inlet { receiver })
}

/// The end at the router that frames leave.
#[derive(Debug)]
pub struct Outlet {
    /// Frames that have left and do not go on yet, because others that began to
    /// leave before them may still be on the line.
    left: Vec<Crossing>,
    /// Absent once nobody takes any.
    sender: Option<SyncSender<Vec<Crossing>>>,
}

impl Outlet {
    /// A frame has left.
    pub fn take(&mut self, departure: &Departure<'_>, origin: Option<Origin>) {
        self.left.push(Crossing {
            start: departure.start,
            end: departure.end,
            port: departure.port,
            bytes: departure.bytes.to_vec(),
            origin,
        });
    }

    /// Hands on the frames whose first bit left before `known`, of which there are
    /// no others, in the order of their first bit.
    pub fn release(&mut self, known: Cycle, permit: &Permit<'_>) {
        self.left.sort_by_key(|frame| (frame.start, frame.port));
        let count = self.left.partition_point(|frame| frame.start < known);
        if count == 0 {
            return;
        }
        let group: Vec<_> = self.left.drain(..count).collect();
        let Some(sender) = &self.sender else {
            return;
        };
        let taken = match sender.try_send(group) {
            Ok(()) => true,
            Err(TrySendError::Full(group)) => permit.without(|| sender.send(group).is_ok()),
            Err(TrySendError::Disconnected(_)) => false,
        };
        // A router that has stopped takes nothing; the one before it goes on, so
        // that what it comes to does not depend on when it learns of that.
        if !taken {
            self.sender = None;
        }
    }
}

/// The end at the router that frames come to.
#[derive(Debug)]
pub struct Inlet {
    receiver: Receiver<Vec<Crossing>>,
}

/// Frames of a link as they come in; waits for those that are not known yet.
pub struct Incoming<'a> {
    inlet: Inlet,
    permit: &'a Permit<'a>,
    group: vec::IntoIter<Crossing>,
    delay: Cycle,
    hertz: u64,
    origins: Rc<RefCell<Origins>>,
}

impl<'a> Incoming<'a> {
    /// The frames of a link that takes `delay` cycles, into `origins` where each
    /// came from.
    pub fn new(
        inlet: Inlet,
        permit: &'a Permit<'a>,
        delay: Cycle,
        hertz: u64,
        origins: Rc<RefCell<Origins>>,
    ) -> Self {
        Self {
            inlet,
            permit,
            group: Vec::new().into_iter(),
            delay,
            hertz,
            origins,
        }
    }

    /// Rounded down, which the way back to cycles makes good.
    fn picoseconds(&self, cycle: Cycle) -> u64 {
        let cycle = u128::from(cycle.saturating_add(self.delay));
        u64::try_from(cycle * PICO / u128::from(self.hertz.max(1))).unwrap_or(u64::MAX)
    }

    fn next_group(&self) -> Option<Vec<Crossing>> {
        let receiver = &self.inlet.receiver;
        match receiver.try_recv() {
            Ok(group) => Some(group),
            Err(TryRecvError::Disconnected) => None,
            Err(TryRecvError::Empty) => self.permit.without(|| receiver.recv().ok()),
        }
    }
}

impl Iterator for Incoming<'_> {
    type Item = Result<LineFrame, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        let frame = loop {
            match self.group.next() {
                Some(frame) => break frame,
                None => self.group = self.next_group()?.into_iter(),
            }
        };
        self.origins.borrow_mut().push(frame.origin);
        Some(Ok(LineFrame {
            start_ps: self.picoseconds(frame.start),
            end_ps: self.picoseconds(frame.end),
            port: u32::from(frame.port),
            bytes: frame.bytes,
        }))
    }
}

/// Where the last frames that came to a router came into the chain, by their
/// number at this router.
#[derive(Debug, Default)]
pub struct Origins {
    /// Number of the first one that is remembered.
    first: u64,
    list: VecDeque<Option<Origin>>,
}

impl Origins {
    fn push(&mut self, origin: Option<Origin>) {
        if self.list.len() == REMEMBERED {
            self.list.pop_front();
            self.first += 1;
        }
        self.list.push_back(origin);
    }

    /// Where a frame came into the chain; nothing if a router made it, or so many
    /// have come since that it is forgotten.
    pub fn of(&self, frame: u64) -> Option<Origin> {
        let place = usize::try_from(frame.checked_sub(self.first)?).ok()?;
        self.list.get(place).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::{Incoming, Origin, Origins, REMEMBERED, link};
    use crate::chain::permits::Permits;
    use npsim_chip::Cycle;
    use npsim_chip::kernel::lines::Departure;
    use std::cell::RefCell;
    use std::rc::Rc;

    const HERTZ: u64 = 600_000_000;

    fn departure(start: Cycle, port: u8) -> Departure<'static> {
        Departure {
            start,
            end: start + 346,
            port,
            bytes: &[7; 60],
            frame: None,
            arrived: None,
        }
    }

    #[test]
    fn frames_go_on_in_the_order_of_their_first_bit_and_none_before_it_is_known() {
        let permits = Permits::new(1);
        let permit = permits.wait(0);
        let (mut outlet, inlet) = link();
        let origins = Rc::new(RefCell::new(Origins::default()));
        for (start, port) in [(40, 1), (10, 2), (90, 0), (40, 0)] {
            let origin = Origin {
                frame: start,
                arrived: start + 1,
            };
            outlet.take(&departure(start, port), Some(origin));
        }
        outlet.release(90, &permit);
        assert_eq!(outlet.left.len(), 1);
        outlet.release(Cycle::MAX, &permit);
        drop(outlet);
        let incoming = Incoming::new(inlet, &permit, 5, HERTZ, Rc::clone(&origins));
        let seen: Vec<_> = incoming
            .map(|frame| frame.unwrap())
            .map(|frame| {
                let cycles =
                    |ps: u64| (u128::from(ps) * u128::from(HERTZ)).div_ceil(super::PICO) as u64;
                (cycles(frame.start_ps), cycles(frame.end_ps), frame.port)
            })
            .collect();
        let at = |start: Cycle, port| (start + 5, start + 351, port);
        assert_eq!(seen, [at(10, 2), at(40, 0), at(40, 1), at(90, 0)]);
        let origin = origins.borrow().of(3).unwrap();
        assert_eq!((origin.frame, origin.arrived), (90, 91));
        assert_eq!(origins.borrow().of(4), None);
    }

    #[test]
    fn a_router_that_stopped_does_not_stop_the_one_before() {
        let permits = Permits::new(1);
        let permit = permits.wait(0);
        let (mut outlet, inlet) = link();
        drop(inlet);
        for start in 0..10 {
            outlet.take(&departure(start, 0), None);
            outlet.release(Cycle::MAX, &permit);
        }
        assert!(outlet.sender.is_none() && outlet.left.is_empty());
    }

    #[test]
    fn old_frames_are_forgotten() {
        let mut origins = Origins::default();
        let origin = |frame| Origin { frame, arrived: 0 };
        for frame in 0..REMEMBERED as u64 + 2 {
            origins.push(Some(origin(frame)));
        }
        assert_eq!((origins.of(1), origins.of(2)), (None, Some(origin(2))));
        assert_eq!(origins.list.len(), REMEMBERED);
    }
}
