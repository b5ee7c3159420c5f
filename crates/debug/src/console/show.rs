//! Answers as lines of text; identical runs give identical lines.

use std::fmt::Write as _;

use npsim_chip::Cycle;
use npsim_chip::core::signal_name_at;
use npsim_inspect::BufferHolder;
use npsim_inspect::Inspect;

use super::Sources;
use super::table::{CommandGroup, ConsoleCommand, commands};
use crate::breakpoints::{Breakpoint, BreakpointKind};
use crate::core::CoreView;
use crate::debugger::{Debugger, Stop};
use crate::questions::{AttributedEvent, BufferView, PacketTrail, Wakeup};
use crate::source::SourceFrame;
use crate::thread::Thread;
use crate::view::{self, ContextActivity, StopReason};

/// Source lines shown before and after the current one.
const AROUND: u32 = 4;

/// A cycle as time: `20.575us`.
#[must_use]
pub fn time_text(cycle: Cycle, hertz: u64) -> String {
    let ps = u128::from(cycle) * 1_000_000_000_000 / u128::from(hertz.max(1));
    format!("{}.{:03}us", ps / 1_000_000, ps / 1000 % 1000)
}

fn cycle_text(debugger: &Debugger, cycle: Cycle) -> String {
    let time = time_text(cycle, debugger.timeline().hertz());
    format!("cycle {cycle} ({time})")
}

fn reason_text(reason: &StopReason) -> Vec<String> {
    match reason {
        StopReason::Entry | StopReason::Step | StopReason::Goto => Vec::new(),
        StopReason::Beginning => vec!["the beginning of the run".to_owned()],
        StopReason::Interrupted => vec!["interrupted".to_owned()],
        StopReason::End { text } => vec![text.clone()],
        StopReason::Fault {
            name,
            message,
            notes,
            help,
        } => {
            let mut lines = vec![format!("{name}: {message}")];
            lines.extend(notes.iter().map(|note| format!("  note: {note}")));
            lines.extend(help.iter().map(|help| format!("  help: {help}")));
            lines
        }
        StopReason::Breakpoint { hits } => hits.iter().map(hit_text).collect(),
    }
}

/// Describes a hit breakpoint and its details.
fn hit_text(hit: &view::Hit) -> String {
    let mut text = format!("{}: {}", hit.number, hit.title);
    if let Some((before, now)) = hit.change {
        let _ = write!(
            text,
            " changed from {before} ({before:#x}) to {now} ({now:#x})"
        );
    }
    if !hit.by.is_empty() {
        let _ = write!(text, ", {}", hit.by.join(" and "));
    }
    if let Some(failure) = &hit.failure {
        let _ = write!(text, ": it cannot be computed here, {failure}");
    }
    text
}

/// Describes where the run has stopped and why, with the source line.
#[must_use]
pub fn stop_text(debugger: &Debugger, stop: &Stop, sources: Sources<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for said in &stop.said {
        let place = said.place.map(|it| format!(" {}.{}", it.me, it.context));
        let cycle = said.moment.cycle;
        lines.push(format!(
            "[{cycle}{}] {}",
            place.unwrap_or_default(),
            said.text
        ));
    }
    lines.extend(reason_text(&view::reason(debugger, &stop.reason)));
    lines.push(cycle_text(debugger, debugger.cycle()));
    let thread = debugger.thread();
    lines.push(header(debugger, thread));
    if let Some(frame) = debugger.frames(thread).first() {
        let (file, line) = (frame.file.as_str(), frame.line);
        lines.extend(source_lines(sources, file, line, 0));
    }
    lines
}

/// Describes the core and the position of its program.
fn core_text(core: &CoreView<'_>) -> String {
    format!(
        "core {} {} at {}, {} mode",
        core.name(),
        core.doing(),
        core.place(core.cpu().pc()),
        core.mode()
    )
}

