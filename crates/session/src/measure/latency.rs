//! Idle latencies: each operation runs sixteen times on an otherwise idle chip,
//! timed by the microcode itself with `PROFILE_COUNT`.

use npsim_chip::Cycle;
use npsim_chip::chip::Stop;
use npsim_chip::core::CoreKind;
use npsim_chip::gpp::boot::BootPlan;
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop, PortIo};
use npsim_profile::Profile;
use serde::Serialize;

use super::{chip, tenths};
use crate::text_table::TextTable;
use npsim_project::problem::Problem;

/// Repetitions of an operation; must match `microcode/latency/measure.uc`.
const REPEATS: u64 = 16;
/// Scratch address of the microcode's results.
const RESULTS: u32 = 0x2000;
/// Instructions from reading the counter to the command: the read itself and
/// the one that takes the value.
const BEFORE: u64 = 2;
/// The cycle by which every measurement is over.
const LIMIT: Cycle = 1_000_000;

/// What a source measures. In the order of its results: the operation, the
/// parameter that is its target, and the number of instructions beyond the
/// usual ones between counter and command.
struct LatencySource {
    path: &'static str,
    unit: &'static str,
    operations: &'static [(&'static str, &'static str, u64)],
}

const SOURCES: &[LatencySource] = &[
    LatencySource {
        path: "latency/scratch.uc",
        unit: "scratch",
        operations: &[
            ("read", "read", 0),
            ("write", "write", 0),
            ("test_and_incr", "atomic", 0),
            ("put", "ring_put", 0),
            ("get", "ring_get", 0),
        ],
    },
    LatencySource {
        path: "latency/sram.uc",
        unit: "sram",
        operations: &[
            ("read", "read", 0),
            ("write", "write", 0),
            ("test_and_incr", "atomic", 0),
            ("dequeue", "dequeue", 0),
            ("put", "ring_put", 0),
            ("get", "ring_get", 0),
            ("csr_rd", "csr", 0),
        ],
    },
    LatencySource {
        path: "latency/dram.uc",
        unit: "dram",
        operations: &[
            ("read", "read", 0),
            ("write", "write", 0),
            ("rbuf_rd, 64 bytes", "rbuf_rd", 1),
            ("tbuf_wr, 64 bytes", "tbuf_wr", 1),
        ],
    },
    LatencySource {
        path: "latency/hash.uc",
        unit: "hash",
        operations: &[("hash_48", "one", 0)],
    },
    LatencySource {
        path: "latency/msf.uc",
        unit: "msf",
        operations: &[("read", "read", 0), ("write", "write", 0)],
    },
    LatencySource {
        path: "latency/cap.uc",
        unit: "cap",
        operations: &[
            ("read", "read", 0),
            ("write", "write", 0),
            ("fast_wr to a thread", "interthread_signal", 0),
            ("reflect_read", "reflect", 0),
        ],
    },
];

/// The measured latency of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperationLatency {
    /// `scratch`, `sram`, ...
    pub unit: &'static str,
    /// The operation, in assembler syntax.
    pub operation: &'static str,
    /// The profile parameter that it is meant to match.
    pub parameter: String,
    /// The parameter's value in ME cycles.
    pub target: u64,
    /// Number of measurements.
    pub repeats: u64,
    /// Sum of all latencies in ME cycles.
    pub sum: u64,
    /// Shortest latency in ME cycles.
    pub least: u64,
    /// Longest latency in ME cycles.
    pub most: u64,
    /// Mean in tenths of a nanosecond.
    pub mean_tenths_ns: u64,
    /// Mean less target, in tenths of a percent of the target.
    pub difference_permille: i64,
}

impl OperationLatency {
    /// Mean in tenths of an ME cycle.
    #[must_use]
    pub(crate) fn mean_tenths(&self) -> u64 {
        (self.sum * 10 + self.repeats / 2) / self.repeats
    }
}

/// All latencies of a chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Latencies {
    /// Name of the profile.
    pub chip: String,
    /// Microengine clock in MHz.
    pub mhz: u64,
    /// The latencies, by unit.
    pub latencies: Vec<OperationLatency>,
}

/// Runs all measurements on a chip.
///
/// # Errors
/// Returns an error if a source does not assemble for the chip, or a run does
/// not come to rest.
pub fn measure(core: CoreKind, profile: &Profile) -> Result<Latencies, Problem> {
    let mut latencies = Vec::new();
    for source in SOURCES {
        measure_source(core, profile, source, &mut latencies)?;
    }
    Ok(Latencies {
        chip: profile.name().to_owned(),
        mhz: profile.me_mhz(),
        latencies,
    })
}

