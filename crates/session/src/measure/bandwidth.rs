//! Peak bandwidths: microcode demands more than a unit can do, and the unit's
//! throughput is compared with the maximum of its profile.

use std::fmt::Write as _;

use npsim_chip::Cycle;
use npsim_chip::chip::Stop;
use npsim_chip::core::CoreKind;
use npsim_chip::gpp::boot::{BootPlan, PortSetup};
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop, PortIo};
use npsim_inspect::stats::Stats;
use npsim_profile::Profile;
use serde::Serialize;

pub use super::rate::Bandwidth;
use super::rate::{ResourceRate, ResourceReading, rate};
use super::{chip, feedback, tenths};
use crate::text_table::TextTable;
use npsim_project::problem::Problem;

/// Simulated cycles per measurement: long enough that the start and the end of
/// a run contribute less than a thousandth.
pub(super) const CYCLES: Cycle = 300_000;
/// Size of RBUF and TBUF elements in the media measurements, in bytes.
const ELEMENT: u16 = 256;
/// Bytes of the frames that `media_out.uc` makes.
const SENT: u64 = 252;
/// Bytes of the incoming frames: five whole elements.
const FRAME: usize = 5 * ELEMENT as usize;
/// More than any media bus carries.
const LINE_BITS_PER_SECOND: u64 = 40_000_000_000;

/// A source and what it measures.
struct Stress {
    path: &'static str,
    /// Whether it runs on all microengines, or on the first alone.
    all: bool,
    media: bool,
    /// Whether a coprocessor is attached.
    feedback: bool,
    read: fn(&Profile, &Stats) -> Vec<ResourceReading>,
}

const STRESSES: &[Stress] = &[
    Stress {
        path: "stress/scratch.uc",
        all: true,
        media: false,
        feedback: false,
        read: |profile, stats| {
            let longword = profile.scratch_occupancy() * profile.bus_cycle();
            units(stats, "scratch", "read", rate(4, longword))
        },
    },
    Stress {
        path: "stress/sram_read.uc",
        all: true,
        media: false,
        feedback: false,
        read: |profile, stats| {
            let peak = rate(4, profile.sram_longword_cycles());
            units(stats, "sram", "read", peak)
        },
    },
    Stress {
        path: "stress/sram_write.uc",
        all: true,
        media: false,
        feedback: false,
        read: |profile, stats| {
            let peak = rate(4, profile.sram_longword_cycles());
            units(stats, "sram", "write", peak)
        },
    },
    Stress {
        path: "stress/sram_both.uc",
        all: true,
        media: false,
        feedback: false,
        read: |profile, stats| {
            let peak = rate(8, profile.sram_longword_cycles());
            units(stats, "sram", "both ways", peak)
        },
    },
    Stress {
        path: "stress/dram.uc",
        all: true,
        media: false,
        feedback: false,
        read: dram,
    },
    Stress {
        path: "stress/hash.uc",
        all: true,
        media: false,
        feedback: false,
        read: |profile, stats| {
            let operand = profile.hash_array_128() * profile.bus_cycle();
            units(stats, "hash", "of 128 bits", rate(16, operand))
        },
    },
    Stress {
        path: "stress/feedback_quick_start.uc",
        all: true,
        media: false,
        feedback: true,
        read: feedback::quick_start,
    },
    Stress {
        path: "stress/feedback_xcp.uc",
        all: true,
        media: false,
        feedback: true,
        read: feedback::xcp,
    },
    Stress {
        path: "stress/command_bus.uc",
        all: true,
        media: false,
        feedback: false,
        read: |profile, stats| buses(profile, stats, "command", 1, "commands"),
    },
    Stress {
        path: "stress/s_push.uc",
        all: true,
        media: false,
        feedback: false,
        read: |profile, stats| buses(profile, stats, "s_push", 4, ""),
    },
    Stress {
        path: "stress/s_pull.uc",
        all: true,
        media: false,
        feedback: false,
        read: |profile, stats| buses(profile, stats, "s_pull", 4, ""),
    },
    Stress {
        path: "stress/d_push.uc",
        all: true,
        media: false,
        feedback: false,
        read: |profile, stats| buses(profile, stats, "d_push", 4, "to MEs"),
    },
    Stress {
        path: "stress/d_pull.uc",
        all: true,
        media: false,
        feedback: false,
        read: |profile, stats| buses(profile, stats, "d_pull", 4, "from MEs"),
    },
    Stress {
        path: "stress/media_in.uc",
        all: false,
        media: true,
        feedback: false,
        read: |profile, stats| {
            let bytes = stats.media.rbuf_closed * u64::from(ELEMENT);
            vec![("media receive".to_owned(), media_peak(profile), bytes)]
        },
    },
    Stress {
        path: "stress/media_out.uc",
        all: false,
        media: true,
        feedback: false,
        read: |profile, stats| {
            let bytes = stats.media.tbuf_sent * SENT;
            vec![("media transmit".to_owned(), media_peak(profile), bytes)]
        },
    },
];

