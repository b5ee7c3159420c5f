//! Arrival processes.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How frames follow each other on a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Evenly spaced: after each frame, the line is idle as long as the rate requires.
    #[default]
    Constant,
    /// A Poisson process into a queue before the line: the times between frames are exponentially distributed, and
    /// frames that arrive while the line is busy follow back to back.
    Poisson,
    /// Back to back in bursts of geometrically distributed lengths; after each burst, the line is idle until the rate
    /// is met again.
    Bursts,
}

impl FromStr for Arrivals {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "constant" => Ok(Self::Constant),
            "poisson" => Ok(Self::Poisson),
            "bursts" => Ok(Self::Bursts),
            _ => Err(format!(
                "`{text}` is not a kind of arrivals: write constant, poisson or bursts"
            )),
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Constant => "constant",
            Self::Poisson => "poisson",
            Self::Bursts => "bursts",
        })
    }
}
