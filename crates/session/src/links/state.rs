//! Lines in the middle of a run: saved, and gone on with.

use std::io;

use npsim_chip::Cycle;
use npsim_net::egress::{PcapSink, Position};
use serde::{Deserialize, Serialize};

use super::link::{Inlet, Outlet};
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
    /// Last bit of all frames that were known.
    arrivals_end: Cycle,
    since_entry: Histogram,
    /// How far the capture of departures has come.
    capture: Option<Position>,
    /// What is on the links from other nodes, if frames come from there.
    inlet: Option<Inlet>,
    /// Frames that have left and are not known to be the next ones on the links to
    /// other nodes, if there are any.
    outlet: Option<Outlet>,
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
            arrivals_end: self.arrivals_end(),
            since_entry: self.since_entry.clone(),
            capture: None,
            inlet: None,
            outlet: None,
        }
    }

    /// Lines that go on where others with the same frames [stood](Self::standing).
    /// `rest` are the frames from number [`LinksState::next_frame`] on.
    #[must_use]
    pub fn resumed(rest: Frames, origin_ns: u64, hertz: u64, state: LinksState) -> Self {
        let mut links = Self::streaming(rest, origin_ns, hertz, None);
        links.next = state.next;
        links.take_up(state);
        links
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
        if let Some(error) = self.input_failure() {
            return Err(io::Error::other(error.to_string()));
        }
        Ok(LinksState {
            capture: self.sink.as_mut().map(PcapSink::position).transpose()?,
            inlet: self.source.inlet().cloned(),
            outlet: self.outlet.clone(),
            ..self.standing()
        })
    }

    /// Goes on where other lines with the same frames stood: those that came are
    /// passed over. The sink is already where it has to be. False if there are
    /// not as many frames, or the state is of lines that lead elsewhere.
    #[must_use]
    pub fn restore(&mut self, mut state: LinksState) -> bool {
        if state.outlet.is_some() != self.outlet.is_some() {
            return false;
        }
        let fits = match (&mut self.source, state.inlet.take()) {
            (FrameSource::Stream(stream), None) => {
                { self.next..state.next }.all(|_| stream.pop().is_some())
            }
            (FrameSource::Nodes(inlet), Some(state)) => inlet.restore(state),
            _ => false,
        };
        self.next = state.next;
        self.outlet = state.outlet.take();
        self.take_up(state);
        fits
    }

    fn take_up(&mut self, state: LinksState) {
        self.handed = state.handed;
        self.traffic = state.traffic;
        self.arrivals_end = state.arrivals_end;
        self.since_entry = state.since_entry;
    }
}
