//! Requests that set breakpoints. Each replaces those that it set before.

use npsim_chip::kernel::check::Check;
use npsim_debug::breakpoints::{Access, Breakpoint, BreakpointKind};
use npsim_debug::expression::{Expression, Lvalue};
use npsim_debug::names::Memory;
use npsim_debug::{DebugError, Direction, Stop, Thread, source};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::address;
use super::arguments::{
    DataBreakpoint, DataInfo, Goto, GotoTargets, InstructionBreakpoint, Locations, SetBreakpoints,
    SetData, SetExceptions, SetInstructions, SourceBreakpoint,
};
use super::session::Session;

/// Adds the condition and the hit count to a breakpoint.
fn restricted(
    mut point: Breakpoint,
    condition: Option<&String>,
    hits: Option<&String>,
) -> Result<Breakpoint, DebugError> {
    let given = |text: Option<&String>| text.filter(|it| !it.trim().is_empty()).cloned();
    point.condition = given(condition).map(|it| it.parse()).transpose()?;
    point.hits = given(hits).map(|it| it.parse()).transpose()?;
    Ok(point)
}

/// The response for a breakpoint that could not be set.
fn unverified(complaint: &DebugError) -> Value {
    json!({ "verified": false, "message": complaint.to_string() })
}

/// Parses one breakpoint of a request.
fn read<T: DeserializeOwned>(asked: &Value) -> Result<T, DebugError> {
    T::deserialize(asked).map_err(|error| DebugError::new(format!("no such breakpoint: {error}")))
}

