//! The status of a live run: printed once a second, shown on a screen, and written at the end.
//! Each rate states the clock that it refers to.

use std::fmt::Write as _;

use npsim_session::histogram::Histogram;
use npsim_transport::time::{SECOND, Time};
use serde::Serialize;

use crate::clock::{HostTime, LiveClock};
use crate::system::PortCounts;

const HOST_SECOND: f64 = 1e9;

/// The status of a live run, or its final result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveStatus {
    /// Nanoseconds of host time since the run began.
    pub host_nanoseconds: HostTime,
    /// Picoseconds of simulated time.
    pub simulated_picoseconds: Time,
    /// How many times slower than host time simulated time currently runs.
    pub dilation: f64,
    /// Nanoseconds of host time taken out of simulated time.
    pub slipped_nanoseconds: HostTime,
    /// The largest lateness of the simulator, in nanoseconds of host time.
    pub most_late_nanoseconds: HostTime,
    /// The lateness of departures relative to their due times; absent before the first.
    pub departures: Option<DepartureLateness>,
    /// The ports.
    pub ports: Vec<PortStatus>,
}

/// The lateness of frames passed to the host relative to their due times, in nanoseconds of host
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DepartureLateness {
    /// The number of frames.
    pub frames: u64,
    /// The minimum.
    pub min_ns: u64,
    /// The median.
    pub p50_ns: u64,
    /// The 90th percentile.
    pub p90_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The maximum.
    pub max_ns: u64,
}

impl DepartureLateness {
    /// The statistics of all frames so far; `None` if there are none.
    #[must_use]
    pub fn of(late: &Histogram) -> Option<Self> {
        Some(Self {
            frames: late.count(),
            min_ns: late.least()?,
            p50_ns: late.permille(500)?,
            p90_ns: late.permille(900)?,
            p99_ns: late.permille(990)?,
            max_ns: late.most()?,
        })
    }
}

/// The counts of a port since the start of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortStatus {
    /// The name of the port.
    pub port: String,
    /// The interface that it is joined to.
    pub interface: String,
    /// Arrivals from the host and departures to it.
    #[serde(flatten)]
    pub counts: PortCounts,
    /// Frames that left, but that the host's interface could not accept: it was down, or its MTU
    /// is too small.
    pub lost_outside: u64,
}

impl LiveStatus {
    /// The status at a host time.
    #[must_use]
    pub fn of(
        (host, simulated): (HostTime, Time),
        clock: &LiveClock,
        late: &Histogram,
        ports: Vec<PortStatus>,
    ) -> Self {
        Self {
            host_nanoseconds: host,
            simulated_picoseconds: simulated,
            dilation: clock.dilation().factor(),
            slipped_nanoseconds: clock.slipped(),
            most_late_nanoseconds: clock.max_lateness(),
            departures: DepartureLateness::of(late),
            ports,
        }
    }

    /// Describes the changes since an earlier status: one line about the clocks, and one for each
    /// port with any activity. `late` is the largest lateness in between, in nanoseconds.
    #[must_use]
    pub fn since(&self, before: &Self, late: HostTime) -> String {
        let lines = self.ports_since(before).into_iter();
        let lines = lines.filter(|it| it.0).map(|it| format!("  {}", it.1));
        let clocks = std::iter::once(self.clocks_since(before, late));
        clocks.chain(lines).collect::<Vec<_>>().join("\n")
    }

    /// Describes both clocks, and the lateness and slip since an earlier status.
    #[must_use]
    pub fn clocks_since(&self, before: &Self, late: HostTime) -> String {
        let slipped = self.slipped_nanoseconds - before.slipped_nanoseconds;
        format!(
            "host {:.0} s, simulated {:.3} s (1/{}), late {}, slipped {}",
            self.host_nanoseconds as f64 / HOST_SECOND,
            self.simulated_picoseconds as f64 / SECOND as f64,
            self.dilation,
            nanoseconds(late),
            nanoseconds(slipped),
        )
    }

    /// By port, whether there was any activity since an earlier status, and a line that describes
    /// it.
    #[must_use]
    pub fn ports_since(&self, before: &Self) -> Vec<(bool, String)> {
        let host = (self.host_nanoseconds - before.host_nanoseconds) as f64 / HOST_SECOND;
        let simulated = self.simulated_picoseconds - before.simulated_picoseconds;
        let simulated = simulated as f64 / SECOND as f64;
        let ports = self.ports.iter().zip(&before.ports);
        let lines = ports.map(|(port, earlier)| {
            let (now, before) = (port.counts, earlier.counts);
            let (came, left) = (now.came - before.came, now.left - before.left);
            let dropped = now.dropped - before.dropped;
            let outside = port.lost_outside - earlier.lost_outside;
            let bits = |now: u64, before: u64| ((now - before) * 8) as f64;
            let (into, out) = (
                bits(now.came_bytes, before.came_bytes),
                bits(now.left_bytes, before.left_bytes),
            );
            let rates = |time: f64| {
                let rate = |bits: f64| megabits(bits / time.max(1e-9));
                format!("{}/{}", rate(into), rate(out))
            };
            let mut line = format!(
                "port {} {}: in/out {came}/{left} frames, {} Mb/s of simulated time, {} of the host's",
                port.port,
                port.interface,
                rates(simulated),
                rates(host),
            );
            if dropped > 0 {
                let _ = write!(line, ", {dropped} dropped");
            }
            if outside > 0 {
                let _ = write!(line, ", {outside} that the interface could not take");
            }
            (came + left + dropped + outside > 0, line)
        });
        lines.collect()
    }

    /// Summarises the result of a run, in lines.
    #[must_use]
    pub fn summary(&self) -> String {
        let (came, left) = { self.ports.iter() }.fold((0, 0), |sum, port| {
            (sum.0 + port.counts.came, sum.1 + port.counts.left)
        });
        let mut lines = vec![format!(
            "{came} frames came and {left} left in {:.1} s, {:.3} s of simulated time; {} slipped",
            self.host_nanoseconds as f64 / HOST_SECOND,
            self.simulated_picoseconds as f64 / SECOND as f64,
            nanoseconds(self.slipped_nanoseconds),
        )];
        if let Some(late) = self.departures {
            lines.push(format!(
                "frames left late by {} at the median, {} at the 99th percentile, {} at most",
                nanoseconds(late.p50_ns),
                nanoseconds(late.p99_ns),
                nanoseconds(late.max_ns),
            ));
        }
        if self.slipped_nanoseconds > 0 {
            lines.push("note: simulated time slipped: rates that the hosts saw are those of this machine, not of the chip (`npsim docs live`)".to_owned());
        }
        lines.join("\n")
    }
}

fn megabits(bits_per_second: f64) -> String {
    format!("{:.1}", bits_per_second / 1e6)
}

/// Formats a time for people.
fn nanoseconds(time: HostTime) -> String {
    match time {
        0..1_000_000 => format!("{} us", time / 1_000),
        1_000_000..1_000_000_000 => format!("{:.1} ms", time as f64 / 1e6),
        _ => format!("{:.2} s", time as f64 / 1e9),
    }
}
