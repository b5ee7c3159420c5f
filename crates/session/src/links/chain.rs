//! The link from the previous node in a chain.
//!
//! A node has to know the next frame before it can go on, so it runs no further than the first bit
//! of the last known frame.

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::Departure;

use super::link::{FrameOrigin, Inlet, LinkFrame};
use super::role::{LineRole, NextFrame};

/// The link from the previous node.
#[derive(Debug)]
pub struct ChainLink {
    inlet: Inlet,
}

impl ChainLink {
    /// A link with a delay of `delay` cycles, on which nothing has arrived yet.
    pub fn new(delay: Cycle, hertz: u64) -> Self {
        Self {
            inlet: Inlet::new(delay, hertz),
        }
    }

    /// Adds frames that have left the previous node, in the order of their first bit.
    pub fn feed(&mut self, frames: Vec<LinkFrame>) {
        let delay = self.inlet.delay();
        let state = self.inlet.state_mut();
        if let Some(last) = frames.last() {
            state.last_start = last.start.saturating_add(delay);
        }
        state.queue.extend(frames);
    }

    /// Notes that the previous node has ended.
    pub fn close(&mut self) {
        self.inlet.state_mut().closed = true;
    }

    /// The number of frames that wait for their time.
    pub fn backlog(&self) -> usize {
        self.inlet.state().queue.len()
    }
}

impl LineRole for ChainLink {
    fn next(&mut self) -> NextFrame {
        match self.inlet.pop() {
            Some(frame) => NextFrame::Frame(Ok(frame)),
            None if self.inlet.state().closed => NextFrame::Nothing,
            None => NextFrame::Unknown,
        }
    }

    fn known_until(&self) -> Cycle {
        let state = self.inlet.state();
        if state.closed {
            Cycle::MAX
        } else {
            state.last_start
        }
    }

    fn origin(&self, departure: &Departure<'_>) -> Option<FrameOrigin> {
        self.inlet.origin(departure.frame?)
    }

    fn inlet(&self) -> Option<&Inlet> {
        Some(&self.inlet)
    }

    fn inlet_mut(&mut self) -> Option<&mut Inlet> {
        Some(&mut self.inlet)
    }
}

#[cfg(test)]
mod tests {
    use super::super::link::{FrameOrigin, Outlet, PICO};
    use super::super::role::{LineRole, NextFrame};
    use super::ChainLink;
    use npsim_chip::Cycle;
    use npsim_chip::kernel::port_io::Departure;

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
    fn chain_link_passes_frames_in_order_of_first_bit() {
        let mut outlet = Outlet::default();
        let mut inlet = ChainLink::new(5, HERTZ);
        for (start, port) in [(40, 1), (10, 2), (90, 0), (40, 0)] {
            let origin = FrameOrigin {
                frame: start,
                arrived: start + 1,
            };
            outlet.take(&departure(start, port), Some(origin));
        }
        assert!(matches!(inlet.next(), NextFrame::Unknown));
        inlet.feed(outlet.release(90));
        assert_eq!((outlet.waiting(), inlet.known_until()), (1, 45));
        inlet.feed(outlet.release(Cycle::MAX));
        inlet.close();
        assert_eq!(inlet.known_until(), Cycle::MAX);
        let mut seen = Vec::new();
        while let NextFrame::Frame(Ok(frame)) = inlet.next() {
            let cycles = |ps: u128| (ps * u128::from(HERTZ)).div_ceil(PICO) as u64;
            seen.push((cycles(frame.start_ps), cycles(frame.end_ps), frame.port));
        }
        assert!(matches!(inlet.next(), NextFrame::Nothing));
        let at = |start: Cycle, port| (start + 5, start + 351, port);
        assert_eq!(seen, [at(10, 2), at(40, 0), at(40, 1), at(90, 0)]);
        let origin = inlet.inlet.origin(3).unwrap();
        assert_eq!((origin.frame, origin.arrived), (90, 91));
        assert_eq!(inlet.inlet.origin(4), None);
    }
}
