//! Text commands, as used by scripts, terminals and the consoles of editors.

mod complete;
mod core;
mod inspect;
mod place;
mod show;
mod table;

pub use complete::completions;
pub use place::BreakpointText;
pub use show::{holder_text, source_lines, stop_text, time_text};
pub use table::{COMMANDS, CommandGroup, CompletionKind, ConsoleCommand, commands};

use npsim_chip::kernel::check::Check;
use npsim_project::quantity::Time;

use crate::breakpoints::{Access, Breakpoint};
use crate::debugger::{Debugger, Stop, StopCause};
use crate::error::DebugError;
use crate::expression::Expression;
use crate::search::Direction;
use crate::step::Step;
use crate::thread::Thread;
use table::{Verb, find, reversed};

/// The result of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Lines to show.
    pub lines: Vec<String>,
    /// The new position of the run, if the command moved it.
    pub stop: Option<Stop>,
    /// Whether breakpoints were added or removed.
    pub breakpoints: bool,
    /// Whether the user asked to quit.
    pub quits: bool,
}

impl Reply {
    fn lines(lines: Vec<String>) -> Self {
        Self {
            lines,
            ..Self::default()
        }
    }

    fn line(line: impl Into<String>) -> Self {
        Self::lines(vec![line.into()])
    }
}

/// Provides the text of a source by its path in the image.
pub type Sources<'s> = &'s dyn Fn(&str) -> Option<String>;

/// Maximum number of steps per command.
const MAX_STEPS: u64 = 1_000_000;

/// Executes a command line. Empty lines and those that begin with `;` or `//` do nothing.
///
/// # Errors
/// Returns an error if the line is not a command, or what it refers to does not exist.
pub fn execute(
    debugger: &mut Debugger,
    sources: Sources<'_>,
    line: &str,
) -> Result<Reply, DebugError> {
    let line = line.trim();
    if line.is_empty() || line.starts_with(';') || line.starts_with("//") {
        return Ok(Reply::default());
    }
    let (word, rest) = first_word(line);
    match find(word, debugger.ends()) {
        Ok(info) if info.arguments.is_empty() && !rest.is_empty() => Err(DebugError::new(format!(
            "`{}` takes no arguments, but got `{rest}`",
            info.name
        ))
        .help(format!("`help {}` says what it does", info.name))),
        Ok(info) => Call {
            debugger,
            sources,
            rest,
        }
        .verb(info.verb),
        Err(begins) => {
            let mut call = Call {
                debugger,
                sources,
                rest,
            };
            if let Some(info) = reversed(word) {
                return call.go(info.verb, Direction::Back);
            }
            let complaint = DebugError::new(format!("there is no command `{word}`"));
            Err(if begins.is_empty() {
                let names = commands(call.debugger.ends()).map(|it| it.name);
                complaint
                    .or_similar(word, names)
                    .or_help("`help` lists them")
            } else {
                complaint.help(format!("it can be `{}`", begins.join("`, `")))
            })
        }
    }
}

/// The first word of a line and the rest.
fn first_word(line: &str) -> (&str, &str) {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (word, rest.trim())
}

/// Splits a count off the end of a text, unless all of the text is a single expression.
fn last_count(text: &str, default: u32) -> (&str, u32) {
    if text.parse::<Expression>().is_ok() {
        return (text, default);
    }
    if let Some((before, last)) = text.rsplit_once(char::is_whitespace)
        && let Ok(count) = last.parse()
    {
        return (before.trim(), count);
    }
    (text, default)
}

struct Call<'c, 's> {
    debugger: &'c mut Debugger,
    sources: Sources<'s>,
    rest: &'c str,
}

