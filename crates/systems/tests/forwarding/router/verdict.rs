//! Conditions that must hold when a run of the router has come to rest.

use std::collections::{BTreeMap, BTreeSet};

use npsim_chip::chip::Chip;
use npsim_inspect::stats::Stats;
use npsim_net::load::Stamp;

use super::bench::{Bench, RecordedLines, Sent};
use super::classes::CLASSES;
use crate::oracle::Fate;

/// The number of the first packet, in `router.uc`.
const FIRST_SEQUENCE: u64 = 0x100;

/// Losses before a packet has a number.
const UNNUMBERED: [&str; 4] = [
    "DROP_NO_BUFFER",
    "DROP_PROCESSING_FULL",
    "DROP_TOO_LONG",
    "DROP_RECEIVE_ERROR",
];

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// Drops of the microcode and packets of the slow path, by name.
pub fn losses(chip: &Chip) -> BTreeMap<String, u64> {
    let stats = Stats::collect(chip);
    let drops = stats.counters.iter().filter(|c| c.drop);
    let reasons = stats.gpp.reasons.iter();
    drops
        .map(|c| (c.name.clone(), c.value))
        .chain(reasons.map(|r| (r.reason.clone(), r.frames)))
        .filter(|(_, frames)| *frames > 0)
        .collect()
}

/// Frames that are accounted for.
pub fn accounted(chip: &Chip, lines: &RecordedLines) -> u64 {
    let counted: u64 = losses(chip).values().sum();
    (lines.departures.len() + lines.drops.len()) as u64 + counted
}

/// Everything below. `down` are the ports that were down at any time.
pub fn check_at_rest(
    bench: &Bench,
    chip: &Chip,
    lines: &RecordedLines,
    down: &[usize],
) -> Result<(), String> {
    check_frames(bench, lines)?;
    check_order(bench, lines, &lines.departures)?;
    check_losses(bench, chip, lines, down)?;
    check_nothing_left(bench, chip)?;
    check_counters(bench, chip, lines)
}

/// Every frame that left is one that arrived, once, with the right contents, by the right port.
/// Bytes 6 and 7 of the frame hold its delay.
fn check_frames(bench: &Bench, lines: &RecordedLines) -> Result<(), String> {
    let mut gone = BTreeSet::new();
    for sent in &lines.departures {
        let Some(frame) = sent.frame else {
            return Err(format!("{sent:?} came from no frame"));
        };
        ensure(gone.insert(frame), || format!("frame {frame} left twice"))?;
        let arrival = &lines.arrivals[frame as usize];
        let Fate::Forwarded(port, mut expected) = bench.router.fate(&arrival.bytes) else {
            return Err(format!("frame {frame} left and must not"));
        };
        let delay = u16::from_be_bytes([sent.bytes[6], sent.bytes[7]]);
        expected[6..8].copy_from_slice(&delay.to_be_bytes());
        ensure(
            port == usize::from(sent.port) && expected == sent.bytes,
            || format!("frame {frame} left as {sent:?}"),
        )?;
        ensure(sent.start > arrival.start, || {
            format!("frame {frame} left before it came")
        })?;
        let inside = (sent.end - arrival.start) / 16;
        ensure(
            inside > 0xffff || (delay > 0 && u64::from(delay) <= inside),
            || format!("frame {frame} has the delay {delay} after {inside} steps"),
        )?;
    }
    for lost in &lines.drops {
        let Some(frame) = lost.frame else {
            return Err("a frame was lost at the media interface that never came".into());
        };
        ensure(gone.insert(frame), || format!("frame {frame} left twice"))?;
    }
    Ok(())
}

/// Frames of a port and a queue leave in the order of arrival; so do the frames of a flow by their
/// stamps, for each kind and class.
pub fn check_order(
    bench: &Bench,
    lines: &RecordedLines,
    departures: &[Sent],
) -> Result<(), String> {
    let mut last = BTreeMap::new();
    let mut stamps = BTreeMap::new();
    for sent in departures {
        let frame = sent.frame.unwrap_or(0);
        let arrival = &lines.arrivals[frame as usize];
        let class = bench.classes.class(&arrival.bytes);
        if let Some(before) = last.insert((arrival.port, sent.port, class), frame) {
            ensure(before < frame, || {
                format!("frame {before} overtook frame {frame} of class {class}")
            })?;
        }
        if let Some(stamp) = Stamp::read(&sent.bytes)
            && let Some(before) = stamps.insert((stamp.flow, stamp.kind, class), stamp.sequence)
        {
            ensure(before < stamp.sequence, || {
                format!("{before} before {stamp:?}")
            })?;
        }
    }
    Ok(())
}

