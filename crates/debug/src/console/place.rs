//! Parses breakpoint specifications: `ring.uc:12 in 4.3,5 hit 2 if fill > 3`.

use std::str::FromStr;

use crate::breakpoints::{Access, Breakpoint, BreakpointKind, Hits};
use crate::core::CoreView;
use crate::debugger::Debugger;
use crate::error::DebugError;
use crate::expression::Expression;
use crate::source;
use crate::thread::Thread;

/// A breakpoint specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakpointText {
    /// The place or the expression.
    what: String,
    /// Microengines, each with one context or all.
    only: Vec<(u8, Option<u8>)>,
    hits: Option<Hits>,
    condition: Option<Expression>,
}

impl FromStr for BreakpointText {
    type Err = DebugError;

    fn from_str(text: &str) -> Result<Self, DebugError> {
        Self::of(text, false)
    }
}

/// Microengines and addresses, a title, and the line if there is one.
type ResolvedPlace = (Vec<(u8, u16)>, String, Option<(String, u32)>);

/// Splits a text at a word that stands between blanks.
fn around<'t>(text: &'t str, word: &str) -> (&'t str, Option<&'t str>) {
    let mut from = 0;
    while let Some(at) = text[from..].find(word).map(|at| at + from) {
        let end = at + word.len();
        let blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
        if blank(text[..at].chars().next_back()) && blank(text[end..].chars().next()) {
            return (text[..at].trim(), Some(text[end..].trim()));
        }
        from = end;
    }
    (text.trim(), None)
}

impl BreakpointText {
    /// Parses a specification; a watched value cannot be restricted to
    /// contexts.
    ///
    /// # Errors
    /// Returns an error if a part of it is invalid.
    pub fn of(text: &str, value: bool) -> Result<Self, DebugError> {
        let (text, condition) = around(text, "if");
        let (text, hits) = around(text, "hit");
        let (what, only) = if value {
            (text, None)
        } else {
            around(text, "in")
        };
        if what.is_empty() {
            return Err(DebugError::new("where?")
                .help("write a line such as `ring.uc:12`, an address such as `*64`, or a label such as `next#`"));
        }
        let only = only.map_or(Ok(Vec::new()), |list| {
            list.split(',').map(|it| one(it.trim())).collect()
        })?;
        Ok(Self {
            what: what.to_owned(),
            only,
            hits: hits.map(str::parse).transpose()?,
            condition: condition.map(str::parse).transpose()?,
        })
    }

    /// The breakpoint, or the log point that outputs `say`.
    ///
    /// # Errors
    /// Returns an error if there is no such place.
    pub fn breakpoint(
        &self,
        debugger: &Debugger,
        say: Option<&str>,
    ) -> Result<Breakpoint, DebugError> {
        if let Some(core) = debugger.core()
            && self.is_of_core(debugger, &core)
        {
            let (addresses, title) = core.addresses(&self.what)?;
            let line = addresses.first().and_then(|it| core.place(*it).line);
            let mut point = Breakpoint::new(title, BreakpointKind::Core(addresses));
            // For a function or an address, the instruction matters, not the line.
            let of_line =
                self.what.ends_with(|c: char| c.is_ascii_digit()) && !self.what.starts_with('*');
            point.line = line
                .filter(|_| of_line)
                .map(|(file, line)| (core.path(&file), line));
            point.log = say.map(str::parse).transpose()?;
            self.restrict(debugger, &mut point)?;
            return Ok(point);
        }
        let (mut places, title, line) = self.places(debugger)?;
        if !self.only.is_empty() {
            places.retain(|place| self.only.iter().any(|it| it.0 == place.0));
            if places.is_empty() {
                return Err(DebugError::new(format!(
                    "`{}` is on none of these microengines",
                    self.what
                )));
            }
        }
        let mut point = Breakpoint::new(title, BreakpointKind::Code(places));
        point.line = line;
        point.log = say.map(str::parse).transpose()?;
        self.restrict(debugger, &mut point)?;
        Ok(point)
    }

    /// Whether the place lies in the core's program: a plain line or address does if the core is
    /// selected.
    fn is_of_core(&self, debugger: &Debugger, core: &CoreView<'_>) -> bool {
        let what = self.what.as_str();
        debugger.thread().is_core() && !what.contains([':', '#']) || core.is_core_location(what)
    }