impl Call<'_, '_> {
    fn verb(&mut self, verb: Verb) -> Result<Reply, DebugError> {
        if let Some(reply) = self.of_core(verb) {
            return reply;
        }
        match verb {
            verb if verb.goes() => self.go(verb, Direction::Forward),
            Verb::Back => self.back(),
            Verb::Goto => self.goto(),
            Verb::Break => self.set_break(None),
            Verb::Log => self.log(),
            Verb::Watch => self.watch(Access::Change),
            Verb::WatchRead => self.watch(Access::Read),
            Verb::WatchWrite => self.watch(Access::Write),
            Verb::WatchAny => self.watch(Access::Any),
            Verb::Delete | Verb::Enable | Verb::Disable => self.by_number(verb),
            Verb::Breakpoints => Ok(self.breakpoints()),
            Verb::Stop => self.check(false),
            Verb::Pass => self.check(true),
            Verb::Context => self.context(),
            Verb::Why => {
                let thread = self.thread()?;
                if thread.is_core() {
                    return Ok(Reply::lines(show::where_text(self.debugger, thread)));
                }
                Ok(Reply::lines(self.debugger.why(thread)))
            }
            Verb::Wake => self.wake(),
            Verb::Who => self.who(2, false),
            Verb::History => self.who(8, true),
            Verb::Packet => self.packet(),
            Verb::Buffer => self.buffer(),
            Verb::Set => self.set(),
            Verb::Help => self.help(),
            Verb::Quit => Ok(Reply {
                quits: true,
                ..Reply::default()
            }),
            verb => self.look(verb),
        }
    }

