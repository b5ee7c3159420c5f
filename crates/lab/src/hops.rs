//! A point that runs on a chain of routers: frames are counted where they come
//! into the first one and where they leave the last one, losses at all of them.

use std::sync::atomic::AtomicBool;

use npsim_chip::stats::Stats;
use npsim_project::problem::Problem;
use npsim_session::chain::report::worst;
use npsim_session::chain::{Chain, Counts, Ends, Hop, MOST_HOPS, Plan};
use npsim_session::links::{Frames, Traffic};
use npsim_session::simulation::{Ending, Settings};

use crate::execute::{Journal, Ran};
use crate::observation::{Lost, microcode_losses};
use crate::prepare::Ready;

/// How many routers a text asks for.
///
/// # Errors
/// It is no number of routers, in words.
pub fn parse(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(hops) if (1..=MOST_HOPS).contains(&hops) => Ok(hops),
        _ => Err(format!(
            "`{text}` is no number of routers; `hops` is a whole number from 1 to {MOST_HOPS}"
        )),
    }
}

/// Runs the routers of a point, so many at a time.
///
/// # Errors
/// The programs do not fit the chip, or the set-up contradicts itself.
pub(crate) fn run(
    ready: &Ready,
    settings: Settings,
    frames: Frames<'_>,
    watch: &Journal,
    threads: usize,
    stop: &AtomicBool,
) -> Result<Ran, Problem> {
    let chain = Chain::new(&Plan {
        project: &ready.project,
        programs: &ready.programs,
        settings,
        mark: Some(ready.window.warm_up),
        hops: ready.hops,
        threads,
    })?;
    let ends = Ends {
        frames,
        origin_ns: 0,
        sink: None,
        entry: Some(Box::new(watch.clone())),
        exit: Some(Box::new(watch.clone())),
    };
    let hops = chain.run(ends, stop, &mut |_| {}).map_err(|error| {
        Problem::new(error.to_string()).help("run fewer points at a time, or fewer routers")
    })?;
    let last_frame = |hop: &Hop| hop.counts.traffic.last_departure.max(hop.arrivals_end);
    Ok(Ran {
        ending: ending(&hops),
        before: counts(&hops, |hop| hop.mark.as_ref().unwrap_or(&hop.counts)),
        after: counts(&hops, |hop| &hop.counts),
        rest: hops.iter().map(last_frame).max().unwrap_or(0),
    })
}

/// The worst ending; a fault says which router it stopped.
fn ending(hops: &[Hop]) -> Ending {
    match worst(hops) {
        Some((hop, Ending::Fault(fault))) => {
            let mut fault = fault.clone();
            fault.message = format!("router {hop}: {}", fault.message);
            Ending::Fault(fault)
        }
        Some((_, ending)) => ending.clone(),
        None => Ending::Quiet,
    }
}

/// What the last chip counted, and what all of them lost.
fn counts(hops: &[Hop], at: impl Fn(&Hop) -> &Counts) -> (Stats, Lost) {
    let mut lost = Lost::default();
    for hop in hops {
        let Counts { stats, traffic } = at(hop);
        lost.media += media_losses(traffic);
        lost.microcode += microcode_losses(stats);
    }
    let last = hops.last().map(|hop| at(hop).stats.clone());
    (last.unwrap_or_default(), lost)
}

fn media_losses(traffic: &Traffic) -> u64 {
    traffic.drops.values().sum()
}
