//! Quick-Start windows that turn while requests are made: the test acts as the slow path. Each
//! limit that it sets is unique, so the limit that a request found identifies its window.

use std::collections::HashMap;

use npsim_chip::Cycle;
use proptest::prelude::*;

use super::bench::{CONTEXTS, ensure};
use super::grants::{Contest, Ledger, Made, Request, Variant, loaded};
use super::quick_start::mix;
use npsim_testkit::microcode::Edit;

const LATEST: Cycle = 40_000_000;

/// The timing of requests and of window turns, in cycles.
#[derive(Clone, Copy, Debug)]
struct Course {
    microengines: u32,
    /// Contexts of each microengine that make requests.
    asking: u32,
    /// Requests of each of these contexts.
    each: u32,
    /// The longest pause between two requests.
    pause: u32,
    groups: u32,
    window: Cycle,
    /// From zeroing a counter to the turn to its window.
    lead: Cycle,
    /// From the turn to the second limit of a window.
    grace: Cycle,
    /// The scale of each window's limit: up to 60 times this.
    step: i32,
    /// Selects the requests.
    seed: u32,
}

/// A window: its limits so far, its requests, and the final value of its counter.
#[derive(Debug, Default)]
struct Window {
    most: i32,
    ledger: Ledger,
    counter: Option<i32>,
}

/// The slow path of a contest.
struct SlowPath {
    contest: Contest,
    course: Course,
    /// By group, then in order.
    windows: Vec<Vec<Window>>,
    /// The group and window of each limit.
    limits: HashMap<i32, (u32, usize)>,
    drawn: u32,
}

impl SlowPath {
    /// A limit that was never set before; now and then there is nothing to grant.
    fn limit(&mut self, group: u32, window: usize) -> i32 {
        self.drawn += 1;
        let size = (mix(self.drawn, 77) % 64) as i32 - 3;
        let limit = size * self.course.step + self.drawn as i32;
        assert!((self.drawn as i32) < self.course.step);
        self.limits.insert(limit, (group, window));
        let windows = &mut self.windows[group as usize];
        if windows.len() == window {
            windows.push(Window {
                most: limit,
                ..Window::default()
            });
        } else {
            windows[window].most = windows[window].most.max(limit);
        }
        limit
    }

    /// Runs to a cycle and records the grants; returns true if everything has ended.
    fn run(&mut self, until: Cycle) -> Result<bool, String> {
        let (made, quiet) = self.contest.run(until)?;
        for made in made {
            let (group, window) = self.window_of(&made)?;
            self.windows[group][window].ledger.add(made);
        }
        for group in 0..self.course.groups {
            let state = self.contest.state(group);
            let window = self.windows[group as usize].last().unwrap();
            (window.ledger)
                .check_so_far(self.contest.variant, window.most, 0, state.granted())
                .map_err(|error| format!("while it runs: {error}"))?;
        }
        Ok(quiet)
    }

    fn window_of(&self, made: &Made) -> Result<(usize, usize), String> {
        let found = self.limits.get(&made.limit);
        let &(group, window) = found.ok_or_else(|| format!("{made:?} found no limit"))?;
        let right = group == u32::from(made.group) && made.phase == phase(window);
        ensure(right, || {
            format!("{made:?} is of group {group}, window {window}")
        })?;
        Ok((group as usize, window))
    }