impl Session<'_> {
    fn replace(&mut self, group: &str) {
        for id in self.points.remove(group).unwrap_or_default() {
            // The breakpoint may have been deleted from the console.
            let _ = self.debugger.remove(id);
        }
    }

    fn add(&mut self, group: &str, point: Breakpoint) -> Result<u32, DebugError> {
        let id = self.debugger.add(point)?;
        self.points.entry(group.to_owned()).or_default().push(id);
        Ok(id)
    }

    pub(super) fn set_breakpoints(&mut self, asked: &SetBreakpoints) -> Value {
        let path = asked.source.path.as_ref().or(asked.source.name.as_ref());
        let path = path.cloned().unwrap_or_default();
        let group = format!("source {path}");
        self.replace(&group);
        let mut line = |asked| self.line(&group, &path, &read(asked)?);
        let set = |asked| match line(asked) {
            Ok((id, line)) => json!({
                "id": id, "verified": true, "line": line, "source": asked_source(&path),
            }),
            Err(complaint) => unverified(&complaint),
        };
        let set: Vec<_> = asked.breakpoints.iter().map(set).collect();
        json!({ "breakpoints": set })
    }

    fn line(
        &mut self,
        group: &str,
        path: &str,
        asked: &SourceBreakpoint,
    ) -> Result<(u32, u32), DebugError> {
        let place = format!("{path}:{}", asked.line);
        let core = self
            .debugger
            .core()
            .filter(|core| core.is_core_location(&place));
        let (point, line) = if let Some(core) = core {
            let (addresses, title) = core.addresses(&place)?;
            let line = core.place(addresses[0]).line;
            let point = Breakpoint::new(title, BreakpointKind::Core(addresses));
            (point, line.map_or(asked.line, |it| it.1))
        } else {
            let (places, file, line) = self.debugger.line(path, asked.line)?;
            let title = format!("{file}:{line}");
            let mut point = Breakpoint::new(title, BreakpointKind::Code(places));
            point.line = Some((file, line));
            (point, line)
        };
        let (condition, hits) = (asked.condition.as_ref(), asked.hit_condition.as_ref());
        let mut point = restricted(point, condition, hits)?;
        point.log = asked
            .log_message
            .as_ref()
            .map(|it| it.parse())
            .transpose()?;
        Ok((self.add(group, point)?, line))
    }

    pub(super) fn breakpoint_locations(&self, asked: &Locations) -> Value {
        let path = asked.source.path.as_ref().or(asked.source.name.as_ref());
        let last = asked.end_line.unwrap_or(asked.line);
        let mut lines = std::collections::BTreeSet::new();
        for core in self.debugger.chip().microengines() {
            let image = core.program().image();
            for file in source::files(image, path.map_or("", String::as_str)) {
                lines.extend(source::lines(image, file));
            }
        }
        let lines: Vec<_> = lines.range(asked.line..=last.max(asked.line)).collect();
        let lines: Vec<_> = lines.iter().map(|line| json!({ "line": line })).collect();
        json!({ "breakpoints": lines })
    }

    pub(super) fn set_exceptions(&mut self, asked: &SetExceptions) -> Value {
        let filters: Vec<_> = { asked.filters.iter() }
            .map(|it| it.parse::<Check>().map_err(DebugError::new))
            .collect();
        let stopping: Vec<_> = filters.iter().flatten().copied().collect();
        let passing = Check::ALL
            .iter()
            .copied()
            .filter(|it| !stopping.contains(it));
        let passing: Vec<_> = passing.collect();
        // Checks disabled by the launch stay disabled until the client makes a choice of its own.
        let all = passing.is_empty() && !self.filtered;
        if !all && passing != self.debugger.allowed() {
            self.debugger.allow(&passing);
        }
        self.filtered |= !all;
        let set: Vec<_> = { filters.iter() }
            .map(|filter| match filter {
                Ok(_) => json!({ "verified": true }),
                Err(complaint) => unverified(complaint),
            })
            .collect();
        json!({ "breakpoints": set })
    }

    /// Offers the next and the last time at which execution reaches a line, relative to now.
    pub(super) fn goto_targets(&mut self, asked: &GotoTargets) -> Result<Value, DebugError> {
        let path = asked.source.path.as_ref().or(asked.source.name.as_ref());
        let path = path.map_or("", String::as_str);
        let (places, file, line) = self.debugger.line(path, asked.line)?;
        let place = format!(
            "{}:{line}",
            file.rsplit(['/', '\\']).next().unwrap_or(&file)
        );
        self.targets.push(places);
        let number = 2 * self.targets.len() as i64;
        let target = |id, which: &str| json!({ "id": id, "label": format!("the {which} time at {place}"), "line": line });
        let targets = [target(number - 2, "next"), target(number - 1, "last")];
        Ok(json!({ "targets": targets }))
    }

    /// Goes to the time of a target, for one context.
    pub(super) fn goto(&mut self, asked: &Goto) -> Result<Stop, DebugError> {
        let thread = address::thread(asked.thread_id)?;
        self.debugger.select(thread)?;
        let target = usize::try_from(asked.target_id / 2).ok();
        let places = target.and_then(|it| self.targets.get(it)).cloned();
        let gone = || DebugError::new(format!("there is no target {}", asked.target_id));
        let direction = if asked.target_id % 2 == 0 {
            Direction::Forward
        } else {
            Direction::Back
        };
        self.debugger
            .run_to_words(places.ok_or_else(gone)?, thread, direction)
    }

    pub(super) fn set_instructions(&mut self, asked: &SetInstructions) -> Value {
        self.replace("instructions");
        let mut instruction = |asked| self.instruction(&read(asked)?);
        let set = |asked| match instruction(asked) {
            Ok((id, reference)) => json!({
                "id": id, "verified": true, "instructionReference": format!("{reference:#x}"),
            }),
            Err(complaint) => unverified(&complaint),
        };
        let set: Vec<_> = asked.breakpoints.iter().map(set).collect();
        json!({ "breakpoints": set })
    }

    fn instruction(&mut self, asked: &InstructionBreakpoint) -> Result<(u32, i64), DebugError> {
        let reference = address::address_at(&asked.instruction_reference, asked.offset)?;
        let (me, pc) = address::instruction(reference)?;
        let words = self.debugger.image(me).map_or(0, |image| image.words.len());
        if pc >= words as i64 {
            return Err(DebugError::new(format!(
                "the program of microengine {me} has {words} words, and none at {pc}"
            )));
        }
        let title = format!("address {pc} of microengine {me}");
        let point = Breakpoint::new(title, BreakpointKind::Code(vec![(me, pc as u16)]));
        let (condition, hits) = (asked.condition.as_ref(), asked.hit_condition.as_ref());
        let point = restricted(point, condition, hits)?;
        Ok((self.add("instructions", point)?, reference))
    }

    pub(super) fn data_info(&self, asked: &DataInfo) -> Result<Value, DebugError> {
        let (thread, text) = if asked.as_address {
            let (memory, address) = address::memory(address::address_at(&asked.name, 0)?)?;
            // Accesses are recorded by longwords.
            let longword = address & !3;
            let text = format!("{}[{longword:#x}]", memory.name());
            if asked.bytes.unwrap_or(1) > 4 - i64::from(address - longword) {
                let complaint = DebugError::new(format!(
                    "the bytes lie in several longwords from {text} on, and one is watched at a time"
                ))
                .help("ask for each longword");
                return Ok(json!({ "dataId": null, "description": complaint.to_string() }));
            }
            (self.debugger.thread(), text)
        } else {
            let thread = match (asked.variables_reference, asked.frame_id) {
                (Some(reference), _) if reference > 0 => super::variables::thread_of(reference)?,
                (_, Some(frame)) => address::thread_of_frame(frame)?,
                _ => self.debugger.thread(),
            };
            let text = match asked.variables_reference {
                Some(reference) if reference > 0 => {
                    super::variables::expression(reference, &asked.name)
                }
                _ => asked.name.clone(),
            };
            (thread, text)
        };
        let scope = self.debugger.scope(thread);
        let expression = text.parse::<Expression>();
        let location = match expression.and_then(|it| it.value(&scope).map(|_| it)) {
            Ok(expression) => expression.location(&scope).ok(),
            Err(complaint) => {
                return Ok(json!({ "dataId": null, "description": complaint.to_string() }));
            }
        };
        let accesses = match location {
            Some(Lvalue::Word(memory, _)) if memory != Memory::Local => {
                &["read", "write", "readWrite"][..]
            }
            _ => &["write"][..],
        };
        Ok(json!({
            "dataId": format!("{thread}:{text}"),
            "description": format!("{text} of {thread}"),
            "accessTypes": accesses,
            "canPersist": false,
        }))
    }

    pub(super) fn set_data(&mut self, asked: &SetData) -> Value {
        self.replace("data");
        let mut data = |asked| self.data(&read(asked)?);
        let set = |asked| match data(asked) {
            Ok((id, None)) => json!({ "id": id, "verified": true }),
            Ok((id, Some(limitation))) => {
                json!({ "id": id, "verified": true, "message": limitation })
            }
            Err(complaint) => unverified(&complaint),
        };
        let set: Vec<_> = asked.breakpoints.iter().map(set).collect();
        json!({ "breakpoints": set })
    }

    /// Sets a watchpoint; returns its number and which accesses it misses, if any.
    fn data(&mut self, asked: &DataBreakpoint) -> Result<(u32, Option<&'static str>), DebugError> {
        let wrong = || DebugError::new(format!("`{}` names no data", asked.data_id));
        let (thread, text) = asked.data_id.split_once(':').ok_or_else(wrong)?;
        let thread: Thread = thread.parse()?;
        let scope = self.debugger.scope(thread);
        let location = text.parse::<Expression>()?.location(&scope);
        let word = matches!(location, Ok(Lvalue::Word(memory, _)) if memory != Memory::Local);
        let access = match asked.access_type.as_deref() {
            Some("read") => Access::Read,
            Some("readWrite") => Access::Any,
            _ if word => Access::Write,
            _ => Access::Change,
        };
        let what = self.debugger.watch(text, access, thread)?;
        let point = Breakpoint::new(text, what);
        let (condition, hits) = (asked.condition.as_ref(), asked.hit_condition.as_ref());
        let point = restricted(point, condition, hits)?;
        let limitation = point.limitation();
        Ok((self.add("data", point)?, limitation))
    }
}

fn asked_source(path: &str) -> Value {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    json!({ "name": name, "path": path })
}
