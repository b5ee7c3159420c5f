//! Where the run stops: breakpoints, watchpoints, and the checks that are allowed.

use npsim_chip::kernel::check::Check;
use npsim_image::ProgramPoint;

use super::{Debugger, LineWords};
use crate::breakpoints::{Access, Breakpoint, BreakpointKind, Template};
use crate::error::DebugError;
use crate::expression::Expression;
use crate::source::{self, SourceLine};
use crate::thread::Thread;
use crate::timeline::TimePoint;

impl Debugger {
    /// The breakpoints.
    #[must_use]
    pub fn breakpoints(&self) -> &[Breakpoint] {
        self.stops.points()
    }

    /// Adds a breakpoint and returns its number.
    ///
    /// # Errors
    /// Returns an error if its condition or its text names something that does
    /// not exist.
    pub fn add(&mut self, mut point: Breakpoint) -> Result<u32, DebugError> {
        let texts = point.log.iter().flat_map(Template::expressions);
        let expressions: Vec<_> = point.condition.iter().chain(texts).collect();
        let places: Vec<_> = match &point.what {
            BreakpointKind::Code(places) => { places.iter() }
                .map(|&(me, pc)| (me, ProgramPoint::before(pc)))
                .collect(),
            BreakpointKind::Watch { thread, point, .. } => vec![(thread.me, *point)],
            BreakpointKind::Core(_) | BreakpointKind::CoreWord(_) => {
                if !expressions.is_empty() {
                    return Err(DebugError::new(
                        "a breakpoint of the core can have neither a condition nor values to say",
                    )
                    .help("`npsim debug --gdb` has conditions with names of the program"));
                }
                Vec::new()
            }
        };
        let check = |expression: &Expression, (me, point): (u8, ProgramPoint)| {
            self.image(me)
                .map_or(Ok(()), |image| expression.check(image, &self.names, point))
        };
        for expression in expressions {
            let mut results = places.iter().map(|it| check(expression, *it));
            // It is enough if the names are live at one of the places.
            let first = results.next().unwrap_or(Ok(()));
            if first.is_err() && !results.any(|it| it == Ok(())) {
                first?;
            }
        }
        if let (BreakpointKind::Code(places), Some(condition)) = (&point.what, &point.condition) {
            // Where a name of the condition is not live, the condition can never be evaluated.
            let can =
                |it: &&(u8, u16)| check(condition, (it.0, ProgramPoint::before(it.1))).is_ok();
            let places = places.iter().filter(can).copied().collect();
            point.what = BreakpointKind::Code(places);
        }
        Ok(self.stops.add(point))
    }

    /// Removes a breakpoint.
    ///
    /// # Errors
    /// Returns an error if there is no breakpoint with this number.
    pub fn remove(&mut self, id: u32) -> Result<(), DebugError> {
        self.stops.remove(id)
    }

    /// Enables or disables a breakpoint.
    ///
    /// # Errors
    /// Returns an error if there is no breakpoint with this number.
    pub fn enable(&mut self, id: u32, enabled: bool) -> Result<(), DebugError> {
        self.stops.enable(id, enabled)
    }

    /// The words of a source line on all microengines that have it, and the line that they belong
    /// to: the next one with words, if this one has none.
    ///
    /// # Errors
    /// Returns an error if no program has such a file, or none has words at or after the line.
    pub fn line(&self, file: &str, line: u32) -> Result<LineWords, DebugError> {
        let mut known = false;
        let mut best: Option<(u32, String)> = None;
        let programs = || {
            let cores = self.chip().microengines().iter();
            cores.map(|core| (core.index(), core.program().image()))
        };
        for (_, image) in programs() {
            for file in source::files(image, file) {
                known = true;
                if let Some(next) = source::next_line(image, SourceLine { file, line })
                    && best.as_ref().is_none_or(|it| next.line < it.0)
                {
                    best = Some((next.line, image.files[file as usize].clone()));
                }
            }
        }
        let Some((line, name)) = best else {
            let message = if known {
                format!("`{file}` has no code at line {line} or after it")
            } else {
                format!("no program has a file `{file}`")
            };
            return Err(DebugError::new(message).help("`files` lists the files of the programs"));
        };
        let mut places = Vec::new();
        for (me, image) in programs() {
            for file in source::files(image, file) {
                let found = source::addresses(image, SourceLine { file, line });
                places.extend(found.into_iter().map(|pc| (me, pc)));
            }
        }
        Ok((places, name, line))
    }

    /// A watchpoint on the value of an expression.
    ///
    /// # Errors
    /// Returns an error if the expression does not name anything here, or if it is not a longword
    /// of a memory although accesses are to be watched.
    pub fn watch(
        &self,
        text: &str,
        access: Access,
        thread: Thread,
    ) -> Result<BreakpointKind, DebugError> {
        let value: Expression = text.parse()?;
        let scope = self.scope(thread);
        let location = match access {
            Access::Change => value.location(&scope).ok(),
            _ => match value.location(&scope)? {
                word @ crate::expression::Lvalue::Word(memory, _)
                    if memory != crate::names::Memory::Local =>
                {
                    Some(word)
                }
                _ => {
                    return Err(DebugError::new(format!(
                        "accesses are seen only of longwords in scratch, SRAM and DRAM, and `{text}` is not one"
                    ))
                    .help("`watch` stops when its value changes"));
                }
            },
        };
        Ok(BreakpointKind::Watch {
            value: value.bound(&scope)?,
            location,
            access,
            thread,
            point: scope.point,
        })
    }

    /// The checks that do not stop the run.
    #[must_use]
    pub fn allowed(&self) -> &[Check] {
        &self.allowed
    }

    /// Sets the checks that do not stop the run, from its beginning on, replacing any others.
    pub fn allow(&mut self, allowed: &[Check]) {
        self.allowed = allowed.to_vec();
        self.stops.forget_after(TimePoint::default());
        self.timeline.set_allowed(allowed);
        self.look.moment = self.timeline.moment();
    }
}
