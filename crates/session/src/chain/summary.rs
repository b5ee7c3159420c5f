//! The summary of a chain on the terminal.

use std::fmt::{self, Write as _};

use super::report::{ChainReport, HopReport};
use crate::summary::{finished, host, table};
use npsim_project::quantity::{grouped, show_nanoseconds, show_rate};

/// The summary's text. `host_seconds` is how long the run took here.
#[must_use]
pub fn summary(report: &ChainReport, host_seconds: f64) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_summary(&mut text, report, host_seconds);
    text
}

fn write_summary(out: &mut String, report: &ChainReport, host_seconds: f64) -> fmt::Result {
    let chip = report.routers.first().map_or("", |r| &r.run.chip.chip);
    writeln!(
        out,
        "{} routers {} on {chip}: {}",
        report.hops,
        report.project,
        ending(report)
    )?;
    let runs = || report.routers.iter().map(|router| &router.run.chip);
    let longest = runs().map(|chip| chip.nanoseconds).max().unwrap_or(0);
    let cycles: u64 = runs().map(|chip| chip.cycles).sum();
    let instructions: u64 = runs()
        .flat_map(|chip| &chip.microengines)
        .map(|me| me.instructions)
        .sum();
    writeln!(
        out,
        "simulated    {} ({} cycles of all routers), {} instructions",
        show_nanoseconds(longest as f64),
        grouped(cycles),
        grouped(instructions)
    )?;
    writeln!(
        out,
        "host         {}",
        host(cycles, instructions, host_seconds)
    )?;
    for change in &report.profile_changes {
        writeln!(
            out,
            "profile      {} is {} here, not {}",
            change.parameter, change.to, change.from
        )?;
    }
    let first = report.routers.first();
    for line in first.map_or_else(Vec::new, |router| router.run.disturbances.lines()) {
        writeln!(out, "disturbed    {line}, in every router")?;
    }
    if let Some(load) = &report.load {
        writeln!(out, "load         {load}, for {}", load.time)?;
    }
    write_packets(out, report)?;
    let rates = &report.rates;
    writeln!(
        out,
        "rates        in {}, {} packets/s for {}   out {}, {} packets/s for {}",
        show_rate(rates.offered_bits_per_second as f64),
        grouped(rates.offered_packets_per_second),
        show_nanoseconds(rates.offered_nanoseconds as f64),
        show_rate(rates.sent_bits_per_second as f64),
        grouped(rates.sent_packets_per_second),
        show_nanoseconds(rates.sent_nanoseconds as f64)
    )?;
    if let Some(latency) = &report.latency {
        writeln!(
            out,
            "latency      50% {} ns   90% {} ns   99% {} ns   max {} ns   (last bit into the first router to last bit out of the last)",
            grouped(latency.p50_ns),
            grouped(latency.p90_ns),
            grouped(latency.p99_ns),
            grouped(latency.max_ns)
        )?;
    }
    writeln!(out, "\n{}", routers(report))
}

fn ending(report: &ChainReport) -> String {
    let ended = |name: &str| report.routers.iter().find(|r| r.run.ending == name);
    match report.ending {
        "quiet" => "nothing can happen any more".into(),
        "drained" => "all traffic is handled".into(),
        "reached" => "the time is up".into(),
        "interrupted" => "interrupted".into(),
        "fault" => ended("fault").map_or_else(String::new, stopped),
        "input-failed" => "the input could not be read".into(),
        _ => "the output could not be written".into(),
    }
}

fn stopped(router: &HopReport) -> String {
    let fault = router.run.fault.as_ref();
    format!(
        "router {} was stopped at cycle {} by {}",
        router.hop,
        grouped(fault.map_or(router.run.chip.cycles, |fault| fault.cycle)),
        fault.and_then(|fault| fault.check).unwrap_or("a fault")
    )
}

fn write_packets(out: &mut String, report: &ChainReport) -> fmt::Result {
    let packets = &report.packets;
    write!(
        out,
        "packets      in {}   out {}   dropped {}   exceptions {}",
        grouped(packets.offered),
        grouped(packets.sent),
        grouped(packets.dropped_media + packets.dropped_microcode),
        grouped(packets.exceptions)
    )?;
    if packets.on_links > 0 {
        write!(out, "   on links {}", grouped(packets.on_links))?;
    }
    match packets.unaccounted {
        0 => writeln!(out)?,
        n if n > 0 => writeln!(
            out,
            "   still inside or dropped without a counter {}",
            grouped(n.unsigned_abs())
        )?,
        n => writeln!(
            out,
            "   made by the microcode {}",
            grouped(n.unsigned_abs())
        )?,
    }
    for lost in &report.drops {
        let port = match lost.drop.port {
            Some(port) => format!("port {port}: "),
            None => String::new(),
        };
        writeln!(
            out,
            "dropped      {}  router {}: {port}{}",
            grouped(lost.drop.frames),
            lost.hop,
            lost.drop.reason
        )?;
    }
    for lost in &report.exceptions {
        writeln!(
            out,
            "exception    {}  router {}: {}",
            grouped(lost.drop.frames),
            lost.hop,
            lost.drop.reason
        )?;
    }
    Ok(())
}

/// One line for each router.
fn routers(report: &ChainReport) -> String {
    let mut table = table(&[
        "router",
        "in",
        "out",
        "dropped",
        "exceptions",
        "inside",
        "latency 50%",
        "99%",
        "since the first 50%",
        "99%",
    ]);
    let time = |ns: Option<u64>| ns.map_or_else(|| "-".into(), |ns| show_nanoseconds(ns as f64));
    for router in &report.routers {
        let packets = &router.run.packets;
        let (own, since) = (router.run.latency, router.latency_since_entry);
        table.add_row([
            router.hop.to_string(),
            grouped(packets.offered),
            grouped(packets.sent),
            grouped(packets.dropped_media + packets.dropped_microcode),
            grouped(packets.exceptions),
            packets.unaccounted.to_string(),
            time(own.map(|latency| latency.p50_ns)),
            time(own.map(|latency| latency.p99_ns)),
            time(since.map(|latency| latency.p50_ns)),
            time(since.map(|latency| latency.p99_ns)),
        ]);
    }
    finished(&table)
}
