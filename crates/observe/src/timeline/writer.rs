//! Trace events as text, one a line, in the JSON object format of Chrome's
//! tracing. Times are microseconds with three decimals, nanoseconds rounded
//! down; slices of a track never overlap.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};

use npsim_chip::Cycle;

use super::tracks::{Group, Track};

/// How a flow goes on at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowStep {
    Start,
    Through,
    End,
}

/// Writes trace events of a window of time.
#[derive(Debug)]
pub(super) struct Writer<W> {
    out: W,
    failure: Option<io::Error>,
    hertz: u64,
    from: Cycle,
    until: Cycle,
    /// Until when each track is taken.
    taken: BTreeMap<Track, Cycle>,
    named: BTreeSet<Group>,
    /// What the project calls things.
    titles: Titles,
    line: String,
    first: bool,
}

/// What things are called whose number alone does not tell.
#[derive(Debug, Default)]
pub(super) struct Titles {
    /// The microengines' groups.
    pub microengines: Vec<String>,
    /// The tracks of locks.
    pub locks: Vec<String>,
    /// The tracks of the core's tasks.
    pub tasks: Vec<&'static str>,
    /// What disturbs the run, if anything.
    pub disturbed: Option<String>,
}

/// The arguments of an event: the inside of a JSON object.
#[derive(Debug, Default)]
pub(super) struct Arguments(String);

impl Arguments {
    pub fn text(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        quote(value, &mut self.0);
        self
    }

    pub fn number(mut self, name: &str, value: impl Into<u64>) -> Self {
        self.name(name);
        // Writing to a String cannot fail.
        let _ = write!(self.0, "{}", value.into());
        self
    }

    fn signed(mut self, name: &str, value: i64) -> Self {
        self.name(name);
        let _ = write!(self.0, "{value}");
        self
    }

    fn name(&mut self, name: &str) {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        quote(name, &mut self.0);
        self.0.push(':');
    }
}

