//! How a chip is run: the source of frames, the steps, and the cycles at which it is inspected.

use std::collections::VecDeque;

use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::core::CoreKind;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop, PortIo};

use super::observed_events::Watcher;
use super::view::{View, view_mid_run};
use super::{Bench, MAX_CYCLES, chip};

/// The source of the frames of a bench, and their outcome.
struct Wire {
    coming: VecDeque<Arrival>,
    told: Vec<String>,
    /// Frames that begin later are not known yet.
    known_to: Cycle,
    /// Cycles after the first bit of a departing frame after which the outside may answer, if it
    /// ever does.
    answers_after: Option<Cycle>,
    /// The cycle at which it may answer one of those that are leaving.
    answer_deadline: Cycle,
}

impl PortIo for Wire {
    fn next_arrival(&mut self) -> Option<Arrival> {
        let next = self.coming.front()?;
        (next.start <= self.known_to).then(|| self.coming.pop_front())?
    }

    fn departing(&mut self, departure: Departure<'_>) {
        if let Some(after) = self.answers_after {
            self.answer_deadline = self.answer_deadline.min(departure.start + after);
        }
    }

    fn answer_deadline(&self) -> Cycle {
        self.answer_deadline
    }

    fn departed(&mut self, departure: Departure<'_>) {
        self.told.push(format!("{departure:?}"));
    }

    fn dropped(&mut self, cycle: Cycle, port: u8, frame: Option<u64>, reason: MediaDrop) {
        let what = format!("frame {frame:?} of port {port} at {cycle}: {reason:?}");
        self.told.push(what);
    }
}

/// How a chip is run: from one horizon to the next, with what happens at each of them.
#[derive(Clone, Debug)]
pub struct Steps {
    pub cycles: Cycle,
    /// The saved state continues in another chip.
    pub saved: bool,
    /// There is also a horizon this many cycles after the first bit of each departing frame.
    pub answered: Option<Cycle>,
    /// The cycles at which it is inspected during the run, ascending.
    pub looks: Vec<Cycle>,
    /// Whether these are pauses, which do not affect the chip; otherwise they are horizons.
    pub pauses: bool,
    /// The watcher is called again after this many cycles, from its next event on.
    pub breath: Option<Cycle>,
}

impl Steps {
    /// From the beginning to the end.
    pub const AT_ONCE: Self = Self {
        cycles: MAX_CYCLES,
        saved: false,
        answered: None,
        looks: Vec::new(),
        pauses: false,
        breath: None,
    };
}

/// Observations of a chip during its run.
pub struct Look {
    pub pause: Cycle,
    /// The cycle before which everything has happened: a microengine that is alone with the chip
    /// continues past a pause.
    pub at: Cycle,
    pub seen: View,
    /// Events seen that happened before the pause.
    pub told: usize,
}

/// A chip at its end, the cause of the end, the outcome of frames, and earlier observations.
pub struct Ended {
    pub chip: Chip,
    pub stop: Stop,
    pub frames: Vec<String>,
    pub looks: Vec<Look>,
}

/// Continues from the saved state in another chip.
fn saved(kind: CoreKind, bench: &Bench, it: &Chip) -> Chip {
    let state = it.save().unwrap();
    let mut other = chip(kind, bench);
    other.restore(&state).unwrap();
    other
}

pub fn ended(kind: CoreKind, bench: &Bench, steps: &Steps, observer: &mut dyn Watcher) -> Ended {
    let mut it = chip(kind, bench);
    let mut wire = Wire {
        coming: bench.frames.clone().into(),
        told: Vec::new(),
        known_to: MAX_CYCLES,
        answers_after: steps.answered,
        answer_deadline: Cycle::MAX,
    };
    let mut now = 0;
    let mut step_ends = steps.cycles;
    let mut to_look = steps.looks.iter().copied().peekable();
    let mut looks = Vec::new();
    loop {
        while to_look.next_if(|at| *at <= now).is_some() {}
        let look = to_look.peek().copied().unwrap_or(Cycle::MAX);
        let mut until = MAX_CYCLES.min(step_ends);
        let mut pause = Cycle::MAX;
        if steps.pauses {
            pause = look;
        } else {
            until = until.min(look);
        }
        if bench.surprised {
            wire.known_to = now;
            let mut later = wire.coming.iter().map(|it| it.start);
            let unknown = later.find(|start| *start > now);
            until = until.min(unknown.unwrap_or(until));
        }
        let stop = loop {
            let next = it.next_event().max(it.now());
            let breath = steps
                .breath
                .map_or(Cycle::MAX, |it| next.saturating_add(it));
            let stop = it.run_for(until, pause, breath, &mut wire, observer.as_observer());
            if stop.is_some() || it.next_event() >= pause {
                break stop;
            }
        };
        now = match stop {
            None => pause,
            Some(_) => until.min(wire.answer_deadline),
        };
        let stands = matches!(stop, None | Some(Stop::Reached));
        if stands && now == look {
            let mut seen = view_mid_run(&it);
            seen.push(("frames".to_owned(), format!("{:?}", wire.told)));
            if steps.saved {
                let other = saved(kind, bench, &it);
                assert_eq!(view_mid_run(&other)[..], seen[..seen.len() - 1]);
            }
            looks.push(Look {
                pause: now,
                at: match stop {
                    None => now.max(it.now() + 1),
                    Some(_) => now,
                },
                seen,
                told: observer.events_before(now),
            });
        }
        // A frame may wake what is idle now.
        let goes_on = match &stop {
            None => true,
            Some(Stop::Reached) => now < MAX_CYCLES,
            Some(Stop::Quiet) => !wire.coming.is_empty(),
            Some(Stop::Fault(_)) => false,
        };
        if let Some(stop) = stop.filter(|_| !goes_on) {
            return Ended {
                chip: it,
                stop,
                frames: wire.told,
                looks,
            };
        }
        wire.answer_deadline = Cycle::MAX;
        if now == step_ends {
            step_ends += steps.cycles;
        }
        if steps.saved {
            it = saved(kind, bench, &it);
        }
    }
}