/// Each loss has the reason that the frame implies, and there is no loss without one.
fn check_losses(
    bench: &Bench,
    chip: &Chip,
    lines: &RecordedLines,
    down: &[usize],
) -> Result<(), String> {
    let losses = losses(chip);
    let accounted = accounted(chip, lines);
    ensure(accounted == lines.arrivals.len() as u64, || {
        let (came, sent) = (lines.arrivals.len(), lines.departures.len());
        format!("{came} came, {sent} left, {accounted} accounted for: {losses:?}")
    })?;
    let of = |name: &str| losses.get(name).copied().unwrap_or(0);

    // Frames that did not leave, by their expected outcome.
    let left: BTreeSet<_> = lines.departures.iter().map(|sent| sent.frame).collect();
    let lost: BTreeSet<_> = lines.drops.iter().map(|lost| lost.frame).collect();
    let (mut drops, mut exceptions) = (BTreeMap::new(), BTreeMap::new());
    let (mut forwardable, mut to_down) = (0, 0);
    for arrival in &lines.arrivals {
        let frame = Some(arrival.frame);
        if left.contains(&frame) || lost.contains(&frame) {
            continue;
        }
        match bench.router.fate(&arrival.bytes) {
            Fate::Forwarded(port, _) => {
                forwardable += 1;
                to_down += u64::from(down.contains(&port));
            }
            Fate::Dropped(name) => *drops.entry(name.to_owned()).or_insert(0u64) += 1,
            Fate::Exception(name) => *exceptions.entry(name.to_owned()).or_insert(0u64) += 1,
        }
    }

    let early = UNNUMBERED.iter().map(|name| of(name)).sum::<u64>();
    let due: u64 = exceptions.values().sum();
    for (name, &frames) in &losses {
        let most = match name.as_str() {
            "DROP_QUEUE" => forwardable,
            "DROP_PORT_DOWN" => to_down,
            "DROP_SLOW_PATH_FULL" => due,
            "DROP_NO_BUFFER" | "DROP_PROCESSING_FULL" => u64::MAX,
            name => drops
                .get(name)
                .or(exceptions.get(name))
                .copied()
                .unwrap_or(0),
        };
        ensure(frames <= most, || {
            format!("{frames} of {name}, and {most} gave reason for it")
        })?;
    }
    if early == 0 {
        for (name, &frames) in &drops {
            let counted = of(name);
            ensure(frames == counted, || {
                format!("{name}: {counted} counted, {frames} came")
            })?;
        }
        let slow: u64 = exceptions.keys().map(|name| of(name)).sum();
        ensure(slow + of("DROP_SLOW_PATH_FULL") == due, || {
            format!("{due} exceptions came, {losses:?}")
        })?;
        ensure(
            forwardable == of("DROP_QUEUE") + of("DROP_PORT_DOWN"),
            || format!("{forwardable} did not leave, {losses:?}"),
        )?;
    }
    Ok(())
}