/// A measured rate of a resource in a stress program.
fn measured(
    profile: &Profile,
    source: &'static str,
    (resource, peak, amount): ResourceReading,
) -> Bandwidth {
    let commands = ["commands", "requests"];
    let unit = if commands.iter().any(|counted| resource.ends_with(counted)) {
        "M/s"
    } else {
        "MB/s"
    };
    Bandwidth::new(profile, source, unit, (resource, peak, amount), CYCLES)
}

/// Throughput of the DRAM channels: each against its pins, or all together
/// against the D push bus if that is slower.
fn dram(profile: &Profile, stats: &Stats) -> Vec<ResourceReading> {
    let pins = rate(
        2 * u64::from(profile.dram_burst_bytes()),
        profile.dram_burst_half_cycles(),
    );
    let push = rate(8, profile.bus_cycle());
    if push.amount * pins.cycles < pins.amount * push.cycles * u64::from(profile.dram_channels()) {
        buses(profile, stats, "d_push", push.amount, "to media")
    } else {
        units(stats, "dram", "to media", pins)
    }
}

fn media_peak(profile: &Profile) -> ResourceRate {
    rate(
        profile.media_bus_bytes() * profile.media_mhz(),
        profile.me_mhz(),
    )
}

/// Bytes moved by each channel of a unit.
fn units(stats: &Stats, kind: &str, how: &str, peak: ResourceRate) -> Vec<ResourceReading> {
    let channels = stats.units.iter().filter(|unit| {
        unit.name
            .strip_prefix(kind)
            .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
    });
    channels
        .map(|unit| (format!("{} {how}", unit.name), peak, unit.words * 4))
        .collect()
}

/// Amount carried by each bus of a kind; the peak is `amount` per bus clock.
fn buses(
    profile: &Profile,
    stats: &Stats,
    kind: &str,
    amount: u64,
    how: &str,
) -> Vec<ResourceReading> {
    let Some(bus) = stats.buses.iter().find(|bus| bus.name == kind) else {
        return Vec::new();
    };
    let alone = bus.instances.len() == 1;
    let rows = bus.instances.iter().enumerate().map(|(cluster, used)| {
        let number = if alone {
            String::new()
        } else {
            cluster.to_string()
        };
        let name = format!("{kind}{number} {how}");
        let clock = profile.bus_cycle();
        (
            name.trim_end().to_owned(),
            rate(amount, clock),
            used.busy / clock * amount,
        )
    });
    rows.collect()
}

/// All bandwidths of a chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bandwidths {
    /// Name of the profile.
    pub chip: String,
    /// Microengine clock.
    pub mhz: u64,
    /// Cycles that each measurement ran.
    pub cycles: u64,
    /// The bandwidths, by resource.
    pub bandwidths: Vec<Bandwidth>,
}

/// Runs all measurements on a chip.
///
/// # Errors
/// Returns an error if a source does not assemble for the chip, or a check
/// stops a run.
pub fn measure(core: CoreKind, profile: &Profile) -> Result<Bandwidths, Problem> {
    let mut bandwidths = Vec::new();
    for stress in STRESSES {
        let stats = run(core, profile, stress)?;
        let readings = (stress.read)(profile, &stats).into_iter();
        bandwidths.extend(readings.map(|reading| measured(profile, stress.path, reading)));
    }
    bandwidths.extend(feedback::alone(profile)?);
    Ok(Bandwidths {
        chip: profile.name().to_owned(),
        mhz: profile.me_mhz(),
        cycles: CYCLES,
        bandwidths,
    })
}

fn run(core: CoreKind, profile: &Profile, stress: &Stress) -> Result<Stats, Problem> {
    let microengines = if stress.all {
        profile.microengines()
    } else {
        1
    };
    let boot = if stress.feedback {
        feedback::boot(profile)
    } else if stress.media {
        BootPlan {
            ports: vec![PortSetup {
                bits_per_second: LINE_BITS_PER_SECOND,
            }],
            element_size: ELEMENT,
            ..BootPlan::default()
        }
    } else {
        BootPlan::default()
    };
    let mut chip = chip(core, profile, &boot, stress.path, 0..microengines)?;
    let mut lines = Flood::new(profile, stress.media);
    match chip.run(CYCLES, &mut lines, &mut NoObserver) {
        Stop::Reached => Ok(Stats::collect(&chip)),
        Stop::Quiet => Err(Problem::new(format!(
            "`{}` had no events pending at cycle {}",
            stress.path,
            chip.now()
        ))),
        Stop::Fault(fault) => Err(Problem::new(format!(
            "`{}` at cycle {}: {}",
            stress.path, fault.cycle, fault.message
        ))),
    }
}

