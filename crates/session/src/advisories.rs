//! Hints for the reader of a run's results, besides the numbers: how the
//! capture was played, why frames stayed inside, and which options had no
//! effect.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::ContextPhase;
use npsim_chip::units::msf::rbuf::ElementHolder;
use npsim_isa::CONTEXTS;
use npsim_net::pace::Survey;

use crate::report::NodeReport;
use npsim_project::Project;
use npsim_project::quantity::{grouped, show_nanoseconds, show_rate};

/// Differences between the capture and the frames that were played, one per line.
#[must_use]
pub fn of_capture(capture: &Survey) -> Vec<String> {
    let (plan, notes) = (&capture.plan, &capture.notes);
    let unpadded = notes.truncated_frames - notes.padded_frames;
    let counts = [
        (
            unpadded,
            "were captured only in part and played as short as they are",
        ),
        (
            notes.padded_frames,
            "were captured only in part and filled up with zeros",
        ),
        (
            notes.overlong_frames,
            "have more bytes in the capture than were on the wire, which were cut off",
        ),
        (
            notes.overflowing_times,
            "had timestamps whose fraction was a second or more, which was carried over",
        ),
        (
            notes.framed,
            "have no Ethernet header and got one with made-up addresses",
        ),
        (
            notes.left_out,
            "more were left out, since nothing says what they carry",
        ),
        (notes.reordered, "had timestamps out of order"),
    ];
    let mut parts: Vec<_> = { counts.iter() }
        .filter(|(frames, _)| *frames > 0)
        .map(|(frames, what)| format!("{} {what}", grouped(*frames)))
        .collect();
    if plan.waited > 0 {
        parts.push(format!(
            "{} waited up to {} ns for a busy line",
            grouped(plan.waited),
            grouped(u64::try_from(plan.max_wait_ps / 1000).unwrap_or(u64::MAX))
        ));
    }
    let mut lines = Vec::new();
    if !parts.is_empty() {
        lines.push(format!(
            "of the capture's {} frames, {}",
            grouped(capture.frames),
            parts.join(", ")
        ));
    }
    if notes.clock_steps > 0 {
        lines.push(format!(
            "the capture's clock was set back {}, by {} in all; the frames after such a step continue from the time of the frame before it, so rates are those without these steps",
            times(notes.clock_steps),
            show_nanoseconds(notes.stepped_back_ns as f64)
        ));
    }
    if notes.odd_options > 0 {
        lines.push(format!(
            "{} of the capture are malformed and were ignored",
            counted(notes.odd_options, "option")
        ));
    }
    if notes.lost_before > 0 {
        lines.push(format!(
            "{} were lost where the capture was made, by its own count, and are not played",
            counted(notes.lost_before, "frame")
        ));
    }
    if notes.bytes_behind > 0 {
        lines.push(format!(
            "{} behind the capture's compressed data were not read",
            counted(notes.bytes_behind, "byte")
        ));
    }
    if notes.commands > 0 {
        lines.push(format!(
            "the capture is a recording with {}, which hold at `--pace recorded` alone",
            counted(notes.commands, "command")
        ));
    }
    let cut = capture
        .recording
        .as_ref()
        .map_or(0, |it| it.incomplete_bytes);
    if cut > 0 {
        lines.push(format!(
            "the recording ends inside a block, as after its run was killed; {} were ignored",
            counted(cut, "byte")
        ));
    }
    lines.extend(of_interfaces(capture));
    lines
}

/// Notes capture interfaces that share a port because the project has fewer ports.
fn of_interfaces(capture: &Survey) -> Option<String> {
    let ports = capture.plan.ports.len();
    let beyond = capture.interface_frames.iter().enumerate().skip(ports);
    let beyond: Vec<_> = beyond
        .filter(|(_, frames)| capture.by_interface && **frames > 0)
        .map(|(interface, _)| {
            let name = capture.interfaces.get(interface);
            let name = name.map_or("", String::as_str);
            format!("`{name}` at port {}", interface % ports.max(1))
        })
        .collect();
    (!beyond.is_empty()).then(|| {
        format!(
            "the capture has {} interfaces and the project {}, so some share a port: {}; `--ports` gives frames to ports in other ways",
            capture.interfaces.len(),
            counted(ports as u64, "port"),
            beyond.join(", ")
        )
    })
}

/// `1 byte`, `2 bytes`.
fn counted(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(number))
}

/// `once`, `twice`, `3 times`.
#[must_use]
pub fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{} times", grouped(more)),
    }
}

/// The arrival rate as a percentage of the line rate, if it is so low that the chip was almost
/// idle.
#[must_use]
pub fn slow_arrivals(report: &NodeReport) -> Option<f64> {
    const FEW_PERCENT: u64 = 5;
    let used = report.chip.ports.iter().filter(|p| p.received_frames > 0);
    let line: u64 = used.map(|port| port.bits_per_second).sum();
    let offered = report.rates.offered_bits_per_second;
    let slow = u128::from(offered) * 100 < u128::from(line) * u128::from(FEW_PERCENT);
    (report.packets.offered > 1 && slow).then(|| offered as f64 * 100.0 / line as f64)
}

