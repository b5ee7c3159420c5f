//! Arrival processes.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How frames follow each other on a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Evenly: after each frame the line rests as long as the rate asks for.
    #[default]
    Constant,
    /// As a Poisson process brings them to a queue before the line: exponentially distributed times
    /// between them, and those that come while the line is busy follow back to back.
    Poisson,
    /// Back to back in bursts whose lengths are geometrically distributed; after each the line rests
    /// until the rate is right again.
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
