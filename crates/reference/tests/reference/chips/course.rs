//! How a chip is run: where the frames come from, in which steps, and where it is looked at.

use std::collections::VecDeque;

use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::core::CoreKind;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop, PortIo};

use super::told::Watcher;
use super::view::{View, view_on_the_way};
use super::{Bench, MOST_CYCLES, chip};

/// The source of the frames of a bench, and their fate.
struct Wire {
    coming: VecDeque<Arrival>,
    told: Vec<String>,
    /// Frames that begin later are not known yet.
    known_to: Cycle,
    /// Cycles after the first bit of a frame that leaves after which the outside may answer, if
    /// it ever does.
    answers_after: Option<Cycle>,
    /// When it may answer to one of those that are leaving.
    latest: Cycle,
}

impl PortIo for Wire {
    fn next_arrival(&mut self) -> Option<Arrival> {
        let next = self.coming.front()?;
        (next.start <= self.known_to).then(|| self.coming.pop_front())?
    }

    fn departing(&mut self, departure: Departure<'_>) {
        if let Some(after) = self.answers_after {
            self.latest = self.latest.min(departure.start + after);
        }
    }

    fn latest(&self) -> Cycle {
        self.latest
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
    /// What was saved goes on in another chip.
    pub saved: bool,
    /// There is a horizon so many cycles after the first bit of each frame that leaves, too.
    pub answered: Option<Cycle>,
    /// Where it is looked at on the way, ascending.
    pub looks: Vec<Cycle>,
    /// Whether these are pauses, of which the chip knows nothing; else they are horizons.
    pub pauses: bool,
    /// The watcher comes back after this many cycles from its next event on.
    pub breath: Option<Cycle>,
}

impl Steps {
    /// From the beginning to the end.
    pub const AT_ONCE: Self = Self {
        cycles: MOST_CYCLES,
        saved: false,
        answered: None,
        looks: Vec::new(),
        pauses: false,
        breath: None,
    };
}

/// What was seen of a chip on its way.
pub struct Look {
    pub pause: Cycle,
    /// Before which cycle all has happened: a microengine that is alone with the chip goes on
    /// beyond a pause.
    pub at: Cycle,
    pub seen: View,
    /// Events seen that happened before the pause.
    pub told: usize,
}

/// A chip at its end, the cause of the end, the fate of frames, and earlier observations.
pub struct Ended {
    pub chip: Chip,
    pub stop: Stop,
    pub frames: Vec<String>,
    pub looks: Vec<Look>,
}

/// Goes on with what is saved in another chip.
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
        known_to: MOST_CYCLES,
        answers_after: steps.answered,
        latest: Cycle::MAX,
    };
    let mut now = 0;
    let mut step_ends = steps.cycles;
    let mut to_look = steps.looks.iter().copied().peekable();
    let mut looks = Vec::new();
    loop {
        while to_look.next_if(|at| *at <= now).is_some() {}
        let look = to_look.peek().copied().unwrap_or(Cycle::MAX);
        let mut until = MOST_CYCLES.min(step_ends);
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
            let stop = it.run_for(until, pause, breath, &mut wire, observer.seeing());
            if stop.is_some() || it.next_event() >= pause {
                break stop;
            }
        };
        now = match stop {
            None => pause,
            Some(_) => until.min(wire.latest),
        };
        let stands = matches!(stop, None | Some(Stop::Reached));
        if stands && now == look {
            let mut seen = view_on_the_way(&it);
            seen.push(("frames".to_owned(), format!("{:?}", wire.told)));
            if steps.saved {
                let other = saved(kind, bench, &it);
                assert_eq!(view_on_the_way(&other)[..], seen[..seen.len() - 1]);
            }
            looks.push(Look {
                pause: now,
                at: match stop {
                    None => now.max(it.now() + 1),
                    Some(_) => now,
                },
                seen,
                told: observer.told_before(now),
            });
        }
        // What is quiet now may be woken by a frame.
        let goes_on = match &stop {
            None => true,
            Some(Stop::Reached) => now < MOST_CYCLES,
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
        wire.latest = Cycle::MAX;
        if now == step_ends {
            step_ends += steps.cycles;
        }
        if steps.saved {
            it = saved(kind, bench, &it);
        }
    }
}