/// Notes that frames arrived that slowly.
#[must_use]
pub fn of_slow_arrivals(report: &NodeReport) -> Option<String> {
    let percent = slow_arrivals(report)?;
    Some(format!(
        "frames came at {percent:.1}% of the line rate, as they were captured; `--pace line` plays them back to back"
    ))
}

/// Notes that may explain the results of a finished run; a fault mostly explains itself.
#[must_use]
pub fn of_results(report: &NodeReport, chip: &Chip) -> Vec<String> {
    let mut lines = of_frames_inside(report, chip);
    if report.fault.is_none() {
        lines.extend(of_long_holds(chip));
    }
    // A lock that is never released may have caused the fault.
    lines.extend(of_held_locks(report));
    lines
}

/// Why frames did not leave, as far as the media interface shows it. Frames still inside mean
/// nothing if the run was stopped early or reached its time limit.
fn of_frames_inside(report: &NodeReport, chip: &Chip) -> Vec<String> {
    let mut lines = Vec::new();
    if report.packets.lost == 0 {
        return lines;
    }
    let (rbuf, tbuf) = (
        &chip.units().msf.receive.rbuf,
        &chip.units().msf.transmit.tbuf,
    );
    if rbuf.waiting() > 0 {
        lines.push(format!(
            "{} RBUF elements hold mpackets that no context took; a context asks for one by writing to RX_THREAD_FREELIST_0",
            grouped(rbuf.waiting() as u64)
        ));
    }
    let untaken = rbuf
        .elements()
        .iter()
        .filter(|element| element.sop && element.holder == ElementHolder::Full)
        .count() as u64;
    let outside: u64 = report
        .chip
        .ports
        .iter()
        .map(|port| port.waiting_frames + port.sending_frames)
        .sum();
    let taken = report.packets.lost.saturating_sub(untaken + outside);
    if taken > 0 {
        lines.push(format!(
            "{} frames were taken from RBUF and neither sent nor counted as dropped",
            grouped(taken)
        ));
        if tbuf.sent + tbuf.skipped == 0 && tbuf.valid() == 0 {
            lines.push(
                "no TBUF element was ever made valid; msf[write] of its control words does that"
                    .into(),
            );
        }
    }
    if tbuf.valid() > 0 && tbuf.head().is_none() {
        lines.push(format!(
            "{} valid TBUF elements wait for element {}, which never became valid; elements are sent in ring order",
            grouped(tbuf.valid() as u64),
            tbuf.next()
        ));
    }
    lines
}

/// Contexts that have held the pipeline for a long time when the run ends while other contexts of
/// their microengine wait for it.
/// [`Check::NeverYields`](npsim_chip::kernel::check::Check::NeverYields) eventually stops a loop
/// that reads no outside state; loops that poll, and runs that end earlier, are reported here.
fn of_long_holds(chip: &Chip) -> Vec<String> {
    const LONG: Cycle = 1 << 16;
    let mut lines = Vec::new();
    for (me, core) in chip.microengines().iter().enumerate() {
        let contexts: Vec<_> = (0..CONTEXTS).map(|context| core.context(context)).collect();
        let phase = |wanted| contexts.iter().position(|it| it.phase == wanted);
        let Some(running) = phase(ContextPhase::Executing) else {
            continue;
        };
        let ready = contexts.iter().filter(|it| it.phase == ContextPhase::Ready);
        let ready = ready.count();
        let it = &contexts[running];
        if ready > 0 && chip.now().saturating_sub(it.since) >= LONG {
            lines.push(format!(
                "microengine {me} context {running} has not given up the pipeline since cycle {}, at {}; {ready} other {} could have run. Let its loop come to an end, or give others a turn in it (`npsim checks never-yields`)",
                grouped(it.since),
                core.program().image().place(it.pc),
                if ready == 1 { "context" } else { "contexts" },
            ));
        }
    }
    lines
}

/// Locks that are still held when the run is over. A run that is stopped early may well end inside
/// a critical section, so in that case a hold counts only if it is longer than all earlier ones.
fn of_held_locks(report: &NodeReport) -> Vec<String> {
    let chip = &report.chip;
    let at_rest = matches!(report.ending, "drained" | "quiet");
    let lines = chip.locks.iter().filter_map(|lock| {
        let hold = lock.held_at_end?;
        let tell = if at_rest {
            report.packets.unaccounted > 0
        } else {
            chip.cycles.saturating_sub(hold.since) > lock.held_longest
        };
        if !tell {
            return None;
        }
        let since = grouped(hold.since);
        let taken = match (hold.microengine, hold.context) {
            (Some(me), Some(context)) => {
                format!("taken by microengine {me} context {context} at cycle {since}")
            }
            _ if hold.since == 0 => "held since before the start".to_owned(),
            _ => format!("taken by the general-purpose core at cycle {since}"),
        };
        let tries = if hold.failed_since == 1 { "try" } else { "tries" };
        Some(format!(
            "the lock {} was still held at the end: {taken}, never released; {} {tries} failed since",
            lock.name,
            grouped(hold.failed_since),
        ))
    });
    lines.collect()
}