    /// Closes the window that has long been over, and begins the next one.
    fn turn(&mut self) -> Result<bool, String> {
        let next = self.windows[0].len();
        for group in 0..self.course.groups {
            if next >= 2 {
                let state = self.contest.state(group);
                let counter = state.counters[usize::from(phase(next) != 0)];
                self.windows[group as usize][next - 2].counter = Some(counter);
            }
            self.contest.set_counter(group, phase(next), 0);
        }
        self.run(self.contest.now() + self.course.lead)?;
        for group in 0..self.course.groups {
            let limit = self.limit(group, next);
            self.contest.set_window(group, limit, phase(next));
        }
        self.run(self.contest.now() + self.course.grace)?;
        for group in 0..self.course.groups {
            let limit = self.limit(group, next);
            self.contest.set_limit(group, limit);
        }
        let steps = 3;
        let rest = self.course.window - self.course.lead - self.course.grace;
        for _ in 0..steps {
            if self.run(self.contest.now() + rest / steps)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The phase of a window by its number.
fn phase(window: usize) -> u32 {
    8 * (window as u32 % 2)
}

/// Makes all requests while windows turn; returns the number of windows.
fn contest(
    course: &Course,
    variant: Variant,
    defines: &[(&str, u32)],
    edits: &[Edit],
) -> Result<usize, String> {
    let room = course.each.next_power_of_two();
    let draw = |context, index| mix(context + course.seed, index);
    let loaded = loaded(variant, course.microengines, room, defines, edits);
    let lists: Vec<Vec<Request>> = (0..course.microengines * CONTEXTS)
        .map(|context| {
            let each = if context % CONTEXTS < course.asking {
                course.each
            } else {
                0
            };
            let request = |index| Request {
                code: (draw(context, index) % 15 + 1) as u8,
                group: (draw(context, index + 1_000) % course.groups) as u8,
                gap: (draw(context, index + 2_000) % (course.pause + 1) / 16) as u16,
            };
            (0..each).map(request).collect()
        })
        .collect();
    let asked = (course.microengines * course.asking * course.each) as usize;
    let mut path = SlowPath {
        contest: Contest::new(&loaded, variant, lists),
        course: *course,
        windows: (0..course.groups).map(|_| Vec::new()).collect(),
        limits: HashMap::new(),
        drawn: 0,
    };
    for group in 0..course.groups {
        let limit = path.limit(group, 0);
        path.contest.set_window(group, limit, 0);
    }
    while !path.turn()? {
        ensure(path.contest.now() < LATEST, || "does not end".into())?;
    }
    let mut made = 0;
    for group in 0..course.groups {
        let state = path.contest.state(group);
        ensure(!state.locked, || "the lock was left behind".into())?;
        for (number, window) in path.windows[group as usize].iter().enumerate() {
            // The last two are still in memory.
            let still = state.counters[usize::from(phase(number) != 0)];
            let counter = window.counter.unwrap_or(still);
            (window.ledger.check_settled(variant, 0, counter))
                .map_err(|error| format!("window {number} of group {group}: {error}"))?;
            made += window.ledger.made.len();
        }
    }
    ensure(made == asked, || format!("{made} of {asked} requests"))?;
    Ok(path.windows[0].len())
}

const BUSY: Course = Course {
    microengines: 8,
    asking: 8,
    each: 32,
    pause: 0,
    groups: 1,
    window: 16_000,
    lead: 300,
    grace: 4_000,
    step: 4_096,
    seed: 0,
};

/// Microengines with such rare requests that whole windows pass between two.
const RARE: Course = Course {
    microengines: 16,
    asking: 1,
    each: 64,
    pause: 40_000,
    window: 12_000,
    grace: 3_000,
    ..BUSY
};

/// Windows are shorter here than with any slow path; so is the time for which a microengine relies
/// on the last phase that it read.
const SHORT: [(&str, u32); 1] = [("QS_KNOWN_LOG", 6)];

/// A mistake: a microengine always relies on the last phase that it read.
const NEVER_READS_PHASE: Edit = Edit {
    file: "quick-start/grant_atomic.uc",
    from: "    beq[look#]\n",
    to: "    br[look#]\n",
};

#[test]
fn windows_turn_under_full_load() {
    for variant in [Variant::Lock, Variant::Atomic] {
        for microengines in [1, 8, 16] {
            let each = 256 / microengines;
            let course = Course {
                microengines,
                each,
                ..BUSY
            };
            let windows = contest(&course, variant, &SHORT, &[]);
            let windows =
                windows.unwrap_or_else(|error| panic!("{variant:?}, {microengines}: {error}"));
            assert!(
                windows >= 3,
                "{variant:?}, {microengines}: {windows} windows"
            );
        }
    }
}

#[test]
fn windows_turn_with_rare_requests() {
    for variant in [Variant::Lock, Variant::Atomic] {
        for lead in [50, 300] {
            let course = Course { lead, ..RARE };
            let windows = contest(&course, variant, &SHORT, &[]);
            let windows = windows.unwrap_or_else(|error| panic!("{variant:?}, {lead}: {error}"));
            assert!(windows >= 50, "{variant:?}: {windows} windows");
        }
    }
}

#[test]
fn port_groups_are_independent() {
    for variant in [Variant::Lock, Variant::Atomic] {
        let course = Course {
            groups: 3,
            pause: 4_000,
            ..BUSY
        };
        let defines = [SHORT[0], ("QUICK_START_PER_PORT", 1)];
        let windows = contest(&course, variant, &defines, &[]);
        assert!(windows.is_ok(), "{variant:?}: {windows:?}");
    }
}

/// An addition to another window's counter is lost if that counter is zeroed meanwhile.
#[test]
fn stale_phase_is_detected() {
    let what = contest(&RARE, Variant::Atomic, &SHORT, &[NEVER_READS_PHASE]).unwrap_err();
    assert!(what.contains("counted"), "{what}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn windows_turn_under_any_load(
        atomic: bool,
        (microengines, asking) in (prop_oneof![Just(1_u32), Just(8), Just(16)], 1_u32..=8),
        (pause, seed) in (0_u32..30_000, 0_u32..100_000),
        groups in 1_u32..=3,
        (window, lead, grace) in (16_000_u64..30_000, 1_u64..2_000, 4_000_u64..8_000),
    ) {
        let variant = if atomic { Variant::Atomic } else { Variant::Lock };
        let course = Course {
            microengines, asking, each: 16, pause, groups, window, lead, grace, seed, ..BUSY
        };
        let defines = [SHORT[0], ("QUICK_START_PER_PORT", 1)];
        let end = contest(&course, variant, &defines, &[]);
        prop_assert!(end.is_ok(), "{:?}", end);
    }
}
