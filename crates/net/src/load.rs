//! Generated traffic: a [`Load`] describes the amount, timing, sizes and addresses, and a [`Generator`]
//! yields its frames in order of arrival.
//!
//! A load gives the same bytes at the same picosecond on every machine: times are integers, and no random
//! number goes through a float. Constant arrivals meet the rate exactly over any length of time, a load of
//! 1 is back to back, and a frame never arrives while its line is busy.
//!
//! ```
//! use npsim_net::load::{Generator, Load, LoadPort};
//!
//! let load = Load { rate: Some("1".parse()?), time: "10us".parse()?, ..Load::default() };
//! let port = LoadPort { bits_per_second: 1_000_000_000, mac: [2, 0, 0, 0, 1, 0] };
//! let frames: Vec<_> = Generator::new(&load, &[port])?.collect();
//! // 60 bytes without FCS, 672 ns of line time: 1.488 million a second.
//! assert_eq!((frames.len(), frames[1].start_ps, frames[1].bytes.len()), (15, 672_000, 60));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrivals;
mod clock;
mod generator;
mod kind;
mod number;
mod packet;
mod phase;
mod prefix;
mod rate;
mod sizes;
mod span;
mod special;
mod stamp;
mod turns;

use std::fmt;
use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use arrivals::Arrivals;
pub use generator::Generator;
pub use kind::FrameKind;
pub use phase::Phase;
pub use prefix::{Prefix, PrefixError};
pub use rate::{Amount, LoadRate, RateError};
pub use sizes::{MAX_FRAME_SIZE, MIN_FRAME_SIZE, Size, SizeError, Sizes};
pub use span::{SpanError, TimeSpan};
pub use special::{OptionBytes, OptionError, Share, ShareError, Special};
pub use stamp::Stamp;
pub use turns::Interleave;

/// The traffic to generate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Load {
    /// The offered rate, without which no traffic can be generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<LoadRate>,
    /// How frames follow each other on a line.
    pub arrivals: Arrivals,
    /// Mean number of frames in a burst, for `bursts`.
    pub burst: u32,
    /// When the first frame of each port begins.
    #[serde(skip_serializing_if = "is_default")]
    pub phase: Phase,
    /// The sizes of frames.
    pub size: Sizes,
    /// Number of concurrent flows over all ports; at least one per port.
    pub flows: u32,
    /// Number of frames of a kind after which a flow ends and another one with a new number, other addresses and other
    /// ports takes its place; 0 if flows do not end.
    #[serde(skip_serializing_if = "is_zero")]
    pub flow_packets: u64,
    /// How the frames of a port are assigned to its flows.
    #[serde(skip_serializing_if = "is_default")]
    pub interleave: Interleave,
    /// The prefix of the source addresses.
    pub sources: Prefix,
    /// The prefixes of the destination addresses, assigned to flows in turn. If empty: those of the project's routes,
    /// or `198.19.0.0/16` if there are none.
    pub destinations: Vec<Prefix>,
    /// The weights by which a rate over all ports is divided among them; in proportion to the lines' rates if empty.
    pub spread: Vec<u32>,
    /// Time to live of the packets.
    pub ttl: u8,
    /// Frames that are not plain datagrams.
    pub special: Special,
    /// Duration of the traffic: no frame begins after this time.
    pub time: TimeSpan,
    /// Another seed gives other traffic of the same kind.
    pub seed: u64,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            rate: None,
            arrivals: Arrivals::Constant,
            burst: 16,
            phase: Phase::Even,
            size: Sizes::default(),
            flows: 120,
            flow_packets: 0,
            interleave: Interleave::Turn,
            sources: Prefix::new(Ipv4Addr::new(198, 18, 0, 0), 16),
            destinations: Vec::new(),
            spread: Vec::new(),
            ttl: 64,
            special: Special::default(),
            time: TimeSpan::from_picoseconds(1_000_000_000),
            seed: 0,
        }
    }
}

impl Load {
    /// Largest number of flows in a load.
    pub const MAX_FLOWS: u32 = 1 << 24;

