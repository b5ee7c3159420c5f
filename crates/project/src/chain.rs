//! `[chain]`: the links between the routers of a chain.

use schemars::JsonSchema;
use serde::Deserialize;

use super::project_text::ProjectText;
use crate::keys::Spanned;
use crate::problem::Problem;
use crate::quantity::Time;

/// Longest delay of a link, in picoseconds: a second.
const MAX_PS: u64 = 1_000_000_000_000;
/// Longest delay in cycles: no chip has more in a second.
const MAX_CYCLES: u64 = 10_000_000_000;

/// `[chain]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChainSection {
    /// Delay of a link: the time from a bit's departure from one router to its arrival at the next;
    /// none if not given.
    pub delay: Option<Spanned<String>>,
}

impl ChainSection {
    /// Returns the delay of a link.
    pub(super) fn delay(&self, text: &ProjectText) -> Result<Time, Problem> {
        let Some(typed) = &self.delay else {
            return Ok(Time::Picoseconds(0));
        };
        let wrong = |message: String| Problem::new(message).at(text.excerpt(typed.span(), ""));
        let delay = typed.get_ref().parse::<Time>().map_err(wrong)?;
        let long = match delay {
            Time::Picoseconds(ps) => ps > MAX_PS,
            Time::Cycles(cycles) => cycles > MAX_CYCLES,
        };
        if long {
            return Err(
                wrong(format!("a link delay of `{}` is too long", typed.get_ref()))
                    .help("the delay is at most a second; light in fibre takes 5 us per kilometre"),
            );
        }
        Ok(delay)
    }
}
