//! Loads of the stages, and the places between them.

use npsim_chip::kernel::row::permille;
use npsim_observe::flow::WorkDirection;
use npsim_observe::series::{ProbeKind, Sample};

use super::observed::{Observed, Stage};
use super::window::AnalysisWindow;

/// Occupation in thousandths at which a microengine is at its limit: the rest is lost
/// in waking contexts.
pub(super) const OCCUPIED: u64 = 900;

/// The cycles of a stage, and the places that it takes from and gives to.
#[derive(Clone, Debug, Default)]
pub(super) struct StageLoad {
    /// Cycles of all its microengines, by state.
    pub executing: u64,
    pub aborted: u64,
    pub stalled: u64,
    pub idle: u64,
    /// Indices of the places that it takes from and gives to.
    pub takes: Vec<usize>,
    pub gives: Vec<usize>,
    /// Frames that it handled, if known.
    pub frames: Option<u64>,
}

impl StageLoad {
    fn all(&self) -> u64 {
        self.executing + self.aborted + self.stalled + self.idle
    }

    pub fn share(&self, cycles: u64) -> u64 {
        permille(cycles, self.all())
    }

    /// Cycles in which it was not idle.
    pub fn occupied(&self) -> u64 {
        self.executing + self.aborted + self.stalled
    }
}

/// The loads of all stages, in order.
pub(super) fn stage_loads(observed: &Observed<'_>, window: &AnalysisWindow) -> Vec<StageLoad> {
    let places = observed.series.places();
    let seen = |stage: &Stage, direction| -> Vec<usize> {
        let ends: Vec<_> = stage
            .microengines
            .iter()
            .flat_map(|&me| observed.flow.ends(me, direction))
            .map(|(end, _)| end)
            .collect();
        let mut found = Vec::new();
        for (index, place) in places.iter().enumerate() {
            if ends.iter().any(|end| end.is_counted_by(place)) {
                found.push(index);
            }
        }
        found
    };
    let one = |stage: &Stage| {
        let mut load = StageLoad {
            takes: seen(stage, WorkDirection::Takes),
            gives: seen(stage, WorkDirection::Puts),
            ..StageLoad::default()
        };
        for &me in &stage.microengines {
            let of = |sample: &Sample| sample.stats.microengines.get(usize::from(me)).cloned();
            if let (Some(a), Some(b)) = (of(&window.before), of(&window.after)) {
                load.executing += b.executing - a.executing;
                load.aborted += b.aborted - a.aborted;
                load.stalled += b.stalled - a.stalled;
                load.idle += b.idle - a.idle;
            }
        }
        let kind = |index: &usize| places[*index].kind;
        load.frames = if load.takes.iter().any(|i| kind(i) == ProbeKind::Rbuf) {
            Some(window.delivered())
        } else if load.gives.iter().any(|i| kind(i) == ProbeKind::Tbuf) {
            Some(window.sent())
        } else {
            None
        };
        load
    };
    let mut loads: Vec<StageLoad> = observed.stages.iter().map(one).collect();
    infer_frames_behind_receive(observed, window, &mut loads);
    loads
}

/// Determines the frames that reach stages fed by a ring from the receive stage: all
/// that the receive stage takes in, minus those that find no room in the ring.
fn infer_frames_behind_receive(
    observed: &Observed<'_>,
    window: &AnalysisWindow,
    loads: &mut [StageLoad],
) {
    let places = observed.series.places();
    let ring = |&place: &usize| matches!(places[place].kind, ProbeKind::Ring { .. });
    for index in 0..loads.len() {
        let load = &loads[index];
        let takes: Vec<_> = load.takes.iter().copied().filter(ring).collect();
        let &[place] = takes.as_slice() else {
            continue;
        };
        let mut givers = loads.iter().filter(|other| other.gives.contains(&place));
        let (Some(giver), None) = (givers.next(), givers.next()) else {
            continue;
        };
        let first = giver
            .takes
            .iter()
            .any(|&p| places[p].kind == ProbeKind::Rbuf);
        if load.frames.is_none() && first {
            let lost = window.lost_at(observed.series, place);
            loads[index].frames = Some(window.delivered().saturating_sub(lost));
        }
    }
}

/// Whether work piles up in a place: it was full in half of the samples, or frames
/// found no room.
pub(super) fn is_congested(observed: &Observed<'_>, window: &AnalysisWindow, place: usize) -> bool {
    let fill = window.fills[place];
    let kind = observed.series.places()[place].kind;
    // Bytes of a frame may still be on the line; only frames that found no room count.
    let line = matches!(kind, ProbeKind::ReceiveFifo { .. });
    (!line && fill.samples > 0 && fill.full * 2 >= fill.samples)
        || window.lost_at(observed.series, place) > 0
}