/// A JSON string.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            letter if u32::from(letter) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
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
            taken: BTreeMap::new(),
            named: BTreeSet::new(),
            titles,
            line: String::new(),
            first: true,
        };
        let mut about = Arguments::default()
            .text("made by", "npsim")
            .text("project", name)
            .number("hertz", hertz)
            .number("from cycle", from)
            .number("until cycle", until);
        if let Some(disturbed) = disturbed {
            about = about.text("disturbed", &disturbed);
        }
        let _ = write!(
            writer.line,
            "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{{}}},\"traceEvents\":[",
            about.0
        );
        writer.put();
        writer
    }

    /// Whether a time is shown.
    pub fn shows(&self, at: Cycle) -> bool {
        (self.from..self.until).contains(&at)
    }

    /// Whether any of a stretch is shown.
    pub fn overlaps(&self, from: Cycle, until: Cycle) -> bool {
        from < self.until && until > self.from
    }

    /// Shows nothing from a cycle on.
    pub fn cut(&mut self, until: Cycle) {
        self.until = self.until.min(until);
    }

    /// Writes the line that was made.
    fn put(&mut self) {
        if self.failure.is_none()
            && let Err(error) = self.out.write_all(self.line.as_bytes())
        {
            self.failure = Some(error);
        }
        self.line.clear();
    }

    fn begin(&mut self, phase: char) {
        self.line.push_str(if self.first { "\n" } else { ",\n" });
        self.first = false;
        let _ = write!(self.line, "{{\"ph\":\"{phase}\"");
    }

    fn end(&mut self) {
        self.line.push('}');
        self.put();
    }

    /// Nanoseconds of a cycle, rounded down.
    fn nanoseconds(&self, at: Cycle) -> u64 {
        (u128::from(at) * 1_000_000_000 / u128::from(self.hertz.max(1))) as u64
    }

    fn time(&mut self, ns: u64) {
        let _ = write!(self.line, ",\"ts\":{}.{:03}", ns / 1000, ns % 1000);
    }

    fn about(&mut self, pid: u32, tid: Option<u32>, what: &str, name: &str) {
        self.begin('M');
        let _ = write!(self.line, ",\"pid\":{pid}");
        if let Some(tid) = tid {
            let _ = write!(self.line, ",\"tid\":{tid}");
        }
        let _ = write!(self.line, ",\"name\":\"{what}_name\",\"args\":{{\"name\":");
        quote(name, &mut self.line);
        self.line.push('}');
        self.end();
        self.begin('M');
        let _ = write!(self.line, ",\"pid\":{pid}");
        if let Some(tid) = tid {
            let _ = write!(self.line, ",\"tid\":{tid}");
        }
        let _ = write!(
            self.line,
            ",\"name\":\"{what}_sort_index\",\"args\":{{\"sort_index\":{}}}",
            tid.unwrap_or(pid)
        );
        self.end();
    }

    fn name_group(&mut self, group: Group) {
        if self.named.insert(group) {
            let name = match group {
                Group::Microengine(me) => self
                    .titles
                    .microengines
                    .get(usize::from(me))
                    .cloned()
                    .unwrap_or_default(),
                group => group.name().unwrap_or_default().to_owned(),
            };
            self.about(group.pid(), None, "process", &name);
        }
    }

    fn name_track(&mut self, track: Track) {
        if let std::collections::btree_map::Entry::Vacant(entry) = self.taken.entry(track) {
            entry.insert(0);
            self.name_group(track.group());
            let pid = track.group().pid();
            let title = match track {
                Track::Lock(lock) => self.titles.locks.get(usize::from(lock)).cloned(),
                Track::Core(task) => {
                    let name = self.titles.tasks.get(usize::from(task));
                    name.map(|name| format!("task {name}"))
                }
                _ => None,
            };
            let name = title.unwrap_or_else(|| track.name());
            self.about(pid, Some(track.tid()), "thread", &name);
        }
    }

    fn place(&mut self, track: Track) {
        let (pid, tid) = (track.group().pid(), track.tid());
        let _ = write!(self.line, ",\"pid\":{pid},\"tid\":{tid}");
    }

    fn called(&mut self, name: &str, arguments: &Arguments) {
        self.line.push_str(",\"name\":");
        quote(name, &mut self.line);
        if !arguments.0.is_empty() {
            let _ = write!(self.line, ",\"args\":{{{}}}", arguments.0);
        }
    }

    /// What a track does from one cycle to another, as much of it as is shown;
    /// what takes no time is a mark.
    pub fn slice(
        &mut self,
        track: Track,
        name: &str,
        (from, until): (Cycle, Cycle),
        arguments: impl FnOnce() -> Arguments,
    ) {
        if from >= until {
            if self.shows(from) {
                self.mark(track, name, from, &arguments());
            }
            return;
        }
        if !self.overlaps(from, until) {
            return;
        }
        let taken = self.taken.get(&track).copied().unwrap_or(0);
        let (from, until) = (from.max(self.from).max(taken), until.min(self.until));
        if from >= until {
            return;
        }
        self.name_track(track);
        self.taken.insert(track, until);
        let (begin, end) = (self.nanoseconds(from), self.nanoseconds(until));
        // A beginning and an end, not a whole with its length: the end of a slice
        // and the beginning of the next are then the same text, and the same
        // time to any reader, however it rounds.
        self.begin('B');
        self.place(track);
        self.time(begin);
        self.called(name, &arguments());
        self.end();
        self.begin('E');
        self.place(track);
        self.time(end);
        self.end();
    }

    /// Something that takes no time.
    pub fn mark(&mut self, track: Track, name: &str, at: Cycle, arguments: &Arguments) {
        if !self.shows(at) {
            return;
        }
        self.name_track(track);
        let ns = self.nanoseconds(at);
        self.begin('i');
        self.place(track);
        self.time(ns);
        self.line.push_str(",\"s\":\"t\"");
        self.called(name, arguments);
        self.end();
    }

    /// A number that changes.
    pub fn counter(&mut self, group: Group, name: &str, at: Cycle, value: i64) {
        if !self.shows(at) {
            return;
        }
        self.name_group(group);
        let ns = self.nanoseconds(at);
        self.begin('C');
        let _ = write!(self.line, ",\"pid\":{}", group.pid());
        self.time(ns);
        self.called(name, &Arguments::default().signed("value", value));
        self.end();
    }

    /// A point of a packet's way, on a slice of a track.
    pub fn flow(&mut self, step: FlowStep, frame: u64, track: Track, at: Cycle) {
        let phase = match step {
            FlowStep::Start => 's',
            FlowStep::Through => 't',
            FlowStep::End => 'f',
        };
        let ns = self.nanoseconds(at);
        self.begin(phase);
        let _ = write!(self.line, ",\"id\":{frame}");
        self.place(track);
        self.time(ns);
        self.line
            .push_str(",\"cat\":\"packet\",\"name\":\"packet\",\"bp\":\"e\"");
        self.end();
    }

    /// Ends the text and gives back what it was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.line.push_str("\n]}\n");
        self.put();
        match self.failure {
            Some(error) => Err(error),
            None => Ok(self.out),
        }
    }
}
