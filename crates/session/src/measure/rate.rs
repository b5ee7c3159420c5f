//! Rates, and the utilization of resources.

use npsim_chip::Cycle;
use npsim_profile::Profile;
use serde::Serialize;

use super::permille;

/// An exact rate, in amounts per ME cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResourceRate {
    pub amount: u64,
    pub cycles: u64,
}

pub(super) const fn rate(amount: u64, cycles: u64) -> ResourceRate {
    ResourceRate { amount, cycles }
}

/// A resource, its peak rate, and the amount that it processed.
pub(super) type ResourceReading = (String, ResourceRate, u64);

/// The peak utilization of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bandwidth {
    /// The resource and how it was used.
    pub resource: String,
    /// The source that saturated it.
    pub source: &'static str,
    /// `MB/s`, or `M/s` for commands.
    pub unit: &'static str,
    /// Measured rate, in tenths of `unit`.
    pub measured_tenths: u64,
    /// Maximum rate by the profile, in tenths of `unit`.
    pub peak_tenths: u64,
    /// Measured rate in tenths of a percent of the peak.
    pub permille: u64,
    /// Whether the measured rate exceeds the peak.
    pub exceeds: bool,
    /// A remark for the reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Bandwidth {
    /// The utilization of a resource that processed `amount` in `cycles` ME cycles.
    pub(super) fn new(
        profile: &Profile,
        source: &'static str,
        unit: &'static str,
        (resource, peak, amount): ResourceReading,
        cycles: Cycle,
    ) -> Self {
        let (done, most) = (
            u128::from(amount) * u128::from(peak.cycles),
            u128::from(peak.amount) * u128::from(cycles),
        );
        let mhz = profile.me_mhz();
        Self {
            unit,
            resource,
            source,
            measured_tenths: per_second(amount, cycles, mhz),
            peak_tenths: per_second(peak.amount, peak.cycles, mhz),
            permille: permille(done, most),
            exceeds: done > most,
            note: None,
        }
    }
}

/// An amount over a number of cycles, in tenths of a million per second,
/// rounded to the nearest.
fn per_second(amount: u64, cycles: Cycle, mhz: u64) -> u64 {
    (amount * mhz * 10 + cycles / 2) / cycles
}