fn measure_source(
    core: CoreKind,
    profile: &Profile,
    source: &LatencySource,
    latencies: &mut Vec<OperationLatency>,
) -> Result<(), Problem> {
    let mut chip = chip(core, profile, &BootPlan::default(), source.path, 0..1)?;
    match chip.run(LIMIT, &mut NoLines, &mut NoObserver) {
        Stop::Quiet => {}
        Stop::Reached => {
            let text = format!("`{}` is not done after {LIMIT} cycles", source.path);
            return Err(Problem::new(text));
        }
        Stop::Fault(fault) => {
            return Err(Problem::new(format!(
                "`{}` at cycle {}: {}",
                source.path, fault.cycle, fault.message
            )));
        }
    }
    for (number, &(operation, name, more)) in (0..).zip(source.operations) {
        let at = RESULTS + 12 * number;
        let result = |place| u64::from(chip.units().scratch.read(at + place).unwrap_or_default());
        // Counted cycles beyond the operation itself.
        let known = BEFORE + more + profile.wake_latency();
        let target = parameter(profile, source.unit, name);
        let sum = result(0).saturating_sub(REPEATS * known);
        let off = i128::from(sum) - i128::from(REPEATS * target);
        latencies.push(OperationLatency {
            unit: source.unit,
            operation,
            parameter: format!("{}.{name}", source.unit),
            target,
            repeats: REPEATS,
            sum,
            least: result(4).saturating_sub(known),
            most: result(8).saturating_sub(known),
            mean_tenths_ns: (sum * 10_000 / profile.me_mhz() + REPEATS / 2) / REPEATS,
            difference_permille: (off * 1000 / i128::from(REPEATS * target.max(1))) as i64,
        });
    }
    Ok(())
}

fn parameter(profile: &Profile, group: &str, name: &str) -> u64 {
    let mut all = profile.parameters();
    { all.find(|p| p.group == group && p.name == name) }
        .and_then(|parameter| parameter.value.number())
        .unwrap_or(0)
}

impl Latencies {
    /// The table as text, at most `width` columns wide.
    #[must_use]
    pub fn table(&self, width: usize) -> String {
        let heads = [
            "unit",
            "operation",
            "cycles",
            "least",
            "most",
            "ns",
            "target",
            "difference",
        ];
        let mut table = TextTable::with_numbers(&heads, 2..8);
        for latency in &self.latencies {
            let off = latency.difference_permille;
            let sign = if off < 0 { '-' } else { '+' };
            table.add_row([
                latency.unit.to_owned(),
                latency.operation.to_owned(),
                tenths(latency.mean_tenths()),
                latency.least.to_string(),
                latency.most.to_string(),
                tenths(latency.mean_tenths_ns),
                latency.target.to_string(),
                format!("{sign}{}%", tenths(off.unsigned_abs())),
            ]);
        }
        format!(
            "{} at {} MHz: idle latencies, issue to signal, mean of {REPEATS}\n\n{}\n",
            self.chip,
            self.mhz,
            table.fitted(width)
        )
    }
}

/// Lines on which no frame comes or goes.
pub(super) struct NoLines;

impl PortIo for NoLines {
    fn next_arrival(&mut self) -> Option<Arrival> {
        None
    }

    fn departed(&mut self, _: Departure<'_>) {}

    fn dropped(&mut self, _: Cycle, _: u8, _: Option<u64>, _: MediaDrop) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use npsim_engine::ENGINE;

    #[test]
    fn latencies_are_within_five_percent_of_targets() {
        for name in Profile::names() {
            let profile = Profile::load(name).unwrap();
            let measured = measure(ENGINE, &profile).unwrap();
            assert_eq!(measured.latencies.len(), 23);
            for latency in &measured.latencies {
                assert!(
                    latency.difference_permille.abs() <= 50,
                    "{name}: {latency:?}"
                );
                assert!(latency.least >= latency.target, "{name}: {latency:?}");
            }
        }
    }

    #[test]
    fn slower_unit_increases_measured_latency() {
        let profile = Profile::load("ixp2400").unwrap();
        let slower = profile
            .with("sram", "read", profile.sram_read() + 50)
            .unwrap();
        let read = |profile| measure(ENGINE, profile).unwrap().latencies[5].clone();
        let (before, after) = (read(&profile), read(&slower));
        assert_eq!((before.operation, before.unit), ("read", "sram"));
        assert_eq!(after.sum - before.sum, REPEATS * 50);
    }
}
