//! Congestion control laws of routers, applied where packets leave them.

mod interval;
mod quick_start;
mod rcp;
mod xcp;
mod xcp_option;

use npsim_protocols::ParameterError;
use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};

use crate::frame::Frame;
use crate::topology;

/// A timer of a law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LawTimer {
    /// The end of a control interval.
    Control,
    /// A sample of the queue.
    Queue,
}

/// A law at one line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum LineLaw {
    /// XCP.
    Xcp(xcp::XcpLine),
    /// XCP as a TCP option.
    XcpOption(xcp_option::XcpPerOption),
    /// RCP.
    Rcp(rcp::RcpLine),
    /// Quick-Start.
    QuickStart(quick_start::QuickStartLine),
}

impl LineLaw {
    /// Creates the law of a router for a line of `capacity` bytes per second; `None` if the router
    /// has none.
    pub fn of(
        law: &topology::RouterLaw,
        capacity: u64,
        seed: u64,
    ) -> Result<Option<Self>, ParameterError> {
        Ok(match *law {
            topology::RouterLaw::None => None,
            topology::RouterLaw::Xcp {
                parameters,
                capacity: given,
                stamp,
            } => {
                let capacity = given.unwrap_or(capacity);
                Some(Self::Xcp(xcp::XcpLine::new(parameters, capacity, stamp)?))
            }
            topology::RouterLaw::XcpOption {
                parameters,
                capacity: given,
                format,
                rtt_unit,
            } => {
                let capacity = given.unwrap_or(capacity);
                let law = xcp_option::XcpPerOption::new(parameters, capacity, format, rtt_unit)?;
                Some(Self::XcpOption(law))
            }
            topology::RouterLaw::Rcp { parameters } => {
                Some(Self::Rcp(rcp::RcpLine::new(parameters, capacity)?))
            }
            topology::RouterLaw::QuickStart {
                threshold,
                window,
                samples,
            } => {
                let it =
                    quick_start::QuickStartLine::new(threshold, window, samples, capacity, seed);
                Some(Self::QuickStart(it))
            }
        })
    }

    /// Returns the timers, with the time of the first expiry of each.
    pub fn timers(&self) -> Vec<(LawTimer, Time)> {
        match self {
            Self::Xcp(law) => law.timers(),
            Self::XcpOption(law) => law.timers(),
            Self::Rcp(law) => vec![(LawTimer::Control, law.length())],
            Self::QuickStart(law) => vec![(LawTimer::Control, law.window())],
        }
    }

    /// Handles the arrival of a frame at the queue. Returns false if this router must not forward
    /// the frame.
    pub fn arrive(&mut self, frame: &mut Frame) -> bool {
        match self {
            Self::Xcp(law) => law.arrive(frame),
            Self::XcpOption(law) => law.arrive(frame),
            Self::Rcp(law) => law.arrive(frame),
            Self::QuickStart(law) => return law.arrive(frame),
        }
        true
    }

    /// Handles the departure of a frame from the queue, in which `waiting` bytes remain.
    pub fn depart(&mut self, frame: &mut Frame, waiting: u64) {
        match self {
            Self::Xcp(law) => law.depart(frame, waiting),
            Self::XcpOption(law) => law.depart(frame, waiting),
            Self::Rcp(_) => {}
            Self::QuickStart(law) => law.depart(frame),
        }
    }

    /// Handles the expiry of a timer while `waiting` bytes wait; returns the time until its next
    /// expiry.
    pub fn fire(&mut self, timer: LawTimer, waiting: u64) -> Time {
        match (self, timer) {
            (Self::Xcp(law), timer) => law.fire(timer, waiting),
            (Self::XcpOption(law), timer) => law.fire(timer, waiting),
            (Self::Rcp(law), _) => law.fire(waiting),
            (Self::QuickStart(law), _) => law.fire(),
        }
    }
}