    fn nothing_more(&self) -> Result<(), DebugError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(DebugError::new(format!("unexpected text: `{}`", self.rest)))
        }
    }

    /// The context given as argument, or the selected one.
    fn thread(&self) -> Result<Thread, DebugError> {
        if self.rest.is_empty() {
            return Ok(self.debugger.thread());
        }
        let thread = self.rest.parse()?;
        self.debugger.known(thread)?;
        Ok(thread)
    }

    fn arrived(&self, stop: Stop) -> Reply {
        Reply {
            lines: stop_text(self.debugger, &stop, self.sources),
            stop: Some(stop),
            ..Reply::default()
        }
    }

    fn back(&mut self) -> Result<Reply, DebugError> {
        let (word, rest) = first_word(self.rest);
        let info = find(word, self.debugger.ends())
            .ok()
            .filter(|it| it.verb.goes());
        let info = info.ok_or_else(|| {
            DebugError::new(format!("`{word}` cannot be done backwards"))
                .help("`back` goes before continue, next, step, out, instruction, run and any")
        })?;
        self.rest = rest;
        self.go(info.verb, Direction::Back)
    }

    fn go(&mut self, verb: Verb, direction: Direction) -> Result<Reply, DebugError> {
        if let Some(reply) = self.of_core(verb) {
            return reply;
        }
        let step = match verb {
            Verb::Next => Step::Line,
            Verb::Step => Step::Into,
            Verb::Out => Step::Out,
            Verb::Instruction => Step::Instruction,
            Verb::Run => Step::Run,
            Verb::Any => Step::Any,
            _ => {
                self.nothing_more()?;
                let stop = self.debugger.run(direction);
                return Ok(self.arrived(stop));
            }
        };
        let count = match self.rest {
            "" => 1,
            rest => { rest.parse().ok() }
                .filter(|it| (1..=MAX_STEPS).contains(it))
                .ok_or_else(|| {
                    DebugError::new(format!("`{rest}` is not a number of steps"))
                        .help(format!("give one from 1 to {MAX_STEPS}"))
                })?,
        };
        let forward = direction == Direction::Forward;
        if forward && step == Step::Out && self.debugger.frames(self.debugger.thread()).len() < 2 {
            return Err(DebugError::new("the context is not in a macro")
                .help("`next` goes to the next line"));
        }
        let mut said = Vec::new();
        for _ in 1..count {
            let stop = self.debugger.step(step, direction);
            let ends = stop.reason != crate::StopCause::Step;
            said.extend(stop.said.clone());
            if ends {
                let stop = Stop { said, ..stop };
                return Ok(self.arrived(stop));
            }
        }
        let mut stop = self.debugger.step(step, direction);
        said.append(&mut stop.said);
        stop.said = said;
        Ok(self.arrived(stop))
    }

    fn goto(&mut self) -> Result<Reply, DebugError> {
        let (word, rest) = first_word(self.rest);
        if word == "packet" {
            self.rest = rest;
            return self.goto_packet();
        }
        let now = self.debugger.cycle();
        let hertz = self.debugger.timeline().hertz();
        let time = |text: &str| -> Result<u64, DebugError> {
            let time: Time = text.parse().map_err(|message: String| {
                DebugError::new(message)
                    .help("write a cycle, a time such as `1.25ms`, `+100`, `start` or `end`")
            })?;
            Ok(time.cycles(hertz))
        };
        let cycle = match self.rest {
            "start" => 0,
            "end" => u64::MAX,
            text => match (text.strip_prefix('+'), text.strip_prefix('-')) {
                (Some(more), _) => now.saturating_add(time(more)?),
                (_, Some(less)) => now.saturating_sub(time(less)?),
                _ => time(text)?,
            },
        };
        // Without a limit the run could go on forever.
        let patience = self
            .debugger
            .timeline()
            .recorded_to()
            .max(now)
            .saturating_add(hertz);
        let stop = self.debugger.goto(cycle.min(patience));
        Ok(self.arrived(stop))
    }

    fn goto_packet(&mut self) -> Result<Reply, DebugError> {
        let (number, event) = self.rest.split_once('@').unwrap_or((self.rest, "0"));
        let wrong =
            || DebugError::new("which packet and which event?").help("write `goto packet 17 @3`");
        let number = number.trim().parse().map_err(|_| wrong())?;
        let event: usize = event.trim().parse().map_err(|_| wrong())?;
        let trail = self.debugger.packet(number)?;
        let Some(at) = trail.events.get(event) else {
            return Err(DebugError::new(format!(
                "packet {number} has {} events, numbered from 0",
                trail.events.len()
            )));
        };
        let mut stop = self.debugger.goto(at.cycle);
        if let Some(place) = at.place {
            stop.thread = Thread {
                me: place.me,
                context: place.context,
            };
            self.debugger.select(stop.thread)?;
        }
        Ok(self.arrived(stop))
    }

    fn context(&mut self) -> Result<Reply, DebugError> {
        let thread = self.rest.parse()?;
        self.debugger.select(thread)?;
        Ok(Reply::lines(show::where_text(self.debugger, thread)))
    }

    fn check(&mut self, passes: bool) -> Result<Reply, DebugError> {
        let check: Check = self.rest.parse().map_err(DebugError::new)?;
        let mut allowed = self.debugger.allowed().to_vec();
        allowed.retain(|it| *it != check);
        if passes {
            allowed.push(check);
        }
        self.debugger.allow(&allowed);
        let does = if passes { "passes" } else { "stops the run" };
        Ok(Reply::line(format!("{check} {does}")))
    }

    fn by_number(&mut self, verb: Verb) -> Result<Reply, DebugError> {
        let id = self.rest.parse().map_err(|_| {
            DebugError::new(format!("`{}` is not a number", self.rest))
                .help("`breakpoints` lists them with their numbers")
        })?;
        let done = match verb {
            Verb::Delete => self.debugger.remove(id).map(|()| "is gone"),
            Verb::Enable => self.debugger.enable(id, true).map(|()| "is enabled"),
            _ => self.debugger.enable(id, false).map(|()| "is disabled"),
        }?;
        Ok(Reply {
            breakpoints: true,
            ..Reply::line(format!("{id} {done}"))
        })
    }

    fn breakpoints(&self) -> Reply {
        let points = self.debugger.breakpoints();
        if points.is_empty() {
            return Reply::line("there are none");
        }
        Reply::lines(points.iter().map(show::breakpoint_text).collect())
    }

    fn added(&mut self, point: Breakpoint) -> Result<Reply, DebugError> {
        let id = self.debugger.add(point)?;
        let points = self.debugger.breakpoints();
        let point = points.iter().find(|it| it.id == id);
        Ok(Reply {
            breakpoints: true,
            ..Reply::lines(point.map(show::breakpoint_text).into_iter().collect())
        })
    }

    fn set_break(&mut self, say: Option<&str>) -> Result<Reply, DebugError> {
        let asked: BreakpointText = self.rest.parse()?;
        let point = asked.breakpoint(self.debugger, say)?;
        self.added(point)
    }

    fn log(&mut self) -> Result<Reply, DebugError> {
        let (before, say) = self.rest.split_once(" say ").ok_or_else(|| {
            DebugError::new("`log` needs a text to say")
                .help("write `log 46 say got {bytes} bytes`")
        })?;
        self.rest = before;
        self.set_break(Some(say))
    }

    fn watch(&mut self, access: Access) -> Result<Reply, DebugError> {
        let asked = BreakpointText::of(self.rest, access == Access::Change)?;
        let point = asked.watchpoint(self.debugger, access)?;
        self.added(point)
    }

    fn wake(&mut self) -> Result<Reply, DebugError> {
        let thread = self.thread()?;
        if thread.is_core() {
            return Err(
                DebugError::new("`wake` applies only to contexts of microengines")
                    .help("`step` goes to the core's next instruction, whenever that is"),
            );
        }
        let (woken, stop) = self.debugger.wake(thread)?;
        let mut lines = match &woken {
            None if stop.reason == StopCause::Interrupted => vec![format!(
                "interrupted: nothing wakes {thread} before cycle {}; later cycles were not searched",
                self.debugger.cycle()
            )],
            None => vec![format!("nothing wakes {thread} before the run ends")],
            Some(woken) => show::woken_text(self.debugger, thread, woken),
        };
        let answer = self.arrived(stop);
        lines.extend(answer.lines.clone());
        Ok(Reply { lines, ..answer })
    }

    fn who(&mut self, default: u32, oldest_first: bool) -> Result<Reply, DebugError> {
        let (text, count) = last_count(self.rest, default);
        if text.is_empty() {
            return Err(
                DebugError::new("`who` needs the name of what was written or raised")
                    .help("name a register, a signal or a longword such as `scratch[0x100]`"),
            );
        }
        let thread = self.debugger.thread();
        let mut attributed = self.debugger.who(text, thread, count as usize)?;
        if attributed.is_empty() {
            return Ok(Reply::line(format!(
                "nothing has written or raised `{text}` from the beginning of the run to cycle {}",
                self.debugger.cycle()
            )));
        }
        if oldest_first {
            attributed.reverse();
        }
        let lines = attributed
            .iter()
            .map(|attribution| show::event_text(self.debugger, attribution));
        Ok(Reply::lines(lines.collect()))
    }

    fn packet(&mut self) -> Result<Reply, DebugError> {
        let number = self.rest.parse().map_err(|_| {
            DebugError::new(format!("`{}` is not a packet number", self.rest))
                .help("packets are numbered from 0 as they arrive")
        })?;
        let trail = self.debugger.packet(number)?;
        Ok(Reply::lines(show::trail_text(self.debugger, &trail)))
    }

    fn buffer(&mut self) -> Result<Reply, DebugError> {
        let thread = self.debugger.thread();
        let handle = self.debugger.evaluate(self.rest, thread)? as u32;
        let view = self.debugger.buffer(handle, 2);
        Ok(Reply::lines(show::buffer_text(self.debugger, &view)))
    }

    fn set(&mut self) -> Result<Reply, DebugError> {
        let (what, value) = self
            .rest
            .split_once('=')
            .ok_or_else(|| DebugError::new("there is no `=`").help("write `set bytes = 64`"))?;
        let thread = self.debugger.thread();
        let value = self.debugger.evaluate_word(value, thread)?;
        self.debugger.set(what.trim(), value, thread)?;
        Ok(Reply::line(format!(
            "{} = {value} ({value:#x}); from cycle {} on the run is a different one",
            what.trim(),
            self.debugger.cycle()
        )))
    }

    fn help(&self) -> Result<Reply, DebugError> {
        match self.rest {
            "" => Ok(Reply::lines(show::help_text(self.debugger.ends()))),
            "expressions" => Ok(Reply::lines(show::expressions_text())),
            word => find(word, self.debugger.ends())
                .map(|info| Reply::lines(show::command_text(info)))
                .map_err(|_| {
                    let names = commands(self.debugger.ends()).map(|it| it.name);
                    DebugError::new(format!("there is no command `{word}`")).or_similar(word, names)
                }),
        }
    }
}
