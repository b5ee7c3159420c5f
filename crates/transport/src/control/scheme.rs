//! Selection of the controllers.

use npsim_net::Random;
use serde::{Deserialize, Serialize};

use super::{
    Controller, Cubic, CubicParameters, QuickStartControl, QuickStartParameters, Reno, SrpControl,
    SrpParameters, XcpControl, XcpOptionControl, XcpOptionParameters, XcpParameters,
};
use crate::host::HostParameters;
use crate::scaling::ScaleError;

/// The control law of a TCP sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scheme {
    /// RFC 5681: `NewReno`, or SACK if both hosts support it.
    Reno,
    /// RFC 9438.
    Cubic(CubicParameters),
    /// XCP with its congestion header.
    Xcp(XcpParameters),
    /// XCP as a TCP option.
    XcpOption(XcpOptionParameters),
    /// RFC 4782, then RFC 5681.
    QuickStart(QuickStartParameters),
    /// A rate that depends on the loss event rate.
    Srp(SrpParameters),
}

impl Scheme {
    /// Returns the scheme with all times divided and all rates multiplied by `scale`.
    ///
    /// # Errors
    ///
    /// Returns an error with the name of a time that would become zero.
    pub fn scaled(self, scale: u64) -> Result<Self, ScaleError> {
        Ok(match self {
            Self::Reno => Self::Reno,
            Self::Cubic(parameters) => Self::Cubic(parameters.scaled(scale)?),
            Self::Xcp(parameters) => Self::Xcp(XcpParameters {
                desired: parameters.desired.map(|rate| rate.saturating_mul(scale)),
                ..parameters
            }),
            Self::XcpOption(parameters) => Self::XcpOption(parameters.scaled(scale)?),
            Self::QuickStart(parameters) => Self::QuickStart(parameters.scaled(scale)?),
            Self::Srp(parameters) => Self::Srp(SrpParameters {
                most: parameters.most.map(|rate| rate.saturating_mul(scale)),
            }),
        })
    }

    pub(crate) fn controller(self, host: &HostParameters, random: Random) -> AnyController {
        match self {
            Self::Reno => AnyController::Reno(Reno::new(host)),
            Self::Cubic(parameters) => AnyController::Cubic(Cubic::new(host, parameters)),
            Self::Xcp(parameters) => AnyController::Xcp(XcpControl::new(host, parameters)),
            Self::XcpOption(parameters) => {
                AnyController::XcpOption(XcpOptionControl::new(host, parameters))
            }
            Self::QuickStart(parameters) => {
                AnyController::QuickStart(QuickStartControl::new(host, parameters, random))
            }
            Self::Srp(parameters) => AnyController::Srp(SrpControl::new(host, parameters)),
        }
    }
}

/// A controller with its state: a single type, so that a sender can be saved and restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of the types")]
pub enum AnyController {
    Reno(Reno),
    Cubic(Cubic),
    Xcp(XcpControl),
    XcpOption(XcpOptionControl),
    QuickStart(QuickStartControl),
    Srp(SrpControl),
}

impl AnyController {
    pub(crate) fn law(&self) -> &dyn Controller {
        match self {
            Self::Reno(law) => law,
            Self::Cubic(law) => law,
            Self::Xcp(law) => law,
            Self::XcpOption(law) => law,
            Self::QuickStart(law) => law,
            Self::Srp(law) => law,
        }
    }

    pub(crate) fn law_mut(&mut self) -> &mut dyn Controller {
        match self {
            Self::Reno(law) => law,
            Self::Cubic(law) => law,
            Self::Xcp(law) => law,
            Self::XcpOption(law) => law,
            Self::QuickStart(law) => law,
            Self::Srp(law) => law,
        }
    }
}