    /// The watchpoint.
    ///
    /// # Errors
    /// Returns an error if the expression does not name anything.
    pub fn watchpoint(
        &self,
        debugger: &Debugger,
        access: Access,
    ) -> Result<Breakpoint, DebugError> {
        let thread = debugger.thread();
        if let Some(core) = debugger.core().filter(|_| thread.is_core()) {
            if access != Access::Change {
                return Err(DebugError::new(
                    "in the core's program only changes are seen, not accesses",
                )
                .help("`watch 0x8000` stops when the longword changes"));
            }
            let address = core.value(self.what.trim_start_matches('*'))? & !3;
            if core.word(address).is_none() {
                return Err(DebugError::new(format!(
                    "no memory that can be watched lies at 0x{address:08x} of the core's map"
                )));
            }
            let title = format!("0x{address:08x}");
            let mut point = Breakpoint::new(title, BreakpointKind::CoreWord(address));
            self.restrict(debugger, &mut point)?;
            return Ok(point);
        }
        let what = debugger.watch(&self.what, access, thread)?;
        let how = match access {
            Access::Change => "",
            Access::Write => "writes of ",
            Access::Read => "reads of ",
            Access::Any => "accesses to ",
        };
        let mut point = Breakpoint::new(format!("{how}{}", self.what), what);
        self.restrict(debugger, &mut point)?;
        Ok(point)
    }

    fn restrict(&self, debugger: &Debugger, point: &mut Breakpoint) -> Result<(), DebugError> {
        if !self.only.is_empty()
            && matches!(
                point.what,
                BreakpointKind::Core(_) | BreakpointKind::CoreWord(_)
            )
        {
            return Err(
                DebugError::new("this belongs to the core, not to a context")
                    .help("remove `in` and the contexts after it"),
            );
        }
        point.hits = self.hits;
        point.condition.clone_from(&self.condition);
        let known = debugger.threads();
        for (me, context) in &self.only {
            let those = known.iter().map(|it| it.thread);
            let mut those =
                those.filter(|it| it.me == *me && context.is_none_or(|c| c == it.context));
            let before = point.threads.len();
            point.threads.extend(&mut those);
            if point.threads.len() == before {
                let text = context.map_or(me.to_string(), |context| format!("{me}.{context}"));
                return Err(DebugError::new(format!("nothing runs on {text}"))
                    .help("`contexts` lists what does"));
            }
        }
        Ok(())
    }

    /// The words, a title for the place, and the line if it is one.
    fn places(&self, debugger: &Debugger) -> Result<ResolvedPlace, DebugError> {
        let what = self.what.as_str();
        let thread = debugger.thread();
        if let Some(address) = what.strip_prefix('*') {
            return self.address(debugger, address, thread);
        }
        if let Some(label) = what.strip_suffix('#').or_else(|| what.strip_prefix('#')) {
            let mut places = Vec::new();
            for core in debugger.chip().microengines() {
                let labels = core.program().image().labels.iter();
                let found = labels.filter(|it| it.name == label);
                places.extend(found.map(|it| (core.index(), it.address)));
            }
            if places.is_empty() {
                return Err(DebugError::new(format!(
                    "no program has a label `{label}#`"
                )));
            }
            let line = places.first().and_then(|&(me, pc)| {
                let image = debugger.image(me)?;
                source::label_line(image, label, pc)
            });
            return Ok((places, what.to_owned(), line));
        }
        let (file, line) = if let Some((file, line)) = what.rsplit_once(':') {
            (file.to_owned(), line)
        } else {
            let frames = debugger.frames(thread);
            let file = frames.first().map(|it| it.file.clone());
            (file.unwrap_or_default(), what)
        };
        let number = line.trim().parse().map_err(|_| {
            DebugError::new(format!("`{line}` is not a line number"))
                .help("write a line such as `ring.uc:12`, an address such as `*64`, or a label such as `next#`")
        })?;
        let (places, file, line) = debugger.line(&file, number)?;
        Ok((places, format!("{file}:{line}"), Some((file, line))))
    }

    fn address(
        &self,
        debugger: &Debugger,
        address: &str,
        thread: Thread,
    ) -> Result<ResolvedPlace, DebugError> {
        let address = debugger.evaluate(address, thread)?;
        let named: Vec<_> = self.only.iter().map(|it| it.0).collect();
        let mes = if named.is_empty() {
            vec![thread.me]
        } else {
            named
        };
        let mut places = Vec::new();
        for me in mes {
            let words = debugger.image(me).map_or(0, |image| image.words.len());
            if address >= words as u64 {
                return Err(DebugError::new(format!(
                    "the program of microengine {me} has no address {address}; it has {words} words"
                )));
            }
            places.push((me, address as u16));
        }
        Ok((places, format!("address {address}"), None))
    }
}

/// `4` or `4.3`.
fn one(text: &str) -> Result<(u8, Option<u8>), DebugError> {
    if let Ok(me) = text.parse() {
        return Ok((me, None));
    }
    let thread: Thread = text.parse()?;
    Ok((thread.me, Some(thread.context)))
}
