//! Windows of Quick-Start that turn while requests are made: the test is the slow
//! path. Each limit that it sets is another number, so that a request tells by the
//! limit that it found which window it belongs to.

use std::collections::HashMap;

use npsim_chip::Cycle;

use crate::bench::{CONTEXTS, Edit, ensure};
use crate::grants::{Contest, Ledger, Made, Request, Variant, loaded};
use crate::quick_start::mix;

const LATEST: Cycle = 40_000_000;

/// How requests come and windows turn; times in cycles.
#[derive(Clone, Copy, Debug)]
struct Course {
    microengines: u32,
    /// Contexts of each microengine that ask.
    asking: u32,
    /// Requests of each of these.
    each: u32,
    /// The longest pause between two.
    pause: u32,
    groups: u32,
    window: Cycle,
    /// From zeroing a counter to the turn that it is for.
    lead: Cycle,
    /// From the turn to the second limit of a window.
    grace: Cycle,
    /// About how much each window has to give: up to 63 times this.
    step: i32,
}

/// A window: its limits so far, its requests, and what its counter came to.
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
    /// A limit that was never set before; now and then there is nothing to give.
    fn limit(&mut self, group: u32, window: usize) -> i32 {
        self.drawn += 1;
        let size = (mix(self.drawn, 77) % 64) as i32 - 3;
        let limit = size * self.course.step.max(4_096) + self.drawn as i32;
        assert!(self.drawn < 4_096);
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

    /// Runs to a cycle and puts down what was granted; true when all has ended.
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
                .so_far(self.contest.variant, window.most, 0, state.granted())
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

    /// The window that is over for long ends for good, the next one begins.
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

/// Makes all requests; how many windows it took and how many requests got what.
fn contest(
    course: &Course,
    variant: Variant,
    defines: &[(&str, u32)],
    edits: &[Edit],
) -> Result<usize, String> {
    let room = course.each.next_power_of_two();
    let loaded = loaded(variant, course.microengines, room, defines, edits);
    let lists: Vec<Vec<Request>> = (0..course.microengines * CONTEXTS)
        .map(|context| {
            let each = if context % CONTEXTS < course.asking {
                course.each
            } else {
                0
            };
            let request = |index| Request {
                code: (mix(context, index) % 15 + 1) as u8,
                group: (mix(context, index + 1_000) % course.groups) as u8,
                gap: (mix(context, index + 2_000) % (course.pause + 1) / 16) as u16,
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
            (window.ledger.settled(variant, 0, counter))
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
};

/// Microengines that ask so rarely that whole windows pass between two requests.
const RARE: Course = Course {
    microengines: 16,
    asking: 1,
    each: 64,
    pause: 40_000,
    window: 12_000,
    grace: 3_000,
    ..BUSY
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
            let windows = contest(&course, variant, &[], &[]);
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
fn windows_turn_while_microengines_ask_rarely() {
    for variant in [Variant::Lock, Variant::Atomic] {
        for lead in [50, 300] {
            let course = Course { lead, ..RARE };
            let windows = contest(&course, variant, &[], &[]);
            let windows = windows.unwrap_or_else(|error| panic!("{variant:?}, {lead}: {error}"));
            assert!(windows >= 50, "{variant:?}: {windows} windows");
        }
    }
}
