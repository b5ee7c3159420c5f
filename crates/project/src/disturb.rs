//! Perturbations in written form: sections of a project file and `--stall`.

use std::fmt;
use std::str::FromStr;

use npsim_chip::kernel::fault_injection::Stall;
use schemars::JsonSchema;
use serde::Deserialize;

use super::text::parse_list;
use crate::keys::{Ids, Spanned};
use crate::quantity::Time;

/// Largest delay of completions that `[disturb]` accepts, in cycles.
pub const MAX_DELAY: u32 = 1_000_000;

/// `[[stall]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StallSection {
    /// Microengine indices.
    pub me: Spanned<Ids>,
    /// Context numbers.
    pub context: Spanned<Ids>,
    /// Time at which they stop running.
    pub from: Spanned<String>,
    /// Duration of the stall.
    #[serde(rename = "for")]
    pub time: Spanned<String>,
}

/// `[disturb]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DisturbSection {
    /// Seed of the random delays: another seed gives another run; 1 if not given.
    pub seed: Option<u64>,
    /// Maximum delay of DRAM completions in cycles; 0 if not given.
    pub dram: Option<Spanned<u32>>,
    /// Maximum delay of SRAM completions in cycles; 0 if not given.
    pub sram: Option<Spanned<u32>>,
    /// Maximum delay of scratchpad completions in cycles; 0 if not given.
    pub scratch: Option<Spanned<u32>>,
}

/// A stall at one node of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeStall {
    /// The node, from 1.
    pub node: usize,
    /// The stalled context, and when it stalls.
    pub stall: Stall,
}

/// `ME.CONTEXT@FROM+FOR`, or `NODE:ME.CONTEXT@FROM+FOR` for individual nodes of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StallOption {
    /// List of nodes, from 1; all nodes if `None`.
    pub nodes: Option<String>,
    /// List of microengine indices.
    pub me: String,
    /// List of context numbers.
    pub context: String,
    /// When the contexts stop running.
    pub from: Time,
    /// Duration of the stall.
    pub time: Time,
}

impl fmt::Display for StallOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |time: Time| time.to_string().replace(' ', "");
        let (from, length) = (time(self.from), time(self.time));
        if let Some(nodes) = &self.nodes {
            write!(f, "{nodes}:")?;
        }
        write!(f, "{}.{}@{from}+{length}", self.me, self.context)
    }
}

impl FromStr for StallOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = || {
            let (who, when) = text.split_once('@')?;
            let (nodes, who) = match who.split_once(':') {
                Some((nodes, who)) => (Some(nodes.trim()), who),
                None => (None, who),
            };
            let (me, context) = who.split_once('.')?;
            let (from, time) = when.split_once('+')?;
            Some((nodes, [me, context, from, time].map(str::trim)))
        };
        let (nodes, [me, context, from, time]) = parts().ok_or_else(|| {
            format!(
                "`{text}` is not ME.CONTEXT@FROM+FOR; write for example `0.3@100us+1ms`, or `2:0.3@100us+1ms` for router 2 of several"
            )
        })?;
        for list in [me, context].into_iter().chain(nodes) {
            parse_list(list)?;
        }
        Ok(Self {
            nodes: nodes.map(str::to_owned),
            me: me.to_owned(),
            context: context.to_owned(),
            from: from.parse()?,
            time: time.parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::StallOption;

    #[test]
    fn stall_options_round_trip() {
        for text in [
            "0.3@100us+1ms",
            "0-2,4.0-7@60000cycles+5ns",
            "2,4-5:0.3@100us+1ms",
        ] {
            let stall: StallOption = text.parse().unwrap();
            assert_eq!(stall.to_string(), text);
            assert_eq!(stall.to_string().parse(), Ok(stall));
        }
    }

    #[test]
    fn mistakes_in_stalls_are_reported() {
        for (text, expected) in [
            ("", "is not ME.CONTEXT@FROM+FOR"),
            ("0@1us+1us", "is not ME.CONTEXT@FROM+FOR"),
            ("0.3@1us", "is not ME.CONTEXT@FROM+FOR"),
            ("x:0.1@1us+1us", "`x` is neither an index nor a range"),
            ("0.x@1us+1us", "`x` is neither an index nor a range"),
            ("2-1.0@1us+1us", "runs backwards"),
            ("0.3@soon+1us", "soon"),
            ("0.3@1us+1h", "`h` is not a unit of time"),
        ] {
            let message = text.parse::<StallOption>().expect_err(text);
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
