//! The description of a recorded run.

use std::fmt::Write as _;

use super::NETWORK_HERTZ;
use crate::egress::CapturePort;

/// The first line of the comment in the header, which identifies a recording.
const TITLE: &str = "npsim recording";

/// The description of a recorded run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingHead {
    /// Clock of the microengines, whose cycles count the run's time; [`NETWORK_HERTZ`] for a
    /// network.
    pub hertz: u64,
    /// Wall time of simulated time 0, in seconds since 1970.
    pub start_seconds: u64,
    /// The ports, by number.
    pub ports: Vec<CapturePort>,
    /// The project or network that was run, as named on the command line.
    pub target: String,
    /// The seed of the run, if it had one.
    pub seed: Option<u64>,
    /// Blocks of the routing table that are reserved for route changes; 0 if the run accepts none.
    pub route_blocks: u32,
}

impl RecordingHead {
    /// Returns the number of blocks reserved for route changes, if the run accepts them.
    #[must_use]
    pub fn reserved_blocks(&self) -> Option<u32> {
        Some(self.route_blocks).filter(|blocks| *blocks > 0)
    }

    /// Whether the recording is of a network.
    #[must_use]
    pub fn is_network(&self) -> bool {
        self.hertz == NETWORK_HERTZ
    }

    /// Returns the comment in the header, from which [`RecordingHead::read`] restores the
    /// description.
    pub(super) fn comment(&self) -> String {
        let mut text = format!("{TITLE}\n");
        // A name of several lines would be parsed as further keys.
        let target = self.target.replace(['\n', '\r'], " ");
        // Writing to a string does not fail.
        let _ = writeln!(text, "target={target}");
        let _ = writeln!(text, "hertz={}", self.hertz);
        let _ = writeln!(text, "start_seconds={}", self.start_seconds);
        if let Some(seed) = self.seed {
            let _ = writeln!(text, "seed={seed}");
        }
        let _ = write!(text, "route_blocks={}", self.route_blocks);
        text
    }

    /// Whether the comment of a header marks the file as a recording.
    pub(crate) fn is_recording_comment(comment: &str) -> bool {
        comment.lines().next() == Some(TITLE)
    }

    /// Parses a comment, which lacks the ports; the interfaces describe those. Keys of later
    /// versions are ignored.
    pub(super) fn read(comment: &str) -> Result<Self, String> {
        let value = |key: &str| {
            let lines = comment.lines().skip(1);
            let mut pairs = lines.filter_map(|line| line.split_once('='));
            pairs.find(|(name, _)| *name == key).map(|(_, value)| value)
        };
        let number = |key: &str| {
            let digits = value(key).ok_or_else(|| format!("its header has no `{key}`"))?;
            { digits.parse::<u64>() }
                .map_err(|_| format!("`{key}` in its header is `{digits}`, which is not a number"))
        };
        let blocks = number("route_blocks")?;
        Ok(Self {
            hertz: number("hertz")?,
            start_seconds: number("start_seconds")?,
            ports: Vec::new(),
            target: value("target").unwrap_or_default().to_owned(),
            seed: value("seed").map(|_| number("seed")).transpose()?,
            route_blocks: u32::try_from(blocks)
                .map_err(|_| format!("`route_blocks` in its header is {blocks}, too many"))?,
        })
    }
}
