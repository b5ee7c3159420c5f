//! Going to a cycle is equivalent to running to it.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent, TraceEventKind};
use npsim_chip::watch::Sampler;
use npsim_debug::BudgetTooSmall;
use npsim_debug::search::{Candidate, CodePoint, Condition, Direction, SearchResult};
use npsim_debug::timeline::{NoDebug, Setup, TimePoint, Timeline};
use npsim_net::Random;

use crate::rig::{System, state};

const PLENTY: usize = 512 << 20;

/// Instructions at some addresses of a microengine; `judged` ones only if the context's number is
/// odd, which requires inspecting the chip.
struct At {
    me: u8,
    pcs: [u16; 2],
    judged: bool,
}

impl Condition for At {
    fn wants(&self) -> EventKinds {
        EventKinds::of(&[TraceEventKind::Issued])
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent, candidates: &mut Vec<Candidate>) {
        let TraceEvent::Issued {
            me,
            context,
            pc: first,
            count,
        } = *event
        else {
            return;
        };
        for pc in self.pcs {
            if me == self.me && (first..first + count).contains(&pc) {
                candidates.push(Candidate {
                    moment: TimePoint::of(at + u64::from(pc - first), me),
                    mark: 0,
                    place: Some(CodePoint { me, context, pc }),
                });
            }
        }
    }

    fn must_judge(&self, _: &Candidate) -> bool {
        self.judged
    }

    fn judge(&mut self, candidate: &Candidate, chip: Option<&Chip>) -> bool {
        let place = candidate.place.unwrap();
        let Some(chip) = chip else {
            return true;
        };
        let context = chip.microengines()[usize::from(place.me)].context(place.context);
        assert_eq!(context.pc, place.pc, "it is about to execute");
        place.context % 2 == 1
    }
}

/// A longword of scratch or SRAM changes.
struct Changes {
    last: u64,
}

impl Condition for Changes {
    fn examines_chip(&self) -> bool {
        true
    }

    fn look(&mut self, at: Cycle, begins: bool, chip: &Chip, candidates: &mut Vec<Candidate>) {
        let now = chip.microengines()[0].stats_at(at).instructions / 100;
        if !begins && now != self.last {
            candidates.push(Candidate {
                moment: TimePoint::before(at),
                mark: 0,
                place: None,
            });
        }
        self.last = now;
    }
}

fn wander(system: &System, budget: usize, jumps: usize, seed: u64) {
    let mut timeline = system.timeline(budget);
    let mut random = Random::new(seed, 0);
    for _ in 0..jumps {
        match random.below(4) {
            0 | 1 => timeline.goto(random.below(200_000)),
            2 => {
                let near = timeline.moment().cycle.saturating_sub(random.below(50));
                timeline.goto(near);
            }
            _ => {
                let direction = if random.below(2) == 0 {
                    Direction::Forward
                } else {
                    Direction::Back
                };
                let words = system.programs[0].image.words.len() as u64;
                let mut condition = At {
                    me: system.programs[0].me,
                    pcs: [random.below(words) as u16, random.below(words) as u16],
                    judged: random.below(2) == 0,
                };
                let limit = timeline.moment().cycle;
                let limit = match direction {
                    Direction::Forward => TimePoint::before(limit + 30_000),
                    Direction::Back => TimePoint::before(limit.saturating_sub(30_000)),
                };
                timeline.search(direction, &mut condition, Some(limit), &mut |_| false);
            }
        }
        let at = timeline.moment().cycle;
        assert!(
            state(&timeline) == system.at_cycle(at),
            "the state at {at} is another one"
        );
    }
}

#[test]
fn goto_equals_running_to_the_cycle_on_a_wire() {
    wander(&System::wire8(), PLENTY, 40, 1);
}

#[test]
fn goto_equals_running_to_the_cycle_on_a_forwarder() {
    wander(&System::forward(), PLENTY, 25, 2);
}

#[test]
fn goto_equals_running_to_the_cycle_on_a_router() {
    wander(&System::router(), PLENTY, 20, 3);
}

#[test]
fn small_snapshot_budget_gives_the_same_states() {
    let system = System::forward();
    let needed = {
        let small = Setup {
            simulation: system.simulation(),
            frames: NoDebug(system.frames()),
            until: None,
            hertz: system.hertz(),
            budget: 1000,
        };
        let error = Timeline::new(small).unwrap_err();
        assert_eq!(error.budget, 1000);
        assert!(error.to_string().contains("1000 bytes do not hold"));
        let BudgetTooSmall { needed, .. } = error;
        needed
    };
    let mut timeline = system.timeline(needed);
    timeline.goto(200_000);
    let (bytes, snapshots) = timeline.memory();
    assert!(snapshots >= 2, "{snapshots} of {bytes} bytes");
    wander(&system, needed, 8, 4);
}

