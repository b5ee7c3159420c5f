//! The sections of the tasks of congestion control, as they are typed.

use serde::Deserialize;
use toml::Spanned;

/// A number with a fraction, as a TOML number or a string; exact in its digits.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a number or a string such as \"0.4\"")]
pub enum Decimal {
    /// A whole number.
    Integer(i64),
    /// The shortest digits that make the number are taken.
    Float(f64),
    /// Digits, or a value with a unit.
    Text(String),
}

impl Decimal {
    /// As it is typed.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Float(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Threads that keep something each.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a number of threads or a list such as \"32-55\""
)]
pub enum Threads {
    /// So many, from thread 0 on.
    Count(u16),
    /// A list of numbers and ranges.
    List(String),
}

/// `[gpp.quick-start]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuickStartSection {
    /// The memory that is shared; `QS_STATE` if not given.
    pub state: Option<Spanned<String>>,
    /// Groups of ports; 1 if not given.
    pub groups: Option<Spanned<u16>>,
    /// Rate of a group's lines; that of its ports if not given.
    pub capacity: Option<Spanned<String>>,
    /// What may be in use: a rate or a share of the capacity.
    pub threshold: Spanned<Decimal>,
    /// Time of a window; `150ms` if not given.
    pub window: Option<Spanned<String>>,
    /// Time between two samples; that of a window if not given.
    pub sample: Option<Spanned<String>>,
    /// Samples of which the largest counts; 3 if not given.
    pub samples: Option<Spanned<u32>>,
    /// Time until the grants of a window are exact; if not given `1ms`, or a tenth of
    /// a window if that is less.
    pub grace: Option<Spanned<String>>,
    /// The ports' counters; `PORT_COUNTERS` if not given.
    pub counters: Option<Spanned<String>>,
}

/// `[gpp.xcp]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XcpSection {
    /// The memory that is shared; `XCP_STATE` if not given.
    pub state: Option<Spanned<String>>,
    /// `locked` or `split`; `locked` if not given.
    pub layout: Option<Spanned<XcpLayoutKind>>,
    /// Whether the core takes the lock; it does if not given.
    pub lock: Option<Spanned<bool>>,
    /// Sums per thread; in the shared memory if not given.
    pub sums: Option<Spanned<String>>,
    /// The threads that have sums; as many as the memory holds if not given.
    pub threads: Option<Spanned<Threads>>,
    /// Groups of ports; 1 if not given.
    pub groups: Option<Spanned<u16>>,
    /// Rate of a group's lines; that of its ports if not given.
    pub capacity: Option<Spanned<String>>,
    /// The first interval; `50ms` if not given.
    pub initial_interval: Option<Spanned<String>>,
    /// The shortest interval; `10ms` if not given.
    pub min_interval: Option<Spanned<String>>,
    /// The longest round-trip time that counts; `1s` if not given.
    pub max_interval: Option<Spanned<String>>,
    /// Gain for spare capacity; 0.4 if not given.
    pub alpha: Option<Spanned<Decimal>>,
    /// Gain for the standing queue; 0.226 if not given.
    pub beta: Option<Spanned<Decimal>>,
    /// Share that is shuffled; 0.1 if not given.
    pub gamma: Option<Spanned<Decimal>>,
    /// The shortest time between two looks at the queue; `2ms` if not given.
    pub allowed_queue: Option<Spanned<String>>,
    /// The queues' counters; `QUEUE_COUNTERS` if not given, `none` for none.
    pub queues: Option<Spanned<String>>,
}

/// How the pools of XCP are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum XcpLayoutKind {
    /// In one place, under a lock.
    Locked,
    /// In two banks, without a lock.
    Split,
}

/// `[gpp.rcp]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RcpSection {
    /// Where the rate is published; `RCP_RATE` if not given.
    pub rate: Option<Spanned<String>>,
    /// What threads count; `RCP_COUNTERS` if not given.
    pub counters: Option<Spanned<String>>,
    /// The threads that count; as many as the memory holds if not given.
    pub threads: Option<Spanned<Threads>>,
    /// Groups of ports; 1 if not given.
    pub groups: Option<Spanned<u16>>,
    /// Rate of a group's lines; that of its ports if not given.
    pub capacity: Option<Spanned<String>>,
    /// Time between two updates; `10ms` if not given.
    pub period: Option<Spanned<String>>,
    /// Gain for spare capacity; 0.4 if not given.
    pub alpha: Option<Spanned<Decimal>>,
    /// Gain for the queue; 0.4 if not given.
    pub beta: Option<Spanned<Decimal>>,
    /// The part of the capacity that is to be used; 1 if not given.
    pub eta: Option<Spanned<Decimal>>,
    /// The first rate; 5 % of the capacity if not given.
    pub initial_rate: Option<Spanned<String>>,
    /// The round-trip time before a packet tells one; `200ms` if not given.
    pub initial_rtt: Option<Spanned<String>>,
    /// The queues' counters; `QUEUE_COUNTERS` if not given, `none` for none.
    pub queues: Option<Spanned<String>>,
}
