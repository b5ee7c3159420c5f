//! How a live run stands: what is printed once a second, shown on a screen, and written at its
//! end. Each rate says which clock it is of.

use std::fmt::Write as _;

use npsim_session::histogram::Histogram;
use npsim_transport::time::{SECOND, Time};
use serde::Serialize;

use crate::clock::{HostTime, LiveClock};
use crate::system::PortCounts;

const HOST_SECOND: f64 = 1e9;

/// How a live run stands, or what it came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveStatus {
    /// Nanoseconds of the host since the run began.
    pub host_nanoseconds: HostTime,
    /// Picoseconds of simulated time.
    pub simulated_picoseconds: Time,
    /// How many times slower than the host's time simulated time goes at present.
    pub dilation: f64,
    /// Nanoseconds of the host's time that were taken out of simulated time.
    pub slipped_nanoseconds: HostTime,
    /// The largest lateness of the simulator, ns of the host.
    pub most_late_nanoseconds: HostTime,
    /// How late frames left against when they were due, ns of the host; absent before the first.
    pub departures: Option<DepartureLateness>,
    /// The ports.
    pub ports: Vec<PortStatus>,
}

/// How late frames were given to the host against when they were due, ns of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DepartureLateness {
    /// Frames.
    pub frames: u64,
    /// The least.
    pub min_ns: u64,
    /// The median.
    pub p50_ns: u64,
    /// Nine of ten are less late.
    pub p90_ns: u64,
    /// 99 of a hundred are.
    pub p99_ns: u64,
    /// The largest.
    pub max_ns: u64,
}

impl DepartureLateness {
    /// Of all frames so far.
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

/// A port, since the beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortStatus {
    /// What it is called.
    pub port: String,
    /// What it is joined to.
    pub interface: String,
    /// What came from the host and left for it.
    #[serde(flatten)]
    pub counts: PortCounts,
    /// Frames that left, and that the host's interface could not take: it was down, or its MTU is
    /// smaller.
    pub lost_outside: u64,
}

impl LiveStatus {
    /// How it stands at a time of the host.
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
            most_late_nanoseconds: clock.most_late(),
            departures: DepartureLateness::of(late),
            ports,
        }
    }

    /// What happened since an earlier status, in one line for each port at which anything did,
    /// behind one about the clocks. `late` is the largest lateness in between, ns.
    #[must_use]
    pub fn since(&self, before: &Self, late: HostTime) -> String {
        let lines = self.ports_since(before).into_iter();
        let lines = lines.filter(|it| it.0).map(|it| format!("  {}", it.1));
        let clocks = std::iter::once(self.clocks_since(before, late));
        clocks.chain(lines).collect::<Vec<_>>().join("\n")
    }

    /// Both clocks, and what was late and slipped since an earlier status.
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

    /// By port: whether anything happened since an earlier status, and what, in a line.
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

    /// What a run came to, in lines.
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
                "frames left late by {} at the median, {} at the 99th of a hundred, {} at most",
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

/// A time for people.
fn nanoseconds(time: HostTime) -> String {
    match time {
        0..1_000_000 => format!("{} us", time / 1_000),
        1_000_000..1_000_000_000 => format!("{:.1} ms", time as f64 / 1e6),
        _ => format!("{:.2} s", time as f64 / 1e9),
    }
}
