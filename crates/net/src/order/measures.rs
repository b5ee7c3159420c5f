//! Measures of packet order.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The order in which the packets of one or several flows left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderMeasures {
    /// Flows that have packets here.
    pub flows: u64,
    /// Flows that have reordered packets.
    pub reordered_flows: u64,
    /// Packets that left, each counted once. The following fields refer to these unless noted otherwise.
    pub packets: u64,
    /// Packets that left again.
    pub duplicates: u64,
    /// Packets that entered and never left; `None` if unknown.
    pub missing: Option<u64>,
    /// Packets at which a TCP receiver that acknowledges every packet would repeat its acknowledgement,
    /// because an earlier packet has not arrived yet.
    pub duplicate_acks: u64,
    /// Times that the sender would consider a packet lost: at the third duplicate acknowledgement in a
    /// row, once for each repeated acknowledgement.
    pub fast_retransmits: u64,
    /// Duplicate acknowledgements from the third in a row on.
    pub third_duplicates: u64,
    /// Duplicate acknowledgements from the third on since a gap began: the count restarts only when
    /// nothing is missing any more, not when a part of the gap is filled.
    pub episode_duplicates: u64,
    /// Packets that leave after at least three later packets of their flow.
    pub late_by_three: u64,
    /// Packets that leave after a later packet of their flow (RFC 4737, section 3).
    pub reordered: u64,
    /// Distance back to the first later packet, in packets that left, for the reordered packets (RFC
    /// 4737, section 4.2).
    pub extents: Extents,
    /// Reordered packets by the number of packets directly before them that are all later ones: the
    /// largest n for which a packet is n-reordered (RFC 4737, section 5.4); 0 if the packet directly
    /// before it is an earlier one.
    pub degrees: BTreeMap<u64, u64>,
    /// Packets by displacement, receive index minus sequence number: positive for late packets (reorder
    /// density, RFC 5236, section 4).
    pub displacements: BTreeMap<i64, u64>,
    /// Packets whose displacement is beyond the threshold, which the reorder density considers lost.
    pub displaced_beyond: u64,
    /// Packets by the number of packets that a receiver restoring the order holds back after they arrive
    /// (reorder buffer-occupancy density, RFC 5236, section 5; no threshold).
    pub held: BTreeMap<u64, u64>,
}

/// Extents of late packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extents {
    /// The largest extent.
    pub largest: u64,
    /// The sum of all extents; divided by the number of reordered packets it gives the mean.
    pub sum: u64,
}

impl OrderMeasures {
    /// Adds the measures of other flows.
    pub fn add(&mut self, other: &Self) {
        self.flows += other.flows;
        self.reordered_flows += other.reordered_flows;
        self.packets += other.packets;
        self.duplicates += other.duplicates;
        self.missing = self.missing.zip(other.missing).map(|(a, b)| a + b);
        self.duplicate_acks += other.duplicate_acks;
        self.fast_retransmits += other.fast_retransmits;
        self.third_duplicates += other.third_duplicates;
        self.episode_duplicates += other.episode_duplicates;
        self.late_by_three += other.late_by_three;
        self.reordered += other.reordered;
        self.extents.largest = self.extents.largest.max(other.extents.largest);
        self.extents.sum += other.extents.sum;
        merge(&mut self.degrees, &other.degrees);
        merge(&mut self.displacements, &other.displacements);
        self.displaced_beyond += other.displaced_beyond;
        merge(&mut self.held, &other.held);
    }

    /// Whether every packet left after all those that entered before it.
    #[must_use]
    pub const fn is_in_order(&self) -> bool {
        self.reordered == 0
    }

    /// Returns a packet count as a percentage of all packets; `None` without packets.
    #[must_use]
    pub fn percent(&self, count: u64) -> Option<f64> {
        (self.packets > 0).then(|| count as f64 * 100.0 / self.packets as f64)
    }
}

fn merge<K: Ord + Copy>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (&key, &count) in from {
        *into.entry(key).or_default() += count;
    }
}

/// Counters that are shown as a share of the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counter {
    /// [`OrderMeasures::duplicate_acks`].
    DuplicateAcks,
    /// [`OrderMeasures::fast_retransmits`].
    FastRetransmits,
    /// [`OrderMeasures::third_duplicates`].
    ThirdDuplicates,
    /// [`OrderMeasures::episode_duplicates`].
    EpisodeDuplicates,
    /// [`OrderMeasures::late_by_three`].
    LateByThree,
    /// [`OrderMeasures::reordered`].
    Reordered,
}

impl Counter {
    /// All counters.
    pub const ALL: [Self; 6] = [
        Self::DuplicateAcks,
        Self::FastRetransmits,
        Self::ThirdDuplicates,
        Self::EpisodeDuplicates,
        Self::LateByThree,
        Self::Reordered,
    ];

    /// Returns the name in input and output: `duplicate-acks`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DuplicateAcks => "duplicate-acks",
            Self::FastRetransmits => "fast-retransmits",
            Self::ThirdDuplicates => "third-duplicates",
            Self::EpisodeDuplicates => "episode-duplicates",
            Self::LateByThree => "late-by-three",
            Self::Reordered => "reordered",
        }
    }

    /// Returns the name for display: `duplicate ACKs`.
    #[must_use]
    pub const fn shown(self) -> &'static str {
        match self {
            Self::DuplicateAcks => "duplicate ACKs",
            Self::FastRetransmits => "fast retransmits",
            Self::ThirdDuplicates => "third duplicates",
            Self::EpisodeDuplicates => "episode duplicates",
            Self::LateByThree => "late by three",
            Self::Reordered => "reordered",
        }
    }

    /// Returns the counter's value.
    #[must_use]
    pub const fn of(self, order: &OrderMeasures) -> u64 {
        match self {
            Self::DuplicateAcks => order.duplicate_acks,
            Self::FastRetransmits => order.fast_retransmits,
            Self::ThirdDuplicates => order.third_duplicates,
            Self::EpisodeDuplicates => order.episode_duplicates,
            Self::LateByThree => order.late_by_three,
            Self::Reordered => order.reordered,
        }
    }
}

impl FromStr for Counter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|counter| counter.name() == text);
        named.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("`{text}` is not a counter of order; choose one of {names}")
        })
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