    /// Returns the default destinations of flows: the second half of the benchmarking range (RFC 2544).
    #[must_use]
    pub fn default_destinations() -> Vec<Prefix> {
        vec![Prefix::new(Ipv4Addr::new(198, 19, 0, 0), 16)]
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl fmt::Display for Load {
    /// Writes the load in one line: `0.33 of the line rate, poisson arrivals, 64-byte frames, 120 flows,
    /// seed 0`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rate {
            Some(rate @ LoadRate::Total(Amount::Line(_))) => {
                write!(out, "{rate} of the line rate")?;
            }
            Some(rate @ LoadRate::Total(_)) => rate.fmt(out)?,
            Some(rate @ LoadRate::PerPort(_)) => write!(out, "{rate} by port")?,
            None => out.write_str("no rate")?,
        }
        match self.arrivals {
            Arrivals::Bursts => write!(out, ", bursts of {}", self.burst)?,
            other => write!(out, ", {other}")?,
        }
        if self.phase != Phase::Even {
            write!(out, " of {} phase", self.phase)?;
        }
        match self.size.sizes() {
            [size] => write!(out, ", {}-byte frames", size.bytes)?,
            _ => write!(out, ", {} frames", self.size)?,
        }
        for (kind, share) in self.special.shares() {
            if !share.is_none() {
                write!(out, ", {share} {}", format!("{kind:?}").to_lowercase())?;
            }
        }
        write!(out, ", {} flows", self.flows)?;
        if self.flow_packets > 0 {
            write!(out, " of {} frames", self.flow_packets)?;
        }
        if self.interleave == Interleave::Random {
            out.write_str(" drawn at random")?;
        }
        write!(out, ", seed {}", self.seed)
    }
}

/// A port at which a load arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadPort {
    /// Rate of the line in bits a second, at most 2^40.
    pub bits_per_second: u64,
    /// The port's own address, the destination of the frames.
    pub mac: [u8; 6],
}

/// Why a load cannot be applied to ports.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// No rate is given.
    #[error("the load has no rate; say how much is to come, such as 0.5 of the line rate or 1Mpps")]
    NoRate,
    /// There are no ports.
    #[error("there is no port for the load to come in at; give at least one port a line")]
    NoPorts,
    /// More than 256 ports.
    #[error("there are {0} ports, and a load can come in at 256 at most")]
    TooManyPorts(usize),
    /// A line rate of zero, or one that is too high.
    #[error(
        "port {port} has a line of {bits_per_second} bit/s; a load needs 1 bit/s to 1.099 Tbit/s"
    )]
    Line {
        /// The port.
        port: usize,
        /// The rate.
        bits_per_second: u64,
    },
    /// A list with more entries than there are ports.
    #[error("the load's {what} has {given} entries, and there are only {ports} ports")]
    TooManyEntries {
        /// `rate` or `spread`.
        what: &'static str,
        /// Entries.
        given: usize,
        /// Ports.
        ports: usize,
    },
    /// No port has any traffic.
    #[error("no port of the load has traffic; give one a rate or a share of the spread")]
    NoTraffic,
    /// A port would get more traffic than its line carries.
    #[error(
        "port {port} would get more frames than its line of {bits_per_second} bit/s carries, which is {most} a second of this size; lower the rate, or spread it over more ports"
    )]
    ExceedsLineRate {
        /// The port.
        port: usize,
        /// The line.
        bits_per_second: u64,
        /// Frames of the mean size that the line carries in a second, rounded down.
        most: u64,
    },
    /// Numbers that cannot be represented exactly.
    #[error("the load's rate on port {port} has too many digits to be kept exactly; round it")]
    TooPrecise {
        /// The port.
        port: usize,
    },
    /// The shares of special frames add up to more than all frames.
    #[error("the shares of special frames add up to more than 1; lower some of them")]
    SharesExceedOne,
    /// A number outside its range.
    #[error("the load's `{what}` is {given}, and it must be {range}")]
    Range {
        /// The field.
        what: &'static str,
        /// The value.
        given: u64,
        /// What is allowed.
        range: &'static str,
    },
}

#[cfg(test)]
mod tests;