/// Describes a context and its current line.
fn header(debugger: &Debugger, thread: Thread) -> String {
    if thread.is_core()
        && let Some(core) = debugger.core()
    {
        return core_text(&core);
    }
    let frames = debugger.frames(thread);
    let more = if thread == debugger.thread() && debugger.has_closed_macros() {
        ", before a macro"
    } else {
        ""
    };
    let at = frames.first().map_or_else(String::new, |frame| {
        let inside = if frames.len() > 1 {
            format!(" in {}", frame.name)
        } else {
            String::new()
        };
        format!("{}:{}{inside}", frame.file, frame.line)
    });
    format!(
        "{thread} {} {} at {at} (address {}){more}",
        debugger.stage(thread.me),
        doing(debugger, thread),
        debugger.pc(thread)
    )
}

/// A context's state in a word or two.
fn doing(debugger: &Debugger, thread: Thread) -> String {
    match ContextActivity::of(debugger.chip(), thread) {
        None => "absent".to_owned(),
        Some(ContextActivity::Inactive) => "inactive".to_owned(),
        Some(ContextActivity::Ready) => "ready".to_owned(),
        Some(ContextActivity::Executing) => "executing".to_owned(),
        Some(ContextActivity::Killed) => "killed".to_owned(),
        Some(ContextActivity::Waiting { missing, any }) => {
            let joint = if any { " or " } else { " and " };
            format!("waiting for {}", missing.join(joint))
        }
    }
}

/// A source line with `around` lines on either side, if the source is available.
#[must_use]
pub fn source_lines(sources: Sources<'_>, file: &str, line: u32, around: u32) -> Vec<String> {
    let Some(text) = sources(file) else {
        return Vec::new();
    };
    let first = line.saturating_sub(around).max(1);
    let last = line.saturating_add(around);
    let numbered = (1..).zip(text.lines());
    let shown = numbered.filter(|(number, _)| (first..=last).contains(number));
    shown
        .map(|(number, text)| {
            let mark = if number == line && around > 0 {
                ">"
            } else {
                " "
            };
            format!("{mark}{number:>5}  {}", text.trim_end())
        })
        .collect()
}

/// The source around a line, for the `list` command.
pub(super) fn listed(sources: Sources<'_>, file: &str, line: u32) -> Vec<String> {
    source_lines(sources, file, line, AROUND)
}

fn frame_text(frame: &SourceFrame) -> String {
    let arguments: Vec<_> = frame
        .arguments
        .iter()
        .map(|it| format!("{}={}", it.0, it.1))
        .collect();
    let arguments = match arguments.len() {
        0 => String::new(),
        _ => format!("({})", arguments.join(", ")),
    };
    format!("{}:{} {}{arguments}", frame.file, frame.line, frame.name)
}

/// A context with all its frames.
pub(super) fn where_text(debugger: &Debugger, thread: Thread) -> Vec<String> {
    let mut lines = vec![header(debugger, thread)];
    if thread.is_core()
        && let Some(core) = debugger.core()
    {
        // Bit 0 indicates Thumb state.
        let caller = core.place(core.cpu().register(14) & !1);
        lines.push(format!("  the link register leads to {caller}"));
        return lines;
    }
    for (number, frame) in debugger.frames(thread).iter().enumerate() {
        lines.push(format!("  #{number} {}", frame_text(frame)));
    }
    lines.extend(defer_text(debugger, thread));
    lines
}

/// Describes whose defer slots the next instructions of a context are.
fn defer_text(debugger: &Debugger, thread: Thread) -> Option<String> {
    let inspect = Inspect::new(debugger.chip());
    let view = inspect.microengine(thread.me)?;
    if view.executing() != Some(thread.context) {
        return None;
    }
    let slots = view.defer_slots()?;
    let left = match slots.left {
        1 => "the last defer slot".to_owned(),
        left => format!("{left} more defer slots"),
    };
    let then = match (slots.swaps, slots.then) {
        (false, None) => "what follows them".to_owned(),
        (false, Some(to)) => format!("address {to}"),
        (true, None) => "the swap".to_owned(),
        (true, Some(to)) => format!("the swap, and from address {to} on"),
    };
    Some(format!(
        "  {left} of the instruction at address {}, then {then}",
        slots.of
    ))
}