/// All buffers are on the free list or spare in a receiving context, each once;
/// no element is in use; rings and queues are empty.
fn check_nothing_left(bench: &Bench, chip: &Chip) -> Result<(), String> {
    let buffers = bench.project.boot.buffers.as_ref().unwrap();
    let mut emptied = chip.clone();
    let queue = (buffers.channel, buffers.entry);
    let queued = emptied
        .units()
        .sram
        .entry(queue.0, queue.1)
        .unwrap()
        .count();
    let mut free: Vec<u32> = (0..queued)
        .map(|_| emptied.units_mut().sram.dequeue(queue.0, queue.1).unwrap())
        .collect();
    let receive = &chip.microengines()[0];
    let registers = &receive.program().image().registers;
    let spare = registers.iter().find(|r| r.name == "spare").unwrap();
    let spares = (0..8).map(|context| receive.read_register(spare.operand, context));
    free.extend(spares.filter(|handle| *handle != 0));
    free.sort_unstable();
    let all: Vec<u32> = (0..buffers.count).map(|n| buffers.descriptor(n)).collect();
    ensure(free == all, || {
        let count = buffers.count;
        format!("{queued} of {count} buffers are free, the others not all spare")
    })?;

    let stats = Stats::collect(chip);
    for port in &stats.ports {
        ensure((port.waiting_frames, port.sending_frames) == (0, 0), || {
            format!("frames wait at port {}", port.port)
        })?;
    }
    let leaks = chip.units().msf.leaks();
    ensure(leaks.is_empty(), || format!("{leaks:?}"))?;
    let fresh = Stats::collect(&bench.chip()).media.rbuf_free;
    ensure(
        stats.media.rbuf_free == fresh && stats.media.rbuf_handed == stats.media.rbuf_freed,
        || format!("{} of {fresh} RBUF elements free", stats.media.rbuf_free),
    )?;
    ensure(stats.media.tbuf_valid == 0, || "TBUF is not empty".into())?;
    for ring in 0..16 {
        let count = chip.units().scratch.ring(ring).count();
        ensure(count == 0, || format!("{count} longwords on ring {ring}"))?;
    }
    for (me, ring) in chip.fabric().nn_rings.iter().enumerate() {
        ensure(ring.put == ring.get, || {
            format!("the next-neighbour ring of microengine {me} is not empty")
        })?;
    }
    Ok(())
}

/// Counters of ports and queues agree with the arrivals and departures.
pub fn check_counters(bench: &Bench, chip: &Chip, lines: &RecordedLines) -> Result<(), String> {
    let losses = losses(chip);
    let of = |name: &str| losses.get(name).copied().unwrap_or(0);
    let same = |what: String, counted: u64, happened: u64| {
        ensure(counted == happened, || {
            format!("{what}: {counted} counted, {happened} happened")
        })
    };
    let mut received = 0;
    let (mut into, mut dropped) = (0, 0);
    for port in 0..bench.ports() {
        let sent = || {
            let departures = lines.departures.iter();
            departures.filter(|sent| usize::from(sent.port) == port)
        };
        let bytes = sent().map(|sent| sent.bytes.len() as u64).sum();
        let counter = |at: usize| bench.counter64(chip, "PORT_COUNTERS", port * 32 + at);
        received += counter(0);
        same(
            format!("out of port {port}"),
            counter(16),
            sent().count() as u64,
        )?;
        same(format!("bytes out of port {port}"), counter(24), bytes)?;

        for class in 0..CLASSES {
            let queue = port * CLASSES + class;
            let of_class = || {
                sent().filter(|sent| {
                    let frame = sent.frame.unwrap_or(0) as usize;
                    bench.classes.class(&lines.arrivals[frame].bytes) == class
                })
            };
            let bytes = of_class().map(|sent| sent.bytes.len() as u64).sum();
            let counter = |at: usize| bench.counter64(chip, "QUEUE_COUNTERS", queue * 64 + at);
            for (at, what) in [(0, "into"), (16, "out of")] {
                same(
                    format!("{what} queue {queue}"),
                    counter(at),
                    of_class().count() as u64,
                )?;
                same(
                    format!("bytes {what} queue {queue}"),
                    counter(at + 8),
                    bytes,
                )?;
            }
            into += counter(0);
            dropped += bench.counter32(chip, "QUEUE_COUNTERS", queue * 64 + 32);
        }
    }
    let early: u64 = UNNUMBERED.iter().map(|name| of(name)).sum();
    let numbered = (lines.arrivals.len() - lines.drops.len()) as u64 - early;
    same("received".into(), received, numbered)?;
    same("dropped by queue".into(), dropped, of("DROP_QUEUE"))?;
    let forwarded = bench.counter32(chip, "IP_COUNTERS", 4);
    same("forwarded".into(), forwarded, into + dropped)?;
    let next = chip.units().scratch.read(bench.value("NEXT_SLOT")).unwrap();
    same(
        "numbers given".into(),
        u64::from(next),
        (FIRST_SEQUENCE + numbered) & 0xffff,
    )
}