/// Endless back-to-back frames on port 0.
struct Flood {
    on: bool,
    mhz: u64,
    frame: u64,
}

impl Flood {
    fn new(profile: &Profile, on: bool) -> Self {
        Self {
            on,
            mhz: profile.me_mhz(),
            frame: 0,
        }
    }

    /// The cycle at which the line has carried this many frames with preamble,
    /// gap and check sequence.
    fn cycle(&self, frames: u64) -> Cycle {
        let bits = u128::from(frames) * (FRAME as u128 + 24) * 8;
        (bits * u128::from(self.mhz) * 1_000_000 / u128::from(LINE_BITS_PER_SECOND)) as Cycle
    }
}

impl PortIo for Flood {
    fn next_arrival(&mut self) -> Option<Arrival> {
        let number = self.frame;
        self.frame += 1;
        self.on.then(|| Arrival {
            start: self.cycle(number),
            end: self.cycle(number + 1),
            port: 0,
            bytes: vec![number as u8; FRAME],
            frame: number,
        })
    }

    fn departed(&mut self, _: Departure<'_>) {}

    fn dropped(&mut self, _: Cycle, _: u8, _: Option<u64>, _: MediaDrop) {}
}

impl Bandwidths {
    /// The table as text, at most `width` columns wide.
    #[must_use]
    pub fn table(&self, width: usize) -> String {
        let heads = ["resource", "measured", "peak", "", "share", "source"];
        let mut table = TextTable::with_numbers(&heads, 1..5);
        for row in &self.bandwidths {
            table.add_row([
                row.resource.clone(),
                tenths(row.measured_tenths),
                tenths(row.peak_tenths),
                row.unit.to_owned(),
                format!("{}%", tenths(row.permille)),
                match row.source {
                    feedback::ALONE => row.source.to_owned(),
                    path => format!("microcode/{path}"),
                },
            ]);
        }
        let mut text = format!(
            "{} at {} MHz: bandwidths under saturation, {} cycles each\n\n",
            self.chip, self.mhz, self.cycles
        );
        let _ = writeln!(text, "{}", table.fitted(width));
        for row in &self.bandwidths {
            if let Some(note) = &row.note {
                let _ = writeln!(text, "\n{}: {note}", row.resource);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use npsim_engine::ENGINE;

    #[test]
    fn bandwidths_reach_95_percent_of_peak_without_exceeding_it() {
        for name in Profile::names() {
            let profile = Profile::load(name).unwrap();
            let measured = measure(ENGINE, &profile).unwrap();
            let far: Vec<_> = measured
                .bandwidths
                .iter()
                .filter(|bandwidth| bandwidth.permille < 950 || bandwidth.exceeds)
                .collect();
            assert!(far.is_empty(), "{name}: {far:#?}");
        }
    }

    #[test]
    fn ixp2400_peaks_match_published_values() {
        let measured = measure(ENGINE, &Profile::load("ixp2400").unwrap()).unwrap();
        let peak = |resource: &str| {
            let mut rows = measured.bandwidths.iter();
            rows.find(|row| row.resource == resource)
                .map(|row| row.peak_tenths)
        };
        assert_eq!(peak("scratch read"), Some(12_000));
        assert_eq!(peak("sram1 write"), Some(8_000));
        assert_eq!(peak("sram0 both ways"), Some(16_000));
        assert_eq!(peak("dram0 to media"), Some(24_000));
        assert_eq!(peak("media receive"), Some(4_160), "3.33 Gb/s");
        assert_eq!(peak("command0 commands"), Some(3_000));
    }

    #[test]
    fn slower_memory_reduces_measured_bandwidth() {
        let profile = Profile::load("ixp2400").unwrap();
        let slower = profile.with("sram", "longword_cycles", 6).unwrap();
        let read = |profile: &Profile| {
            let stats = run(ENGINE, profile, &STRESSES[1]).unwrap();
            stats
                .units
                .iter()
                .find(|u| u.name == "sram0")
                .unwrap()
                .words
        };
        let (fast, slow) = (read(&profile), read(&slower));
        assert!(
            slow * 2 <= fast + 16 && slow * 2 >= fast * 99 / 100,
            "{slow} {fast}"
        );
    }
}
