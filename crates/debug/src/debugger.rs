//! The debugger: a run, a context that is looked at, breakpoints, and ways to go on.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::{ContextPhase, ContextView};
use npsim_chip::kernel::check::{Check, Fault};
use npsim_image::{Image, Point};
use npsim_project::Project;
use npsim_session::simulation::Ending;

use crate::breakpoints::{Access, Breakpoint, Said, Stops, Template, What};
use crate::complaint::Complaint;
use crate::expression::{Expression, Scope};
use crate::machine::{Machine, Moment, STRETCH};
use crate::names::Names;
use crate::search::{Candidate, Condition, Direction, Found, Place};
use crate::snapshots::BudgetTooSmall;
use crate::source::{self, Frame, Line, Stand};
use crate::step::{Ahead, Behind, Both, STEP, Step, Turns};
use crate::thread::Thread;

/// Why the run stands where it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It has not begun.
    Entry,
    /// A step is done.
    Step,
    /// It was gone to.
    Goto,
    /// Breakpoints: their numbers, and for watchpoints the value before and after.
    Breakpoint(Vec<(u32, Option<(u64, u64)>)>),
    /// A check stops the run.
    Fault(Box<Fault>),
    /// The run ends otherwise.
    End(Ending),
    /// It was gone back to its beginning.
    Beginning,
    /// The user broke off.
    Interrupted,
}

/// Where the run has come to and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Why.
    pub reason: Reason,
    /// The context that is looked at.
    pub thread: Thread,
    /// What log points said on the way.
    pub said: Vec<Said>,
}

/// A context that can run.
#[derive(Clone, Debug)]
pub struct ThreadView {
    /// Which.
    pub thread: Thread,
    /// What the project calls its microengine's stage.
    pub stage: String,
    /// What it does.
    pub view: ContextView,
    /// The instruction at which it is, or with which it went to sleep.
    pub pc: u16,
}

/// A step that was made, so that it can be taken back.
#[derive(Clone, Copy, Debug)]
struct Made {
    step: Step,
    direction: Direction,
    from: Look,
    to: Look,
}

/// Where the debugger looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    moment: Moment,
    thread: Thread,
    place: Option<Place>,
    level: usize,
}

/// Words as microengine and address, and the file and line that has them.
pub type WordsOfLine = (Vec<(u8, u16)>, String, u32);

/// Steps that can be taken back one by one.
const MOST_MADE: usize = 100_000;

/// What a debugger is made of besides its [machine](crate::machine::Setup).
#[derive(Debug)]
pub struct Debugger<'a> {
    machine: Machine<'a>,
    names: Names,
    stages: Vec<(String, Vec<u8>)>,
    stops: Stops,
    look: Look,
    made: Vec<Made>,
    allowed: Vec<Check>,
    reason: Reason,
    /// Asked now and then whether to break off.
    stop: Option<Asked>,
}

/// Whether to break off.
struct Asked(Box<dyn FnMut(Cycle) -> bool + Send>);

impl std::fmt::Debug for Asked {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Asked")
    }
}

impl<'a> Debugger<'a> {
    /// A run at its beginning. `allowed` are the checks that it passes over.
    ///
    /// # Errors
    /// The budget of memory is too small.
    pub fn new(
        setup: crate::machine::Setup<'a>,
        project: &Project,
        allowed: &[Check],
    ) -> Result<Self, BudgetTooSmall> {
        let machine = Machine::new(setup)?;
        let names = Names::of(project);
        let mut debugger = Self {
            stops: Stops::new(names.clone()),
            names,
            stages: project.stages.clone(),
            look: Look {
                moment: Moment::default(),
                thread: Thread::default(),
                place: None,
                level: 0,
            },
            made: Vec::new(),
            allowed: allowed.to_vec(),
            reason: Reason::Entry,
            machine,
            stop: None,
        };
        if let Some(first) = debugger.threads().first().map(|it| it.thread) {
            debugger.look.thread = first;
        }
        debugger.open_all();
        Ok(debugger)
    }

    /// Lets long ways be broken off: `asked` is called between stretches of a search with
    /// the cycle it has come to.
    pub fn ask(&mut self, asked: impl FnMut(Cycle) -> bool + Send + 'static) {
        self.stop = Some(Asked(Box::new(asked)));
    }

