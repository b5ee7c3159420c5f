//! Stages in which packets pile up.
//!
//! When all packet buffers are in use, frames wait in front of the receiving stage,
//! whichever stage holds the buffers. Between stages packets wait on rings, whose fill is
//! observed. Inside a stage they wait in its own memory, where nothing counts them; their
//! number is the difference between the packets that entered and those that left. A stage
//! holding more packets than it has contexts keeps the others waiting.

use npsim_isa::CONTEXTS;
use std::collections::BTreeSet;

use npsim_observe::flow::{WorkDirection, WorkEndpoint};
use npsim_observe::series::{OccupancyProbe, ProbeKind};

use super::observed::Observed;
use super::window::AnalysisWindow;

/// A stage that holds packets back while all buffers are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Backlog {
    /// Index of the stage.
    pub stage: usize,
    /// Packets in it.
    pub packets: u64,
    /// Packet buffers, all in use.
    pub buffers: u64,
}

/// Returns the stage with the largest backlog, if it is why there are no free buffers.
pub(super) fn find(observed: &Observed<'_>, window: &AnalysisWindow) -> Option<Backlog> {
    let buffers = exhausted_buffers(observed.series.places(), window)?;
    let stages = 0..observed.stages.len();
    let held = stages.filter_map(|stage| {
        let packets = packets_inside(observed, window, stage)?;
        let contexts = observed.stages[stage].microengines.len() as u64 * u64::from(CONTEXTS);
        (packets > contexts).then_some(Backlog {
            stage,
            packets,
            buffers,
        })
    });
    held.max_by_key(|held| held.packets)
}

/// The number of packet buffers, if all were in use most of the time.
pub(super) fn exhausted_buffers(places: &[OccupancyProbe], window: &AnalysisWindow) -> Option<u64> {
    let mut pools = places.iter().zip(&window.fills);
    pools.find_map(|(place, fill)| {
        let pool = matches!(place.kind, ProbeKind::Buffers { .. });
        (pool && fill.samples > 0 && fill.full * 2 >= fill.samples).then_some(place.capacity?)
    })
}

/// Packets inside a stage at the end of the window: those that entered by rings and queues
/// and neither left by one nor had their buffers freed. `None` if the stage takes packets
/// in from elsewhere.
fn packets_inside(observed: &Observed<'_>, window: &AnalysisWindow, stage: usize) -> Option<u64> {
    let microengines = &observed.stages[stage].microengines;
    let takes: BTreeSet<WorkEndpoint> = { microengines.iter() }
        .flat_map(|&me| observed.flow.ends(me, WorkDirection::Takes))
        .map(|(end, _)| end)
        .filter(|end| !is_pool(observed, *end))
        .collect();
    if takes.is_empty() || takes.contains(&WorkEndpoint::Receive) {
        return None;
    }
    let (mut came, mut went, mut transmits) = (0u64, 0u64, false);
    for (me, end, count) in observed.flow.puts_before(window.after.cycle) {
        let mine = microengines.contains(&me);
        if takes.contains(&end) {
            came += count;
        } else if mine && matches!(end, WorkEndpoint::Ring(_) | WorkEndpoint::Queue(..)) {
            went += count;
        }
        transmits |= mine && end == WorkEndpoint::Transmit;
    }
    // A packet that left by a port is in no stage, even if its buffer was not returned.
    if transmits {
        went = went.max(window.after.frames().1);
    }
    let places = observed.series.places().iter().zip(&window.fills);
    let waiting = places
        .filter(|(place, _)| takes.iter().any(|end| end.is_counted_by(place)))
        .map(|(_, fill)| fill.most)
        .sum();
    Some(came.saturating_sub(went).saturating_sub(waiting))
}

/// Whether a place supplies free packet buffers.
fn is_pool(observed: &Observed<'_>, end: WorkEndpoint) -> bool {
    let mut places = observed.series.places().iter();
    places.any(|place| {
        let ProbeKind::Buffers { channel, entry } = place.kind else {
            return false;
        };
        end == WorkEndpoint::Queue(channel, entry)
    })
}