/// One line per context.
pub(super) fn contexts_text(debugger: &Debugger, me: Option<u8>) -> Vec<String> {
    let threads = debugger.threads();
    let those = threads
        .iter()
        .filter(|it| me.is_none_or(|me| me == it.thread.me));
    let core = debugger.core().filter(|_| me.is_none()).map(|core| {
        let selected = debugger.thread().is_core();
        format!("{} {}", if selected { ">" } else { " " }, core_text(&core))
    });
    those
        .map(|it| {
            let mark = if it.thread == debugger.thread() {
                ">"
            } else {
                " "
            };
            let place = debugger.frames(it.thread);
            let at = place
                .first()
                .map_or_else(String::new, |it| format!("{}:{}", it.file, it.line));
            let (stage, doing) = (&it.stage, doing(debugger, it.thread));
            format!(
                "{mark} {} {stage} {doing}, at {at}, since cycle {}",
                it.thread, it.view.since
            )
        })
        .chain(core)
        .collect()
}

/// Describes the holder of an RBUF element; `None` if it is free.
#[must_use]
pub fn holder_text(holder: BufferHolder) -> Option<String> {
    Some(match holder {
        BufferHolder::Withheld | BufferHolder::Pool => return None,
        BufferHolder::Filling => "is being filled".to_owned(),
        BufferHolder::Full => "waits for a thread".to_owned(),
        BufferHolder::Thread { me, context, since } => {
            format!("is with {me}.{context} since cycle {since}")
        }
    })
}

/// Describes a breakpoint in one line.
pub(super) fn breakpoint_text(point: &Breakpoint) -> String {
    let mut text = format!("{}: ", point.id);
    if !point.enabled {
        text += "(disabled) ";
    }
    text += match (&point.what, &point.log) {
        (BreakpointKind::Watch { .. } | BreakpointKind::CoreWord(_), _) => "watch ",
        (_, Some(_)) => "log ",
        _ => "break ",
    };
    text += &point.title;
    if let BreakpointKind::Code(places) = &point.what {
        let count = places.len();
        let _ = write!(text, ", {count} place{}", if count == 1 { "" } else { "s" });
    }
    if let BreakpointKind::Core(_) | BreakpointKind::CoreWord(_) = &point.what {
        text += " of the core";
    }
    if let BreakpointKind::Watch { thread, .. } = &point.what {
        let _ = write!(text, " of {thread}");
    }
    if !point.threads.is_empty() {
        let threads: Vec<_> = point.threads.iter().map(ToString::to_string).collect();
        let _ = write!(text, ", in {}", threads.join(", "));
    }
    if let Some(hits) = &point.hits {
        let _ = write!(text, ", hit {hits}");
    }
    if let Some(condition) = &point.condition {
        let _ = write!(text, ", if {condition}");
    }
    if let Some(log) = &point.log {
        let _ = write!(text, ", say {log}");
    }
    if let Some(limitation) = point.limitation() {
        let _ = write!(text, "; {limitation}");
    }
    text
}

pub(super) fn woken_text(debugger: &Debugger, thread: Thread, woken: &Wakeup) -> Vec<String> {
    let slept = woken.at - woken.since;
    let mut lines = vec![format!(
        "{thread} wakes in cycle {} after {slept} cycles",
        woken.at
    )];
    let pc = debugger.pc(thread);
    for (cycle, signals, cause) in &woken.signals {
        let come = (1..16).filter(|signal| signals >> signal & 1 == 1);
        let names: Vec<_> = { debugger.image(thread.me).into_iter() }
            .flat_map(|image| come.clone().map(move |it| signal_name_at(image, it, pc)))
            .collect();
        let names = names.join(" and ");
        let cause = debugger.cause_text(*cause);
        lines.push(format!("  {names} in cycle {cycle}, from {cause}"));
    }
    lines
}

