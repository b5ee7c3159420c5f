//! The coprocessor's bandwidths: what microcode gets from its modules through
//! the channel, and what a module does on its own.

use npsim_chip::gpp::boot::{BootPlan, MemoryImage, Space};
use npsim_chip::units::sram::device::{Attachment, Device};
use npsim_inspect::stats::Stats;
use npsim_profile::Profile;
use npsim_protocols::feedback::{Coprocessor, WINDOW_BYTES};

use super::rate::{Bandwidth, ResourceRate, ResourceReading, rate};
use super::tenths;
use npsim_project::problem::Problem;

/// The source given for values that no microcode measured.
pub(super) const ALONE: &str = "module alone, no buses";
/// The channel that the coprocessor is attached to, if the chip has that many.
const CHANNEL: u8 = 1;
/// Longwords written by an XCP request.
const REQUEST_LONGWORDS: u64 = 4;
/// A limit so high that a request for the lowest rate is always granted.
const LIMIT: u32 = i32::MAX as u32;
/// Milliseconds for which a module is driven on its own.
const MILLISECONDS: u64 = 1;

fn attachment(profile: &Profile) -> Attachment {
    let bytes = u64::from(profile.sram_channel_bytes());
    Attachment {
        name: "FEEDBACK".to_owned(),
        channel: CHANNEL.min(profile.sram_channels() - 1),
        address: Attachment::first_address(WINDOW_BYTES, bytes) as u32,
        bytes: WINDOW_BYTES,
    }
}

/// A chip with a coprocessor that grants every request.
pub(super) fn boot(profile: &Profile) -> BootPlan {
    let own = attachment(profile);
    BootPlan {
        memory: vec![MemoryImage {
            space: Space::Sram(own.channel),
            address: own.address,
            words: vec![LIMIT],
        }],
        devices: vec![Box::new(Coprocessor::new(own))],
        ..BootPlan::default()
    }
}

/// One per clock of this many picoseconds.
fn clock(profile: &Profile, picoseconds: u64) -> ResourceRate {
    rate(1_000_000, picoseconds * profile.me_mhz())
}

/// One per transfer of this many longwords on the pins.
fn pins(profile: &Profile, longwords: u64) -> ResourceRate {
    rate(1, longwords * profile.sram_longword_cycles())
}

fn slower(one: ResourceRate, other: ResourceRate) -> ResourceRate {
    let (a, b) = (
        u128::from(one.amount) * u128::from(other.cycles),
        u128::from(other.amount) * u128::from(one.cycles),
    );
    if a <= b { one } else { other }
}

/// The requests answered by a module of the coprocessor.
fn requests(stats: &Stats, module: &str, name: &str, peak: ResourceRate) -> Vec<ResourceReading> {
    let device = stats.devices.of("coprocessor");
    let answered = device.and_then(|it| it.module(module)?.get("requests"));
    let answered = answered.and_then(|it| u64::try_from(it).ok()).into_iter();
    answered
        .map(|requests| (name.to_owned(), peak, requests))
        .collect()
}

/// Quick-Start requests by microcode: a read of one longword each.
pub(super) fn quick_start(profile: &Profile, stats: &Stats) -> Vec<ResourceReading> {
    let peak = slower(
        clock(profile, profile.feedback_quick_start()),
        pins(profile, 1),
    );
    requests(stats, "quick_start", "Quick-Start requests", peak)
}

/// XCP requests by microcode: a write of four longwords and a read of one each.
pub(super) fn xcp(profile: &Profile, stats: &Stats) -> Vec<ResourceReading> {
    let peak = slower(
        clock(profile, profile.feedback_xcp()),
        pins(profile, REQUEST_LONGWORDS),
    );
    requests(stats, "xcp", "XCP requests", peak)
}

/// The modules driven at one request per clock, without a channel and its buses.
pub(super) fn alone(profile: &Profile) -> Result<Vec<Bandwidth>, Problem> {
    let cycles = MILLISECONDS * profile.me_mhz() * 1000;
    let device = |profile: &Profile| {
        let mut device = Coprocessor::new(attachment(profile));
        device.prepare(profile);
        device.set_register(0, LIMIT);
        device
    };
    let fast = profile
        .with(
            "feedback",
            "quick_start",
            profile.feedback_quick_start_alone(),
        )
        .map_err(|error| Problem::new(error.to_string()))?;
    let rows = [
        (
            "Quick-Start module alone",
            clock(profile, profile.feedback_quick_start_alone()),
            device(&fast).quick_start.drive(cycles, 1),
            pins(profile, 1),
        ),
        (
            "XCP module alone",
            clock(profile, profile.feedback_xcp()),
            device(profile).xcp.drive(cycles, 0x1000, 1000, 0),
            pins(profile, REQUEST_LONGWORDS),
        ),
    ];
    let row = |(name, peak, answers, pins): (&str, ResourceRate, u64, ResourceRate)| {
        let reading = (name.to_owned(), peak, answers);
        let mut row = Bandwidth::new(profile, ALONE, "M/s", reading, cycles);
        if slower(peak, pins) != peak {
            let most = 10 * profile.me_mhz() * pins.amount / pins.cycles;
            row.note = Some(format!(
                "one chip cannot ask for this much: the pins of an SRAM channel carry {} M/s",
                tenths(most)
            ));
        }
        row
    };
    Ok(rows.map(row).into())
}

#[cfg(test)]
mod tests {
    use npsim_profile::Profile;

    use super::alone;

    #[test]
    fn isolated_modules_match_published_rates() {
        for name in Profile::names() {
            let rows = alone(&Profile::load(name).unwrap()).unwrap();
            let figures: Vec<_> = rows
                .iter()
                .map(|row| (row.measured_tenths, row.exceeds, row.note.is_some()))
                .collect();
            assert_eq!(
                figures,
                [(2222, false, true), (500, false, false)],
                "{name}"
            );
        }
    }
}
