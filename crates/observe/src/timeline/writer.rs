//! Trace events as text, one per line, in the JSON object format of Chrome's
//! tracing. Times are microseconds with three decimals, rounded down to
//! nanoseconds; slices of a track never overlap.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use npsim_chip::Cycle;

use super::tracks::{Track, TrackGroup};

/// How a flow continues at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowStep {
    Start,
    Through,
    End,
}

/// Writes the trace events in a window of time.
#[derive(Debug)]
pub(super) struct Writer<W> {
    out: W,
    failure: Option<io::Error>,
    hertz: u64,
    from: Cycle,
    until: Cycle,
    /// The tracks with content, by number.
    taken: Vec<Option<Taken>>,
    named: BTreeSet<TrackGroup>,
    /// The project's names.
    titles: Titles,
    /// The chip that the part is for, if there are several.
    part: ChipPart,
    /// Text that is not flushed yet.
    line: Vec<u8>,
    first: bool,
}

/// The part of a timeline for one chip among several.
#[derive(Clone, Debug, Default)]
pub(super) struct ChipPart {
    /// Added to the numbers of its groups; 0 if it is the only one.
    pub base: u32,
    /// Prefix of the names of its groups.
    pub before: String,
}

/// Names of things that a number alone does not identify.
#[derive(Debug, Default)]
pub(super) struct Titles {
    /// The microengines' groups.
    pub microengines: Vec<String>,
    /// The tracks of locks.
    pub locks: Vec<String>,
    /// The tracks of the core's tasks.
    pub tasks: Vec<&'static str>,
    /// The tracks of the functions of tasks' programs.
    pub programs: BTreeMap<u16, String>,
    /// The tracks of flows.
    pub flows: Vec<String>,
    /// A description of deliberate disturbances of the run, if any.
    pub disturbed: Option<String>,
}

/// Bytes that are buffered before they are flushed.
const GATHERED: usize = 1 << 16;

/// The arguments of an event, written as they are added.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    out: &'a mut Vec<u8>,
    any: bool,
}

impl Arguments<'_> {
    /// Adds a text.
    pub fn text(&mut self, name: &'static str, value: &str) {
        self.name(name);
        quote(value, self.out);
    }

    /// Adds a text from [`quoted`].
    pub fn quoted(&mut self, name: &'static str, value: &[u8]) {
        self.name(name);
        self.out.extend_from_slice(value);
    }

    pub fn number(&mut self, name: &'static str, value: impl Into<u64>) {
        self.name(name);
        digits(value.into(), self.out);
    }

    fn signed(&mut self, name: &'static str, value: i64) {
        self.name(name);
        if value < 0 {
            self.out.push(b'-');
        }
        digits(value.unsigned_abs(), self.out);
    }

    /// Begins an argument; `name` must need no escapes.
    fn name(&mut self, name: &'static str) {
        let before: &[u8] = if self.any { b",\"" } else { b",\"args\":{\"" };
        self.any = true;
        self.out.extend_from_slice(before);
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    fn end(self) {
        if self.any {
            self.out.push(b'}');
        }
    }
}

/// A text as a JSON string, for text that is written repeatedly.
pub(super) fn quoted(text: &str) -> Box<[u8]> {
    let mut out = Vec::with_capacity(text.len() + 2);
    quote(text, &mut out);
    out.into()
}

/// Appends a JSON string.
fn quote(text: &str, out: &mut Vec<u8>) {
    let escapes = |letter: u8| letter < 0x20 || letter == b'"' || letter == b'\\';
    out.push(b'"');
    // All bytes are checked, without an early exit, so that the compiler can vectorise the loop.
    if text.bytes().fold(false, |any, it| any | escapes(it)) {
        for letter in text.bytes() {
            match letter {
                b'"' => out.extend_from_slice(b"\\\""),
                b'\\' => out.extend_from_slice(b"\\\\"),
                letter if letter < 0x20 => {
                    // Writing to a vector cannot fail.
                    let _ = write!(out, "\\u{letter:04x}");
                }
                letter => out.push(letter),
            }
        }
    } else {
        out.extend_from_slice(text.as_bytes());
    }
    out.push(b'"');
}