/// Notes that the ports differ from those of the board named on the command
/// line, since the project's own `[[port]]` sections take precedence.
#[must_use]
pub fn of_ports(project: &Project, board: Option<&str>) -> Option<String> {
    let there = &project.capacity.board_ports;
    let ports = project.boot.ports.iter();
    let used: Vec<u64> = ports.map(|port| port.bits_per_second).collect();
    if board.is_none() || there.is_empty() || *there == used {
        return None;
    }
    Some(format!(
        "the board {} has {}, but the project's [[port]] sections make them {}",
        project.capacity.board,
        shown(there),
        shown(&used),
    ))
}

/// `3 ports (1.000 Gb/s)`, `2 ports (1.000 Gb/s, 500.000 Mb/s)`.
fn shown(rates: &[u64]) -> String {
    let mut different: Vec<u64> = rates.to_vec();
    different.dedup();
    let list: Vec<_> = different
        .iter()
        .map(|&rate| show_rate(rate as f64))
        .collect();
    let word = if rates.len() == 1 { "port" } else { "ports" };
    format!("{} {word} ({})", rates.len(), list.join(", "))
}

/// Notes that the run ended before the window that the timeline was to cover.
#[must_use]
pub fn of_window(from: Cycle, end: Cycle) -> Option<String> {
    (from > end).then(|| {
        format!(
            "the timeline is empty: the run was over at cycle {}, and --window begins at cycle {}",
            grouped(end),
            grouped(from)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{of_capture, of_slow_arrivals};
    use crate::links::Traffic;
    use crate::report::NodeReport;
    use crate::simulation::Ending;
    use npsim_inspect::stats::{PortStats, Stats};
    use npsim_net::pace::{PortLoad, Survey};

    #[test]
    fn capture_advisories_group_frame_notes_and_list_the_rest() {
        let mut capture = Survey::default();
        assert_eq!(of_capture(&capture), [""; 0]);
        capture.notes.reordered = 7;
        (capture.plan.waited, capture.plan.max_wait_ps) = (34, 21_594_000);
        assert_eq!(
            of_capture(&capture),
            [
                "of the capture's 0 frames, 7 had timestamps out of order, 34 waited up to 21,594 ns for a busy line"
            ]
        );
        capture = Survey::default();
        (capture.notes.clock_steps, capture.notes.stepped_back_ns) = (2, 50_001_000_000);
        (capture.notes.odd_options, capture.notes.bytes_behind) = (1, 20);
        let lines = of_capture(&capture);
        assert!(
            lines[0].contains("set back twice, by 50.001 s in all"),
            "{lines:?}"
        );
        assert!(lines[1].starts_with("1 option of the capture"), "{lines:?}");
        assert!(lines[2].starts_with("20 bytes behind"), "{lines:?}");
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn interfaces_sharing_a_port_are_reported() {
        let mut capture = Survey {
            interfaces: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            interface_frames: vec![1, 1, 0, 1],
            by_interface: true,
            ..Survey::default()
        };
        capture.plan.ports = vec![PortLoad::default(); 2];
        let lines = of_capture(&capture);
        assert!(
            lines[0].contains("4 interfaces and the project 2 ports"),
            "{lines:?}"
        );
        assert!(
            lines[0].contains("so some share a port: `d` at port 1;"),
            "{lines:?}"
        );
        capture.by_interface = false;
        assert_eq!(of_capture(&capture), [""; 0]);
    }

    #[test]
    fn only_slow_arrivals_are_reported() {
        let report = |last_arrival| {
            let traffic = Traffic {
                offered_frames: 2,
                offered_bytes: 1000,
                first_arrival: Some(0),
                last_arrival,
                ..Traffic::default()
            };
            let port = PortStats {
                bits_per_second: 1_000_000_000,
                received_frames: 2,
                ..PortStats::default()
            };
            let chip = Stats {
                mhz: 600,
                cycles: last_arrival,
                ports: vec![port, PortStats::default()],
                ..Stats::default()
            };
            NodeReport::new(Some(&Ending::Drained), None, &traffic, chip)
        };
        // 8000 bits in 100 us are 8% of a gigabit line, in 200 us 4%.
        assert_eq!(of_slow_arrivals(&report(60_000)), None);
        let slow = of_slow_arrivals(&report(120_000)).unwrap();
        assert!(
            slow.contains("at 4.0%") && slow.contains("--pace line"),
            "{slow}"
        );
    }
}