pub(super) fn event_text(debugger: &Debugger, attribution: &AttributedEvent) -> String {
    let by = attribution
        .place
        .map(|place| format!(" by {}", debugger.place_text(place)));
    let value = attribution
        .value
        .map(|value| format!(": {value} ({value:#x})"));
    format!(
        "{}{}, {}{}",
        cycle_text(debugger, attribution.cycle),
        value.unwrap_or_default(),
        attribution.what,
        by.unwrap_or_default()
    )
}

pub(super) fn trail_text(debugger: &Debugger, trail: &PacketTrail) -> Vec<String> {
    let mut lines = vec![format!("packet {}", trail.packet)];
    for (number, event) in trail.events.iter().enumerate() {
        let by = event
            .place
            .map(|place| format!(", {}", debugger.place_text(place)));
        let time = cycle_text(debugger, event.cycle);
        let by = by.unwrap_or_default();
        lines.push(format!("  @{number} {time}: {}{by}", event.what));
    }
    if !trail.over {
        lines.push(format!(
            "  it has not left, and nothing more was seen of it before cycle {}",
            trail.until
        ));
    }
    lines
}

pub(super) fn buffer_text(debugger: &Debugger, view: &BufferView) -> Vec<String> {
    let number = match view.number {
        Some(number) => format!("packet buffer {number}"),
        None => "no packet buffer of the project".to_owned(),
    };
    let mut lines = vec![format!("handle {:#x}, {number}", view.handle)];
    for held in &view.held {
        let by = held
            .place
            .map(|place| format!(", {}", debugger.place_text(place)));
        lines.push(format!("  now {}{}", held.what, by.unwrap_or_default()));
    }
    if view.held.is_empty() {
        lines.push(
            "  no ring, queue, command in flight or register with a name has it now; memories and tasks of the core were not searched"
                .to_owned(),
        );
    }
    for attribution in &view.carried {
        lines.push(format!(
            "  carried in {}",
            event_text(debugger, attribution)
        ));
    }
    lines
}

pub(super) fn help_text(ends: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for group in CommandGroup::ALL {
        lines.push(format!("{}:", group.title()));
        for info in commands(ends).filter(|it| it.group == group) {
            let short = info.aliases.first().map(|it| format!(" ({it})"));
            let name = format!("{}{}", info.name, short.unwrap_or_default());
            lines.push(format!("  {name:<18} {}", info.help));
        }
    }
    lines.push(
        "`help COMMAND` shows arguments and an example, `help expressions` what can be written"
            .to_owned(),
    );
    lines
}

pub(super) fn command_text(info: &ConsoleCommand) -> Vec<String> {
    let mut lines = vec![
        format!("{} {}", info.name, info.arguments)
            .trim_end()
            .to_owned(),
    ];
    if !info.aliases.is_empty() {
        lines.push(format!("  short: {}", info.aliases.join(", ")));
    }
    lines.push(format!("  {}", info.help));
    lines.push(format!("  example: {}", info.example));
    lines
}

pub(super) fn expressions_text() -> Vec<String> {
    [
        "bytes > 64 && port == 2       names that are live where the context is, and operators as in C",
        "$3  $$0  out($3)  a4  @b7     registers by number; out(..) is the OUT side",
        "scratch[64]  sram0[0x100]     longwords by byte address; also dram[..], lm[..]",
        "ROUTES[8]  scratch[COUNTERS]  memories by the project's names",
        "ring(RX).fill  queue(FREE).count  signal(done)  cam(3).tag  csr(T_INDEX)",
        "cycle  packet  me  context  pc",
        "Values have 32 bits and no sign.",
    ]
    .map(str::to_owned)
    .to_vec()
}
