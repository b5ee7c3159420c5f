//! Lines in the middle of a run: saved, and gone on with.

use std::io;

use npsim_chip::Cycle;
use npsim_net::LineFrame;
use npsim_net::egress::{Position, TraceSink};
use serde::{Deserialize, Serialize};

use super::link::{InletState, Outlet};
use super::{FrameSource, Frames, Links, Traffic};
use crate::histogram::Histogram;

/// A frame that was handed to the chip and may not have begun to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Handed {
    pub start: Cycle,
    pub end: Cycle,
    pub port: u8,
    pub bytes: u64,
}

/// Where the lines stand in the middle of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinksState {
    /// Frames handed to the chip.
    next: u64,
    /// The last of them, if it has not begun to come.
    handed: Option<Handed>,
    /// What came and went.
    traffic: Traffic,
    /// How far the capture of departures has come.
    capture: Option<Position>,
    /// What is on the link from the node before, if frames come from there.
    inlet: Option<Linked>,
    /// Frames that have left and are not known to be the next ones on the link to
    /// the node behind, if there is one.
    outlet: Option<Outlet>,
}

/// The lines of a node that another one is before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Linked {
    inlet: InletState,
    /// The frame after the one that the chip knows of: first and last bit in
    /// picoseconds, port, bytes.
    ahead: Option<(u128, u128, u32, Vec<u8>)>,
    arrivals_end: Cycle,
    since_entry: Histogram,
}

impl LinksState {
    /// The number of the frame that is handed to the chip next.
    #[must_use]
    pub fn next_frame(&self) -> u64 {
        self.next
    }

    /// How far the capture of departures has come, where there is one.
    #[must_use]
    pub fn capture(&self) -> Option<&Position> {
        self.capture.as_ref()
    }
}

impl Links {
    /// Where lines stand that frames come to from outside and that are not captured, so
    /// that [others](Self::resumed) can go on from there.
    #[must_use]
    pub fn standing(&self) -> LinksState {
        LinksState {
            next: self.next,
            handed: self.handed,
            traffic: self.traffic.clone(),
            capture: None,
            inlet: None,
            outlet: None,
        }
    }

    /// Lines that go on where others with the same frames [stood](Self::standing).
    /// `rest` are the frames from number [`LinksState::next_frame`] on, and `arrivals_end`
    /// is what [`Self::arrivals_end`] was there.
    #[must_use]
    pub fn resumed(
        rest: Frames,
        origin_ns: u64,
        hertz: u64,
        state: LinksState,
        arrivals_end: Cycle,
    ) -> Self {
        let mut links = Self::streaming(rest, origin_ns, hertz, None);
        links.next = state.next;
        links.handed = state.handed;
        links.traffic = state.traffic;
        links.arrivals_end = links.arrivals_end.max(arrivals_end);
        links
    }

    /// Frames that are to go on to other nodes, where there are any.
    fn outlet(&self) -> Option<&Outlet> {
        match &self.source {
            FrameSource::Network(port) => Some(&port.outlet),
            FrameSource::Stream(_) | FrameSource::Chain(_) => self.outlet.as_ref(),
        }
    }

    /// Where the lines stand. What was captured so far is safe on the disk then;
    /// the sink has to be one that can be gone on with.
    ///
    /// # Errors
    /// The capture of departures could not be written, or frames that should have
    /// come could not be read.
    pub fn save(&mut self) -> io::Result<LinksState> {
        if let Some(error) = &self.output_failure {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
        if let Some(error) = &self.input_failure {
            return Err(io::Error::other(error.to_string()));
        }
        let capture = { self.sink.as_mut() }
            .map(TraceSink::position)
            .transpose()?
            .flatten();
        Ok(LinksState {
            next: self.next,
            handed: self.handed,
            traffic: self.traffic.clone(),
            capture,
            inlet: self.role().inlet().map(|inlet| Linked {
                inlet: inlet.state().clone(),
                ahead: self.ahead.clone().map(|frame| {
                    let LineFrame {
                        start_ps,
                        end_ps,
                        port,
                        bytes,
                    } = frame;
                    (start_ps, end_ps, port, bytes)
                }),
                arrivals_end: self.arrivals_end,
                since_entry: self.since_entry.clone(),
            }),
            outlet: self.outlet().cloned(),
        })
    }

    /// Goes on where other lines with the same frames stood: those that came are
    /// passed over. The sink is already where it has to be. False if there are
    /// not as many frames, or the state is of lines that lead elsewhere.
    #[must_use]
    pub fn restore(&mut self, state: LinksState) -> bool {
        if state.outlet.is_some() != self.outlet().is_some() {
            return false;
        }
        match (self.role_mut().inlet_mut(), state.inlet) {
            (None, None) => {}
            (Some(inlet), Some(linked)) if linked.inlet.is_sound() => {
                *inlet.state_mut() = linked.inlet;
                self.ahead = linked
                    .ahead
                    .map(|(start_ps, end_ps, port, bytes)| LineFrame {
                        start_ps,
                        end_ps,
                        port,
                        bytes,
                    });
                self.arrivals_end = linked.arrivals_end;
                self.since_entry = linked.since_entry;
                self.next = state.next;
                self.starved = false;
                if self.ahead.is_none() && !self.role().is_polled() {
                    self.fetch();
                }
            }
            _ => return false,
        }
        match &mut self.source {
            FrameSource::Network(port) => port.outlet = state.outlet.unwrap_or_default(),
            FrameSource::Stream(_) | FrameSource::Chain(_) => self.outlet = state.outlet,
        }
        while self.next < state.next {
            if self.ahead.take().is_none() {
                return false;
            }
            self.next += 1;
            self.fetch();
        }
        self.handed = state.handed;
        self.traffic = state.traffic;
        true
    }
}
