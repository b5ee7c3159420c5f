//! The lines in the middle of a run: saved and resumed.

use std::io;

use npsim_chip::Cycle;
use npsim_net::LineFrame;
use npsim_net::egress::{Position, TraceSink};
use serde::{Deserialize, Serialize};

use super::link::{InletState, Outlet};
use super::{FrameSource, Frames, Links, Traffic};
use crate::histogram::Histogram;

/// A frame that was handed to the chip and may not have begun to arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Handed {
    pub start: Cycle,
    pub end: Cycle,
    pub port: u8,
    pub bytes: u64,
}

/// The state of the lines in the middle of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinksState {
    /// Number of frames handed to the chip.
    next: u64,
    /// The last of them, if it has not begun to arrive.
    handed: Option<Handed>,
    /// Counts of what came and went.
    traffic: Traffic,
    /// The position in the capture of departures.
    capture: Option<Position>,
    /// The state of the link from the previous node, if there is one.
    inlet: Option<Linked>,
    /// Frames that have left but are not yet known to be next on the link to
    /// the next node, if there is one.
    outlet: Option<Outlet>,
}

/// The state of lines that are fed by another node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Linked {
    inlet: InletState,
    /// The frame after the one that the chip has been given: first and last bit
    /// in picoseconds, port, bytes.
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

    /// The position in the capture of departures, if there is one.
    #[must_use]
    pub fn capture(&self) -> Option<&Position> {
        self.capture.as_ref()
    }
}

impl Links {
    /// The state of lines that are fed from outside and not captured, from which
    /// [others](Self::resumed) can continue.
    #[must_use]
    pub fn state(&self) -> LinksState {
        LinksState {
            next: self.next,
            handed: self.handed,
            traffic: self.traffic.clone(),
            capture: None,
            inlet: None,
            outlet: None,
        }
    }

    /// Lines that continue from the [state](Self::state) of others with the same frames. `rest`
    /// are the frames from number [`LinksState::next_frame`] on, and `arrivals_end` is the value of
    /// [`Self::arrivals_end`] there.
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

    /// Frames that are to go on to other nodes, if there are any.
    fn outlet(&self) -> Option<&Outlet> {
        match &self.source {
            FrameSource::Network(port) => Some(&port.outlet),
            FrameSource::Stream(_) | FrameSource::Chain(_) => self.outlet.as_ref(),
        }
    }

    /// Saves the state of the lines. Everything captured so far is then safely
    /// on disk; the sink must be one that can be resumed.
    ///
    /// # Errors
    /// Returns an error if the capture of departures could not be written, or
    /// frames that should have arrived could not be read.
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

    /// Continues from the saved state of lines with the same frames: those
    /// already handed out are skipped. The sink must already be in position.
    /// Returns false if there are too few frames, or the state belongs to lines
    /// connected differently.
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