/// All hits forward, then all hits back.
fn there_and_back(system: &System, condition: &mut dyn Condition, to: Cycle) -> usize {
    let mut timeline = system.timeline(PLENTY);
    let limit = Some(TimePoint::before(to));
    let (mut there, mut back) = (Vec::new(), Vec::new());
    while let SearchResult::Hit(hit) =
        timeline.search(Direction::Forward, condition, limit, &mut |_| false)
    {
        there.push((timeline.moment(), hit));
    }
    assert_eq!(timeline.moment().cycle, to);
    while let SearchResult::Hit(hit) =
        timeline.search(Direction::Back, condition, None, &mut |_| false)
    {
        back.push((timeline.moment(), hit));
    }
    assert_eq!(timeline.moment(), TimePoint::default());
    back.reverse();
    assert_eq!(there, back);
    assert!(there.is_sorted_by(|a, b| a.0 < b.0));
    there.len()
}

#[test]
fn searches_back_and_forward_find_the_same_hits() {
    let system = System::forward();
    for judged in [false, true] {
        let words = system.programs[0].image.words.len() as u16;
        let condition = &mut At {
            me: system.programs[0].me,
            pcs: [words / 2, words / 2 + 1],
            judged,
        };
        let hits = there_and_back(&system, condition, 70_000);
        assert!(hits > 20, "{hits}");
    }
    let hits = there_and_back(&system, &mut Changes { last: 0 }, 21_000);
    assert!(hits > 20, "{hits}");
}

#[test]
fn end_state_is_the_same_on_every_path() {
    let system = System::wire8();
    let mut timeline = system.timeline(PLENTY);
    timeline.goto(Cycle::MAX);
    let end = timeline.end().unwrap().clone();
    assert_eq!(end.cycle, timeline.moment().cycle);
    let last = state(&timeline);
    assert!(last == system.at_cycle(end.cycle));
    timeline.goto(end.cycle / 2);
    assert!(timeline.ending().is_none());
    assert!(state(&timeline) == system.at_cycle(end.cycle / 2));
    timeline.goto(end.cycle + 5);
    assert!(state(&timeline) == last);
    assert_eq!(timeline.ending(), Some(&end.ending));
}

#[test]
fn quiet_time_is_skipped_and_reachable() {
    let mut system = System::of("microcode/forward", None);
    system.settings.until = Some(40_000_000);
    let mut timeline = system.timeline(PLENTY);
    timeline.goto(Cycle::MAX);
    assert_eq!(timeline.moment().cycle, 40_000_000);
    // It contains 2000 stretches.
    let (_, states) = timeline.memory();
    assert!(states < 100, "{states}");
    for cycle in [39_999_999, 77_777, 31_234_567, 20_000_001, 20_000_000] {
        timeline.goto(cycle);
        assert!(state(&timeline) == system.at_cycle(cycle), "{cycle}");
    }
}

#[test]
fn change_alters_the_future_and_not_the_past() {
    let system = System::forward();
    let mut timeline = system.timeline(PLENTY);
    timeline.goto(50_000);
    let before = state(&timeline);
    timeline.goto(90_000);
    let otherwise = state(&timeline);
    timeline.goto(50_000);
    timeline.change(|chip| assert!(chip.units_mut().scratch.write(0x3ff0, 7)));
    assert!(state(&timeline) != before);
    timeline.goto(90_000);
    let changed = state(&timeline);
    assert!(changed != otherwise);
    timeline.goto(30_000);
    assert!(state(&timeline) == system.at_cycle(30_000));
    timeline.goto(90_000);
    assert!(state(&timeline) == changed);
    timeline.goto(50_000);
    assert_eq!(timeline.changes(), [50_000]);
    assert_eq!(timeline.chip().units().scratch.read(0x3ff0), Some(7));
}

/// The actions of contexts.
struct Turns(Vec<(Cycle, TraceEvent)>);

impl Observer for Turns {
    fn wants(&self) -> EventKinds {
        EventKinds::of(&[TraceEventKind::Context])
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.0.push((at, *event));
    }
}

impl Sampler for Turns {}

#[test]
fn replay_is_repeatable_and_changes_nothing() {
    let system = System::forward();
    let mut timeline = system.timeline(PLENTY);
    timeline.goto(75_000);
    timeline.goto(45_000);
    let before = state(&timeline);
    let turns = |from: Cycle| {
        let seen = timeline.replay(from, |_| Turns(Vec::new())).0;
        let within = |it: &(Cycle, TraceEvent)| (30_500..45_000).contains(&it.0);
        seen.into_iter().filter(within).collect::<Vec<_>>()
    };
    let all = turns(0);
    assert!(all.len() > 100, "{}", all.len());
    assert!(turns(30_500) == all);
    assert!(turns(25_000) == all);
    assert!(turns(50_000).is_empty(), "what is to come is not shown");
    assert!(state(&timeline) == before);
}

#[test]
fn debugger_and_timeline_are_send() {
    fn assert_send<T: Send + 'static>() {}
    assert_send::<npsim_debug::Debugger>();
    assert_send::<Timeline>();
}