    /// The run.
    #[must_use]
    pub fn machine(&self) -> &Machine<'a> {
        &self.machine
    }

    /// The run, to go through it otherwise. [`Self::goto`] tells the debugger where it is.
    pub(crate) fn machine_mut(&mut self) -> &mut Machine<'a> {
        &mut self.machine
    }

    /// The chip as it stands.
    #[must_use]
    pub fn chip(&self) -> &Chip {
        self.machine.chip()
    }

    /// The cycle before which everything has happened.
    #[must_use]
    pub fn cycle(&self) -> Cycle {
        self.machine.moment().cycle
    }

    /// What the project calls things.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Why the run stands where it does.
    #[must_use]
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    /// The context that is looked at.
    #[must_use]
    pub fn thread(&self) -> Thread {
        self.look.thread
    }

    /// Looks at another context.
    ///
    /// # Errors
    /// It does not run.
    pub fn look_at(&mut self, thread: Thread) -> Result<(), Complaint> {
        self.known(thread)?;
        if thread != self.look.thread {
            self.look.thread = thread;
            self.look.place = None;
            self.open_all();
        }
        Ok(())
    }

    fn known(&self, thread: Thread) -> Result<(), Complaint> {
        if self.threads().iter().any(|it| it.thread == thread) {
            return Ok(());
        }
        Err(Complaint::new(format!("context {thread} does not run"))
            .help("`contexts` lists those that do"))
    }

    /// The contexts that run or have given up, microengine by microengine.
    #[must_use]
    pub fn threads(&self) -> Vec<ThreadView> {
        let mut threads = Vec::new();
        for core in self.chip().microengines() {
            if core.program().image().words.is_empty() {
                continue;
            }
            for context in 0..8 {
                let view = core.context(context);
                if view.phase != ContextPhase::Inactive {
                    let me = core.index();
                    let thread = Thread { me, context };
                    threads.push(ThreadView {
                        thread,
                        stage: self.stage(me),
                        view,
                        pc: self.pc(thread),
                    });
                }
            }
        }
        threads
    }

    /// What the project calls the stage of a microengine, or the program's name.
    #[must_use]
    pub fn stage(&self, me: u8) -> String {
        let stage = self.stages.iter().find(|it| it.1.contains(&me));
        stage.map_or_else(
            || {
                let name = &self.image(me).map_or("", |image| &image.name);
                let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
                name.trim_end_matches(".uc").to_owned()
            },
            |it| it.0.clone(),
        )
    }

    /// The files that the programs were made of, as the images name them, sorted.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        let cores = self.chip().microengines().iter();
        let files = cores.flat_map(|core| core.program().image().files.clone());
        // What was defined on the command line stands in no file.
        let mut files: Vec<_> = files.filter(|file| !file.starts_with('<')).collect();
        files.sort();
        files.dedup();
        files
    }

    /// The program of a microengine.
    #[must_use]
    pub fn image(&self, me: u8) -> Option<&Image> {
        let core = self.chip().microengines().get(usize::from(me))?;
        Some(core.program().image())
    }

    /// The instruction at which a context is, or with which it went to sleep.
    #[must_use]
    pub fn pc(&self, thread: Thread) -> u16 {
        match self.look.place {
            Some(place) if (place.me, place.context) == (thread.me, thread.context) => place.pc,
            _ => {
                let cores = self.chip().microengines();
                let core = cores.get(usize::from(thread.me));
                core.map_or(0, |core| core.context(thread.context).place())
            }
        }
    }

    /// The frames of a context, innermost first. Of the one that is looked at, macros that
    /// were not stepped into are left out.
    #[must_use]
    pub fn frames(&self, thread: Thread) -> Vec<Frame> {
        let Some(image) = self.image(thread.me) else {
            return Vec::new();
        };
        let mut frames = source::frames(image, self.pc(thread));
        if thread == self.look.thread {
            let closed = frames.len().saturating_sub(self.look.level + 1);
            frames.drain(..closed);
        }
        frames
    }

    /// Whether macros at the place of the context that is looked at are closed.
    #[must_use]
    pub fn has_closed(&self) -> bool {
        let thread = self.look.thread;
        let image = self.image(thread.me);
        image.is_some_and(|image| source::depth(image, self.pc(thread)) > self.look.level)
    }

    /// Shows all macros at the place that is looked at.
    fn open_all(&mut self) {
        let thread = self.look.thread;
        let pc = self.pc(thread);
        self.look.level = self.image(thread.me).map_or(0, |it| source::depth(it, pc));
    }

    /// Where expressions are looked at.
    #[must_use]
    pub fn scope(&self, thread: Thread) -> Scope<'_> {
        Scope {
            chip: self.chip(),
            names: &self.names,
            cycle: self.cycle(),
            me: thread.me,
            context: thread.context,
            point: self.point(thread),
        }
    }

    /// Where the names of a context are looked up: before the instruction that it is about
    /// to execute, or after the one with which it went to sleep.
    #[must_use]
    pub fn point(&self, thread: Thread) -> Point {
        let pc = self.pc(thread);
        let stands = self
            .look
            .place
            .is_some_and(|it| (it.me, it.context) == (thread.me, thread.context));
        let cores = self.chip().microengines();
        let core = cores.get(usize::from(thread.me));
        let sleeps =
            core.is_some_and(|core| core.context(thread.context).phase == ContextPhase::Sleeping);
        if sleeps && !stands {
            Point::after(pc)
        } else {
            Point::before(pc)
        }
    }

    /// The value of an expression for a context.
    ///
    /// # Errors
    /// It is no expression, or names something that is not there.
    pub fn evaluate(&self, text: &str, thread: Thread) -> Result<u64, Complaint> {
        text.parse::<Expression>()?.value(&self.scope(thread))
    }

    /// The breakpoints.
    #[must_use]
    pub fn breakpoints(&self) -> &[Breakpoint] {
        self.stops.points()
    }

    /// Adds a breakpoint and gives its number.
    ///
    /// # Errors
    /// Its condition or its text names something that is not there.
    pub fn add(&mut self, point: Breakpoint) -> Result<u32, Complaint> {
        let texts = point.log.iter().flat_map(Template::expressions);
        let expressions: Vec<_> = point.condition.iter().chain(texts).collect();
        let places: Vec<_> = match &point.what {
            What::Code(places) => { places.iter() }
                .map(|&(me, pc)| (me, Point::before(pc)))
                .collect(),
            What::Watch { thread, point, .. } => vec![(thread.me, *point)],
        };
        for expression in expressions {
            let check = |&(me, point): &(u8, Point)| match self.image(me) {
                Some(image) => expression.check(image, &self.names, point),
                None => Ok(()),
            };
            let mut results = places.iter().map(check);
            // What is alive at one of the places is enough.
            let first = results.next().unwrap_or(Ok(()));
            if first.is_err() && !results.any(|it| it == Ok(())) {
                first?;
            }
        }
        Ok(self.stops.add(point))
    }

    /// Takes a breakpoint away.
    ///
    /// # Errors
    /// There is none with this number.
    pub fn remove(&mut self, id: u32) -> Result<(), Complaint> {
        self.stops.remove(id)
    }

    /// Puts a breakpoint into force or out of it.
    ///
    /// # Errors
    /// There is none with this number.
    pub fn enable(&mut self, id: u32, enabled: bool) -> Result<(), Complaint> {
        self.stops.enable(id, enabled)
    }

    /// The words of a line of a file on all microengines that have it, and the line that
    /// has them: the next one that has words, if this one has none.
    ///
    /// # Errors
    /// No program has such a file, or none has words behind the line.
    pub fn line(&self, file: &str, line: u32) -> Result<WordsOfLine, Complaint> {
        let mut known = false;
        let mut best: Option<(u32, String)> = None;
        let programs = || {
            let cores = self.chip().microengines().iter();
            cores.map(|core| (core.index(), core.program().image()))
        };
        for (_, image) in programs() {
            for file in source::files(image, file) {
                known = true;
                if let Some(next) = source::next_line(image, Line { file, line })
                    && best.as_ref().is_none_or(|it| next.line < it.0)
                {
                    best = Some((next.line, image.files[file as usize].clone()));
                }
            }
        }
        let Some((line, name)) = best else {
            let message = if known {
                format!("`{file}` has no code at line {line} or behind it")
            } else {
                format!("no program has a file `{file}`")
            };
            return Err(Complaint::new(message).help("`files` lists the files of the programs"));
        };
        let mut places = Vec::new();
        for (me, image) in programs() {
            for file in source::files(image, file) {
                let found = source::addresses(image, Line { file, line });
                places.extend(found.into_iter().map(|pc| (me, pc)));
            }
        }
        Ok((places, name, line))
    }

    /// A watchpoint on the value of an expression.
    ///
    /// # Errors
    /// It names nothing here; or an access is asked for, and it is no longword of a memory.
    pub fn watch(&self, text: &str, access: Access, thread: Thread) -> Result<What, Complaint> {
        let value: Expression = text.parse()?;
        let scope = self.scope(thread);
        let location = match access {
            Access::Change => None,
            _ => match value.location(&scope)? {
                word @ crate::expression::Location::Word(memory, _)
                    if memory != crate::names::Memory::Local =>
                {
                    Some(word)
                }
                _ => {
                    return Err(Complaint::new(format!(
                        "accesses are seen of longwords in scratch, SRAM and DRAM, and `{text}` is none"
                    ))
                    .help("`watch` stops when its value changes"));
                }
            },
        };
        Ok(What::Watch {
            value: value.bound(&scope)?,
            location,
            access,
            thread,
            point: scope.point,
        })
    }

    /// The checks that are passed over.
    #[must_use]
    pub fn allowed(&self) -> &[Check] {
        &self.allowed
    }

    /// Passes over these checks and no others, from the beginning of the run on.
    pub fn allow(&mut self, allowed: &[Check]) {
        self.allowed = allowed.to_vec();
        self.stops.forget_after(Moment::default());
        self.machine.set_allowed(allowed);
        self.look.moment = self.machine.moment();
    }

    /// Goes to a cycle.
    pub fn goto(&mut self, cycle: Cycle) -> Stop {
        self.go(Moment::before(cycle), None)
    }

    /// Goes to a moment at which a context is at an instruction.
    pub fn go(&mut self, moment: Moment, place: Option<Place>) -> Stop {
        if !self.approach(moment.cycle) {
            self.land(None);
            return self.stopped(Reason::Interrupted);
        }
        self.machine.goto_moment(moment);
        let come = self.machine.moment() == moment;
        self.land(place.filter(|_| come));
        let reason = match self.ended() {
            Some(reason) => reason,
            None => Reason::Goto,
        };
        self.stopped(reason)
    }

    /// Comes near a cycle that lies far ahead, unless it is broken off; whether it was not.
    fn approach(&mut self, cycle: Cycle) -> bool {
        while self.machine.ending().is_none() && self.machine.end().is_none() {
            // What was seen already is come to from a state that is kept.
            let next = self.machine.furthest().max(self.cycle()) + STRETCH;
            if next >= cycle {
                break;
            }
            self.machine.goto(next);
            if let Some(asked) = &mut self.stop
                && (asked.0)(next)
            {
                return false;
            }
        }
        true
    }

    /// Goes on, forward or back, to where a breakpoint or a check stops the run.
    pub fn run(&mut self, direction: Direction) -> Stop {
        self.count_hits();
        self.stops.begin(direction, None);
        let mut asked = self.stop.take();
        let stop = &mut |cycle| asked.as_mut().is_some_and(|asked| (asked.0)(cycle));
        let found = self.machine.search(direction, &mut self.stops, None, stop);
        self.stop = asked;
        self.arrived(&found, direction)
    }

    /// Makes a step of the context that is looked at.
    pub fn step(&mut self, step: Step, direction: Direction) -> Stop {
        let from = self.here();
        if let Some(made) = self.made.last().copied() {
            let takes_back = made.step == step && made.direction == direction.reverse();
            if takes_back && made.to == from {
                self.made.pop();
                self.machine.goto_moment(made.from.moment);
                self.look = made.from;
                return self.stopped(Reason::Step);
            }
            if made.to != from {
                self.made.clear();
            }
        }
        let stop = match direction {
            Direction::Forward => self.step_on(step),
            Direction::Back => self.step_back(step),
        };
        if stop.reason == Reason::Step {
            if self.made.len() == MOST_MADE {
                self.made.drain(..MOST_MADE / 2);
            }
            self.made.push(Made {
                step,
                direction,
                from,
                to: self.here(),
            });
        }
        stop
    }

    fn here(&self) -> Look {
        Look {
            moment: self.machine.moment(),
            ..self.look
        }
    }

    fn step_on(&mut self, step: Step) -> Stop {
        let thread = self.look.thread;
        let (pc, level) = (self.pc(thread), self.look.level);
        let Some(image) = self.image(thread.me) else {
            return self.stopped(Reason::Step);
        };
        if step == Step::Into && source::depth(image, pc) > level {
            self.look.level += 1;
            return self.stopped(Reason::Step);
        }
        let mut ahead = match step {
            Step::Instruction => Ahead::instruction(thread, image),
            Step::Line | Step::Into => Ahead::line(thread, image, pc, level),
            Step::Out => Ahead::out(thread, image, pc, level),
            Step::Run => return self.turn(thread.me, Some(thread.context), Direction::Forward),
            Step::Any => return self.turn(thread.me, None, Direction::Forward),
        };
        let before = Stand::of(image, pc, level);
        let found = self.seek(&mut ahead, Direction::Forward);
        let mut stop = self.arrived(&found, Direction::Forward);
        if stop.reason == Reason::Step && step != Step::Instruction {
            self.close(&before, level);
            stop.thread = self.look.thread;
        }
        stop
    }

    /// Closes the macros that a step over lines from a place has not gone into.
    fn close(&mut self, before: &Stand, level: usize) {
        let thread = self.look.thread;
        let pc = self.pc(thread);
        if let Some(image) = self.image(thread.me) {
            let now = Stand::of(image, pc, level);
            self.look.level = level.min(before.common(&now));
        }
    }

    fn step_back(&mut self, step: Step) -> Stop {
        let thread = self.look.thread;
        let (pc, level) = (self.pc(thread), self.look.level);
        let moment = self.machine.moment();
        let Some(image) = self.image(thread.me) else {
            return self.stopped(Reason::Step);
        };
        let (mut behind, level) = match step {
            Step::Instruction => (Behind::instruction(thread, moment), level),
            Step::Line => (Behind::line(thread, moment, image, level), level),
            // Into the macro that was used before, from its end.
            Step::Into => {
                let innermost = usize::MAX;
                (Behind::line(thread, moment, image, innermost), innermost)
            }
            Step::Out => {
                let outer = level.saturating_sub(1);
                // What is before this instruction begins the use of the macro, or this one does.
                let later = Moment {
                    rank: moment.rank.saturating_add(1),
                    ..moment
                };
                self.machine.goto_moment(later);
                (
                    Behind::line(thread, later, image_of(&self.machine, thread), outer),
                    outer,
                )
            }
            Step::Run => return self.turn(thread.me, Some(thread.context), Direction::Back),
            Step::Any => return self.turn(thread.me, None, Direction::Back),
        };
        let before = Stand::of(image_of(&self.machine, thread), pc, level);
        let found = self.seek(&mut behind, Direction::Back);
        let stop = self.arrived(&found, Direction::Back);
        if stop.reason != Reason::Step {
            return stop;
        }
        match step {
            Step::Line => {
                self.close(&before, level);
                self.begin_line(level);
            }
            Step::Out => self.look.level = level,
            _ => {}
        }
        self.stopped(Reason::Step)
    }

    /// Goes back to where the line begins, if a macro was left backwards by its end.
    fn begin_line(&mut self, level: usize) {
        let Look {
            thread,
            level: now,
            place,
            ..
        } = self.here();
        if now >= level {
            return;
        }
        let moment = self.machine.moment();
        let later = Moment {
            rank: moment.rank.saturating_add(1),
            ..moment
        };
        self.machine.goto_moment(later);
        let image = image_of(&self.machine, thread);
        let mut behind = Behind::line(thread, later, image, now);
        if let Found::Hit(hits) = self.seek(&mut behind, Direction::Back) {
            self.land(hits[0].place);
        } else {
            self.machine.goto_moment(moment);
            self.land(place);
        }
        self.look.level = now;
    }

    fn turn(&mut self, me: u8, context: Option<u8>, direction: Direction) -> Stop {
        let found = self.seek(&mut Turns { me, context }, direction);
        self.arrived(&found, direction)
    }

    /// Searches for a step's end; breakpoints that this context meets come before it.
    fn seek(&mut self, step: &mut dyn Condition, direction: Direction) -> Found {
        self.count_hits();
        self.stops.begin(direction, Some(self.look.thread));
        let mut asked = self.stop.take();
        let stop = &mut |cycle| asked.as_mut().is_some_and(|asked| (asked.0)(cycle));
        let mut both = Both {
            step,
            stops: &mut self.stops,
        };
        let found = self.machine.search(direction, &mut both, None, stop);
        self.stop = asked;
        found
    }

    /// Goes to where a condition holds next or last, for questions.
    pub(crate) fn find(
        &mut self,
        condition: &mut dyn Condition,
        direction: Direction,
        limit: Option<Moment>,
    ) -> Found {
        let mut asked = self.stop.take();
        let stop = &mut |cycle| asked.as_mut().is_some_and(|asked| (asked.0)(cycle));
        let found = self.machine.search(direction, condition, limit, stop);
        self.stop = asked;
        found
    }

    /// Counts the hits before now of breakpoints that need their number.
    fn count_hits(&mut self) {
        let now = self.machine.moment();
        let Some(from) = self.stops.uncounted(now) else {
            return;
        };
        self.machine.goto_moment(from);
        self.stops.begin_to_count();
        // The condition never holds.
        let stops = &mut self.stops;
        let forward = Direction::Forward;
        self.machine
            .search(forward, stops, Some(now), &mut |_| false);
        self.stops.counted_through(now);
        self.machine.goto_moment(now);
    }

    /// What a search came to, as a stop.
    pub(crate) fn arrived(&mut self, found: &Found, direction: Direction) -> Stop {
        let reason = match found {
            Found::Hit(hits) => {
                let place = hits.iter().find_map(|it| it.place);
                self.land(place);
                self.close_to_line(hits);
                self.reason_of(hits)
            }
            Found::Nothing => {
                self.land(None);
                match self.ended() {
                    Some(reason) if direction == Direction::Forward => reason,
                    _ => Reason::Beginning,
                }
            }
            Found::Interrupted => {
                self.land(None);
                Reason::Interrupted
            }
        };
        self.stopped(reason)
    }

    /// Closes the macros behind the line of a breakpoint that is met.
    fn close_to_line(&mut self, hits: &[Candidate]) {
        let points = hits.iter().filter(|it| it.mark != STEP);
        let mut lines = points.filter_map(|it| self.stops.hit(it)?.0.line.clone());
        let Some((file, line)) = lines.next_back() else {
            return;
        };
        let thread = self.look.thread;
        let Some(image) = self.image(thread.me) else {
            return;
        };
        let frames = source::frames(image, self.pc(thread));
        let of_line = |frame: &Frame| frame.file == file && frame.line == line;
        if let Some(outside) = frames.iter().rev().position(of_line) {
            self.look.level = outside;
        }
    }

    fn reason_of(&self, hits: &[Candidate]) -> Reason {
        let points = hits.iter().filter(|it| it.mark != STEP);
        let points = points.filter_map(|it| self.stops.hit(it));
        let points: Vec<_> = points.map(|(point, change)| (point.id, change)).collect();
        if points.is_empty() {
            Reason::Step
        } else {
            Reason::Breakpoint(points)
        }
    }

    /// Why the run ends here, if it does; the context at fault is looked at then.
    fn ended(&mut self) -> Option<Reason> {
        match self.machine.ending()?.clone() {
            Ending::Fault(fault) => {
                if let (Some(me), Some(context)) = (fault.me, fault.context) {
                    // What is found when a run is over is told of an instruction that may be long
                    // past; where a context sleeps, it knows itself.
                    let core = self.chip().microengines().get(usize::from(me));
                    let sleeps =
                        core.is_some_and(|it| it.context(context).phase == ContextPhase::Sleeping);
                    let pc = fault.pc.filter(|_| !sleeps);
                    let place = pc.map(|pc| Place { me, context, pc });
                    self.look.thread = Thread { me, context };
                    self.look.place = place;
                    self.open_all();
                }
                Some(Reason::Fault(fault))
            }
            ending => Some(Reason::End(ending)),
        }
    }

    /// Looks at whatever context is at a place.
    fn land(&mut self, place: Option<Place>) {
        self.look.moment = self.machine.moment();
        self.look.place = place;
        if let Some(place) = place {
            self.look.thread = Thread {
                me: place.me,
                context: place.context,
            };
        }
        self.open_all();
    }

    pub(crate) fn stopped(&mut self, reason: Reason) -> Stop {
        self.reason = reason.clone();
        self.look.moment = self.machine.moment();
        Stop {
            reason,
            thread: self.look.thread,
            said: self.stops.take_said(),
        }
    }

    /// Changes the chip here and now; what comes after will be otherwise.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Chip)) {
        let moment = self.machine.moment();
        self.machine.change(change);
        self.stops.forget_after(moment);
        self.made.clear();
    }
}

fn image_of<'m>(machine: &'m Machine<'_>, thread: Thread) -> &'m Image {
    machine.chip().microengines()[usize::from(thread.me)]
        .program()
        .image()
}