/// Appends a number in decimal digits.
fn digits(mut number: u64, out: &mut Vec<u8>) {
    let mut text = [0; 20];
    let mut at = text.len();
    loop {
        at -= 1;
        text[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&text[at..]);
}

/// What is known about a track with content.
#[derive(Debug)]
struct Taken {
    /// End of the content so far.
    until: Cycle,
    /// The group and track numbers, as written in each event.
    place: Box<[u8]>,
}

fn place(pid: u32, tid: u32) -> Box<[u8]> {
    format!(",\"pid\":{pid},\"tid\":{tid}").into_bytes().into()
}

impl<W: Write> Writer<W> {
    pub fn new(
        out: W,
        name: &str,
        hertz: u64,
        (from, until): (Cycle, Cycle),
        titles: Titles,
    ) -> Self {
        let disturbed = titles.disturbed.clone();
        let mut writer = Self {
            out,
            failure: None,
            hertz,
            from,
            until,
            taken: Vec::new(),
            named: BTreeSet::new(),
            titles,
            part: ChipPart::default(),
            line: Vec::with_capacity(GATHERED + GATHERED / 4),
            first: true,
        };
        writer
            .line
            .extend_from_slice(b"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"made by\":\"npsim\"");
        // The arguments continue an object that is already open.
        let mut about = Arguments {
            out: &mut writer.line,
            any: true,
        };
        about.text("project", name);
        about.number("hertz", hertz);
        about.number("from cycle", from);
        about.number("until cycle", until);
        if let Some(disturbed) = &disturbed {
            about.text("disturbed", disturbed);
        }
        about.end();
        writer.line.extend_from_slice(b",\"traceEvents\":[");
        writer
    }

    /// Writes no text of its own, only events to append to others, for one chip among several.
    pub fn into_part(mut self, part: ChipPart) -> Self {
        self.line.clear();
        self.first = false;
        self.part = part;
        self
    }

    /// Flushes the buffered text and returns the output.
    pub fn handed_on(&mut self) -> &mut W {
        self.put();
        &mut self.out
    }

    /// Names a group before it has any content.
    pub fn begin_group(&mut self, group: TrackGroup) {
        self.name_group(group);
    }

    /// Whether a cycle is shown.
    pub fn shows(&self, at: Cycle) -> bool {
        (self.from..self.until).contains(&at)
    }

    /// Whether any part of a stretch is shown.
    pub fn overlaps(&self, from: Cycle, until: Cycle) -> bool {
        from < self.until && until > self.from
    }

    /// Shows nothing from a cycle on.
    pub fn cut(&mut self, until: Cycle) {
        self.until = self.until.min(until);
    }

    /// The first cycle shown.
    pub const fn from(&self) -> Cycle {
        self.from
    }

    /// The first cycle not shown.
    pub const fn until(&self) -> Cycle {
        self.until
    }

    /// Flushes the buffered text.
    fn put(&mut self) {
        if self.failure.is_none()
            && let Err(error) = self.out.write_all(&self.line)
        {
            self.failure = Some(error);
        }
        self.line.clear();
    }

    fn text(&mut self, text: &str) {
        self.line.extend_from_slice(text.as_bytes());
    }

    fn begin(&mut self, phase: &str) {
        self.text(if self.first {
            "\n{\"ph\":\""
        } else {
            ",\n{\"ph\":\""
        });
        self.first = false;
        self.text(phase);
        self.line.push(b'"');
    }

    fn end(&mut self) {
        self.line.push(b'}');
        if self.line.len() >= GATHERED {
            self.put();
        }
    }

    fn time(&mut self, at: Cycle) {
        let (at, hertz) = (at, self.hertz.max(1));
        // Nanoseconds, rounded down.
        let ns = match at.checked_mul(1_000_000_000) {
            Some(scaled) => scaled / hertz,
            None => (u128::from(at) * 1_000_000_000 / u128::from(hertz)) as u64,
        };
        self.text(",\"ts\":");
        digits(ns / 1000, &mut self.line);
        let rest = (ns % 1000) as u16;
        let digit = |number: u16| b'0' + (number % 10) as u8;
        let rest = [b'.', digit(rest / 100), digit(rest / 10), digit(rest)];
        self.line.extend_from_slice(&rest);
    }

    /// The number of a group, or of a track, unique across all chips.
    const fn numbered(&self, pid: u32, tid: u32) -> (u32, u32) {
        (pid + self.part.base, tid + self.part.base * 1000)
    }

    fn about(&mut self, pid: u32, tid: Option<u32>, what: &str, name: &str) {
        let (pid, numbered) = self.numbered(pid, tid.unwrap_or(0));
        let tid = tid.map(|_| numbered);
        let place = match tid {
            Some(tid) => format!(",\"pid\":{pid},\"tid\":{tid}"),
            None => format!(",\"pid\":{pid}"),
        };
        self.begin("M");
        self.text(&place);
        self.text(&format!(",\"name\":\"{what}_name\",\"args\":{{\"name\":"));
        quote(name, &mut self.line);
        self.line.push(b'}');
        self.end();
        self.begin("M");
        self.text(&place);
        let index = tid.unwrap_or(pid);
        self.text(&format!(
            ",\"name\":\"{what}_sort_index\",\"args\":{{\"sort_index\":{index}}}"
        ));
        self.end();
    }

    fn name_group(&mut self, group: TrackGroup) {
        if self.named.insert(group) {
            let name = match group {
                TrackGroup::Microengine(me) => self
                    .titles
                    .microengines
                    .get(usize::from(me))
                    .cloned()
                    .unwrap_or_default(),
                group => group.name().unwrap_or_default().to_owned(),
            };
            let name = self.part.before.clone() + &name;
            self.about(group.pid(), None, "process", &name);
        }
    }

    fn name_track(&mut self, track: Track) {
        let (pid, tid) = (track.group().pid(), track.tid());
        let at = tid as usize;
        if self.taken.len() <= at {
            self.taken.resize_with(at + 1, || None);
        }
        if self.taken[at].is_some() {
            return;
        }
        let (of_group, of_track) = self.numbered(pid, tid);
        self.taken[at] = Some(Taken {
            until: 0,
            place: place(of_group, of_track),
        });
        self.name_group(track.group());
        let title = match track {
            Track::Lock(lock) => self.titles.locks.get(usize::from(lock)).cloned(),
            Track::Flow(flow) => self.titles.flows.get(flow as usize).cloned(),
            Track::Core(task) => {
                let name = self.titles.tasks.get(usize::from(task));
                name.map(|name| format!("task {name}"))
            }
            Track::Functions(task) => self.titles.programs.get(&task).cloned(),
            _ => None,
        };
        let name = title.unwrap_or_else(|| track.name());
        self.about(pid, Some(tid), "thread", &name);
    }

    fn place(&mut self, track: Track) {
        let tid = track.tid();
        if let Some(Some(taken)) = self.taken.get(tid as usize) {
            self.line.extend_from_slice(&taken.place);
        } else {
            let (pid, tid) = self.numbered(track.group().pid(), tid);
            let place = place(pid, tid);
            self.line.extend_from_slice(&place);
        }
    }

    fn called(&mut self, name: &str, arguments: impl FnOnce(&mut Arguments<'_>)) {
        self.text(",\"name\":");
        quote(name, &mut self.line);
        let mut all = Arguments {
            out: &mut self.line,
            any: false,
        };
        arguments(&mut all);
        all.end();
    }

    /// Writes what a track does from one cycle to another, clipped to the
    /// window; something that takes no time becomes a mark.
    pub fn slice(
        &mut self,
        track: Track,
        name: &str,
        (from, until): (Cycle, Cycle),
        arguments: impl FnOnce(&mut Arguments<'_>),
    ) {
        if from >= until {
            if self.shows(from) {
                self.mark(track, name, from, arguments);
            }
            return;
        }
        if !self.overlaps(from, until) {
            return;
        }
        let taken = self.taken.get(track.tid() as usize);
        let taken = taken.and_then(Option::as_ref).map_or(0, |it| it.until);
        let (from, until) = (from.max(self.from).max(taken), until.min(self.until));
        if from >= until {
            return;
        }
        self.name_track(track);
        if let Some(Some(taken)) = self.taken.get_mut(track.tid() as usize) {
            taken.until = until;
        }
        // A begin and an end event instead of a complete event with a duration:
        // the end of a slice and the beginning of the next are then the same
        // text, and the same time to any reader, however it rounds.
        self.begin("B");
        self.place(track);
        self.time(from);
        self.called(name, arguments);
        self.end();
        self.begin("E");
        self.place(track);
        self.time(until);
        self.end();
    }

    /// Writes an event that takes no time.
    pub fn mark(
        &mut self,
        track: Track,
        name: &str,
        at: Cycle,
        arguments: impl FnOnce(&mut Arguments<'_>),
    ) {
        if !self.shows(at) {
            return;
        }
        self.name_track(track);
        self.begin("i");
        self.place(track);
        self.time(at);
        self.text(",\"s\":\"t\"");
        self.called(name, arguments);
        self.end();
    }

    /// Writes a number that changes.
    pub fn counter(&mut self, group: TrackGroup, name: &str, at: Cycle, value: i64) {
        if !self.shows(at) {
            return;
        }
        self.name_group(group);
        self.begin("C");
        self.text(",\"pid\":");
        digits((group.pid() + self.part.base).into(), &mut self.line);
        self.time(at);
        self.called(name, |all| all.signed("value", value));
        self.end();
    }

    /// Writes a point on a packet's path, on a slice of a track.
    pub fn flow(&mut self, step: FlowStep, frame: u64, track: Track, at: Cycle) {
        self.begin(match step {
            FlowStep::Start => "s",
            FlowStep::Through => "t",
            FlowStep::End => "f",
        });
        self.text(",\"id\":");
        // Each chip counts its frames from 0.
        let id = frame.wrapping_add(u64::from(self.part.base) << 40);
        digits(id, &mut self.line);
        self.place(track);
        self.time(at);
        self.text(",\"cat\":\"packet\",\"name\":\"packet\",\"bp\":\"e\"");
        self.end();
    }

    /// Ends the text and returns the output.
    pub fn finish(mut self) -> io::Result<W> {
        if self.part.base == 0 {
            self.text("\n]}\n");
        }
        self.put();
        match self.failure {
            Some(error) => Err(error),
            None => Ok(self.out),
        }
    }
}
