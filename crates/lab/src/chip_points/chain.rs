//! Runs a point on one chip or on a chain of routers. Frames are counted where they
//! enter the first router and leave the last one; losses are counted at all of them.

use std::ops::ControlFlow;
use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_inspect::stats::Stats;
use npsim_observe::set::ObserverConfig;
use npsim_observe::timeline::TimeWindow;
use npsim_project::problem::Problem;
use npsim_session::links::{Frames, Traffic};
use npsim_session::session::{Endpoints, Node, NodeCounts, Plan, Session};
use npsim_session::simulation::{Ending, RunSettings};

use super::ChipPoint;
use crate::observation::{LossCounts, microcode_losses};
use crate::ran::{FinishedRun, FrameJournal};
use crate::subject::Execution;

/// Runs the routers of a point on the permitted number of threads, and records their
/// counts at each of the `pauses`. With several routers, only the last one is exactly
/// at the pause.
///
/// # Errors
/// Returns an error if the programs do not fit the chip or the set-up contradicts
/// itself.
pub(super) fn run(
    point: &ChipPoint,
    settings: RunSettings,
    frames: Frames,
    watch: &FrameJournal,
    pauses: &[Cycle],
    execution: &Execution<'_>,
) -> Result<FinishedRun, Problem> {
    // Routers of a chain run in parallel: the progress of the furthest one stands for
    // all.
    let hops = point.hops as Cycle;
    let files = &execution.files;
    let plan = Plan {
        project: Arc::clone(&point.project),
        programs: Arc::clone(&point.programs),
        settings,
        mark: pauses.is_empty().then_some(point.window.warm_up),
        nodes: point.hops,
        threads: execution.threads,
    };
    let ends = Endpoints {
        frames: Some(frames),
        entry: Some(Box::new(watch.clone())),
        exit: Some(Box::new(watch.clone())),
        ..Endpoints::default()
    };
    let mut session = Session::new(&plan, ends)?;
    // Files describe one chip.
    let wanted = if point.hops == 1 {
        files.wanted(TimeWindow::from_cycle(point.window.warm_up))?
    } else {
        ObserverConfig::default()
    };
    let observers = session.nodes().iter();
    let mut observers = observers
        .map(|node| wanted.open(&point.project, node.chip()))
        .collect::<Result<Vec<_>, _>>()?;
    let at_end = |node: &Node| node.counts();
    let mut at_pauses = Vec::with_capacity(pauses.len());
    for &pause in pauses.iter().chain(&[Cycle::MAX]) {
        let ended = session.run_to(pause, &mut observers, &mut |cycle| {
            if (execution.proceed)(cycle.saturating_mul(hops)) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        if ended.is_some() || pause == Cycle::MAX {
            break;
        }
        at_pauses.push(counts(session.nodes(), at_end));
    }
    session
        .finish()
        .map_err(|error| Problem::new(error.to_string()))?;
    let ending = ending(&session);
    let nodes = session.nodes();
    if ending != Ending::Interrupted
        && let ([node], Some(observers)) = (nodes, observers.pop())
    {
        files.write(observers.finish(node.chip()))?;
    }
    let last_frame = |node: &Node| node.traffic().last_departure.max(node.arrivals_end());
    let at_mark = |node: &Node| node.mark().cloned().unwrap_or_else(|| node.counts());
    Ok(FinishedRun {
        ending,
        before: counts(nodes, at_mark),
        at_pauses,
        after: counts(nodes, at_end),
        rest: nodes.iter().map(last_frame).max().unwrap_or(0),
    })
}

/// The most severe ending; a fault names the router that it stopped if there are
/// several.
fn ending(session: &Session) -> Ending {
    match session.ending() {
        Some((at, Ending::Fault(fault))) if session.nodes().len() > 1 => {
            let mut fault = fault.clone();
            fault.message = format!("router {}: {}", at + 1, fault.message);
            Ending::Fault(fault)
        }
        Some((_, ending)) => ending.clone(),
        None => Ending::NoEvents,
    }
}

/// Counts of the last chip, and losses of all chips.
fn counts(nodes: &[Node], at: impl Fn(&Node) -> NodeCounts) -> (Stats, LossCounts) {
    let mut lost = LossCounts::default();
    let mut last = Stats::default();
    for node in nodes {
        let NodeCounts { stats, traffic } = at(node);
        lost.media += media_losses(&traffic);
        lost.microcode += microcode_losses(&stats);
        last = stats;
    }
    (last, lost)
}

fn media_losses(traffic: &Traffic) -> u64 {
    traffic.drops.values().sum()
}
