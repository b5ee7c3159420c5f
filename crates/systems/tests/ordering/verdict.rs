//! Conditions that must hold when a run has come to rest.

use std::collections::BTreeMap;

use npsim::simulation::{Ending, Simulation};
use npsim_chip::chip::Chip;
use npsim_inspect::stats::Stats;
use npsim_net::order::{OrderMeasures, THRESHOLD};

use crate::bench::Bench;
use crate::watcher::Watcher;

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Packets that arrived, and those that left.
    pub came: u64,
    pub left: u64,
    /// The order of all flows.
    pub order: OrderMeasures,
    /// A packet left after a later one of its flow.
    pub reordered: Option<String>,
    /// A packet left after a later one of any flow.
    pub overtaken: Option<String>,
    /// A frame left that must not leave, or not in this form.
    pub wrong: Option<String>,
    /// A frame is lost without being counted, something is left inside, or the run does not end
    /// properly.
    pub unaccounted: Option<String>,
}

impl Verdict {
    pub fn of(bench: &Bench, simulation: &Simulation, ending: &Ending, watcher: Watcher) -> Self {
        let order = watcher.order.total(THRESHOLD);
        let reordered = watcher.reordered.clone();
        // Both counts agree.
        assert_eq!(order.is_in_order(), reordered.is_none(), "{order:?}");
        let unaccounted = check_ending(ending)
            .and_then(|()| check_conservation(bench, simulation.chip(), &watcher))
            .and_then(|()| check_nothing_left(bench, simulation.chip()))
            .err();
        Self {
            came: watcher.came,
            left: watcher.left,
            order,
            reordered,
            overtaken: watcher.overtaken,
            wrong: watcher.wrong,
            unaccounted,
        }
    }

    /// The error, if any, other than in the order.
    pub fn loss(&self) -> Option<&String> {
        self.wrong.as_ref().or(self.unaccounted.as_ref())
    }

    /// The error, if any.
    pub fn first_error(&self) -> Option<&String> {
        self.reordered.as_ref().or(self.loss())
    }
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn check_ending(ending: &Ending) -> Result<(), String> {
    match ending {
        Ending::Drained | Ending::NoEvents => Ok(()),
        Ending::Reached => Err("it does not come to rest".into()),
        Ending::Fault(fault) => Err(fault.message.clone()),
        other => Err(format!("{other:?}")),
    }
}

/// Drop counters of the microcode that are not 0.
pub fn drops(chip: &Chip) -> BTreeMap<String, u64> {
    let counters = Stats::collect(chip).counters.into_iter();
    let drops = counters.filter(|counter| counter.drop && counter.value > 0);
    drops.map(|counter| (counter.name, counter.value)).collect()
}

/// Frames that did not leave were counted under the right name.
fn check_conservation(bench: &Bench, chip: &Chip, watcher: &Watcher) -> Result<(), String> {
    let counted = drops(chip);
    let all: u64 = counted.values().sum();
    let (came, left, lost) = (watcher.came, watcher.left, watcher.lost);
    ensure(came == left + lost + all, || {
        format!("{came} came, {left} left, {lost} are lost at the media interface, {counted:?}")
    })?;
    let mut due = BTreeMap::new();
    for (frame, bytes) in &watcher.inside {
        match bench.routes().fate(bytes) {
            Err(counter) => *due.entry(counter.to_owned()).or_insert(0) += 1,
            Ok(_) => return Err(format!("frame {frame} did not leave: {counted:?}")),
        }
    }
    ensure(due == counted, || {
        format!("{counted:?} were counted, {due:?} came")
    })?;
    let missing = watcher.order.total(THRESHOLD).duplicates;
    ensure(missing == 0, || format!("{missing} packets left twice"))
}

/// Elements, rings and queues are empty, and all buffers free, each once.
fn check_nothing_left(bench: &Bench, chip: &Chip) -> Result<(), String> {
    let leaks = chip.units().msf.leaks();
    ensure(leaks.is_empty(), || format!("{leaks:?}"))?;
    let stats = Stats::collect(chip);
    let media = &stats.media;
    let fresh = bench.simulation(0).stats().media.rbuf_free;
    ensure(
        media.rbuf_free == fresh && media.rbuf_handed == media.rbuf_freed,
        || format!("{} of {fresh} RBUF elements are free", media.rbuf_free),
    )?;
    ensure(media.tbuf_valid == 0, || {
        format!("{} TBUF elements are not sent", media.tbuf_valid)
    })?;
    for port in &stats.ports {
        ensure((port.waiting_frames, port.sending_frames) == (0, 0), || {
            format!("frames wait at port {}", port.port)
        })?;
    }
    for ring in 0..16 {
        let count = chip.units().scratch.ring(ring).count();
        ensure(count == 0, || format!("{count} longwords on ring {ring}"))?;
    }
    let Some(buffers) = &bench.project.boot.buffers else {
        return Ok(());
    };
    let mut emptied = chip.clone();
    let queued = emptied
        .units()
        .sram
        .entry(buffers.channel, buffers.entry)
        .unwrap()
        .count();
    let take = |_| {
        emptied
            .units_mut()
            .sram
            .dequeue(buffers.channel, buffers.entry)
            .unwrap()
    };
    let mut free: Vec<u32> = (0..queued).map(take).collect();
    free.sort_unstable();
    free.dedup();
    let all: Vec<u32> = (0..buffers.count).map(|n| buffers.descriptor(n)).collect();
    // Each receiving context holds one for the next packet.
    let spare = bench.receiving_contexts();
    let known = free.iter().all(|buffer| all.contains(buffer));
    ensure(known && free.len() + spare == all.len(), || {
        let (free, all) = (free.len(), all.len());
        format!("{queued} buffers are free, {free} different ones, {spare} are spare, of {all}")
    })
}
