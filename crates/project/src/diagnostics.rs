//! Renders messages together with the source they refer to, in the style of rustc. The texts
//! contain ANSI styles; the writer strips them where they are not wanted.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level as Shown, Patch, Renderer, Snippet,
};
use npsim_asm::source::{ExpansionId, SourceFile};
use npsim_asm::{Diagnostic, Severity, SourceMap, Span};
use npsim_chip::kernel::check::Fault;
use npsim_image::Image;

use crate::problem::{Problem, floor_boundary};
use crate::program::Program;

/// A place in a file with its label.
struct MarkedPlace<'a> {
    file: &'a SourceFile,
    span: Range<usize>,
    label: Cow<'a, str>,
    primary: bool,
}

/// Renders a diagnostic of the assembler. The macro uses that led to the place are shown as further
/// places, possibly in other files.
#[must_use]
pub fn render_diagnostic(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let places = places_of(diagnostic, sources);
    let level = match diagnostic.level {
        Severity::Error => Shown::ERROR,
        Severity::Warning => Shown::WARNING,
        Severity::Note => Shown::NOTE,
    };
    let mut group = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code)
        .elements(snippets(&places));
    for note in &diagnostic.notes {
        group = group.element(Shown::NOTE.message(note.as_str()));
    }
    let mut groups = Vec::new();
    if diagnostic.patches.is_empty() {
        if let Some(help) = &diagnostic.help {
            group = group.element(Shown::HELP.message(help.as_str()));
        }
        groups.push(group);
    } else {
        groups.push(group);
        let title = diagnostic.help.as_deref().unwrap_or("change it like this");
        groups.push(
            Shown::HELP
                .secondary_title(title)
                .elements(patched(diagnostic, sources)),
        );
    }
    Renderer::styled().render(&groups)
}

fn places_of<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Vec<MarkedPlace<'a>> {
    let mut places = vec![place(
        sources,
        diagnostic.primary.span,
        diagnostic.primary.text.as_str(),
        true,
    )];
    chain(sources, diagnostic.primary.expansion, &mut places);
    for label in &diagnostic.secondary {
        places.push(place(sources, label.span, label.text.as_str(), false));
        if label.expansion != diagnostic.primary.expansion {
            chain(sources, label.expansion, &mut places);
        }
    }
    places
}

/// Recognises diagnostics of one assembler run that are rendered alike, which takes much less time
/// than rendering them.
#[derive(Debug)]
pub(crate) struct Fingerprints<'a> {
    sources: &'a SourceMap,
    /// Hash of the path and text of each file met.
    files: BTreeMap<*const SourceFile, u64>,
}

impl<'a> Fingerprints<'a> {
    pub(crate) fn new(sources: &'a SourceMap) -> Self {
        Self {
            sources,
            files: BTreeMap::new(),
        }
    }

    /// Returns a number that two diagnostics share if they are rendered as the same text, even from
    /// different runs, and in practice only then.
    pub(crate) fn of(&mut self, diagnostic: &Diagnostic) -> u64 {
        let places = places_of(diagnostic, self.sources);
        let mut hasher = DefaultHasher::new();
        (diagnostic.level as u8, diagnostic.code).hash(&mut hasher);
        (&diagnostic.message, &diagnostic.notes, &diagnostic.help).hash(&mut hasher);
        for place in &places {
            // A file included twice has the same path and text, but is shown twice.
            let first = { places.iter() }.position(|it| std::ptr::eq(it.file, place.file));
            (first, self.file(place.file), &place.span).hash(&mut hasher);
            (&place.label, place.primary).hash(&mut hasher);
        }
        for patch in &diagnostic.patches {
            let file = self.file(self.sources.file(patch.span.file));
            (file, patch.span, &patch.replacement).hash(&mut hasher);
        }
        hasher.finish()
    }

    fn file(&mut self, file: &SourceFile) -> u64 {
        let known = self.files.entry(std::ptr::from_ref(file));
        *known.or_insert_with(|| {
            let mut hasher = DefaultHasher::new();
            (&file.path, &file.text).hash(&mut hasher);
            hasher.finish()
        })
    }
}

fn place<'a>(
    sources: &'a SourceMap,
    span: Span,
    label: impl Into<Cow<'a, str>>,
    primary: bool,
) -> MarkedPlace<'a> {
    let file = sources.file(span.file);
    MarkedPlace {
        file,
        span: bytes(&file.text, span.lo as usize..span.hi as usize),
        label: label.into(),
        primary,
    }
}

/// Adds the macro uses through which a place was expanded, innermost first. A macro that uses
/// itself is shown once.
fn chain<'a>(sources: &'a SourceMap, expansion: ExpansionId, places: &mut Vec<MarkedPlace<'a>>) {
    let mut shown: BTreeSet<Span> = BTreeSet::new();
    for used in sources.expansion_chain(expansion) {
        if shown.insert(used.call) {
            let label = format!("in this expansion of `{}`", used.name);
            places.push(place(sources, used.call, label, false));
        }
    }
}

/// Returns one snippet per file, in the order in which the files first appear.
fn snippets<'a>(places: &[MarkedPlace<'a>]) -> Vec<Snippet<'a, Annotation<'a>>> {
    let mut files: Vec<&SourceFile> = Vec::new();
    for place in places {
        if !files.iter().any(|file| std::ptr::eq(*file, place.file)) {
            files.push(place.file);
        }
    }
    files
        .into_iter()
        .map(|file| {
            let here = places.iter().filter(|place| std::ptr::eq(place.file, file));
            Snippet::source(file.text.as_str())
                .path(file.path.as_str())
                .annotations(here.map(|place| {
                    let kind = if place.primary {
                        AnnotationKind::Primary
                    } else {
                        AnnotationKind::Context
                    };
                    kind.span(place.span.clone())
                        .label((!place.label.is_empty()).then(|| place.label.clone()))
                }))
        })
        .collect()
}

fn patched<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Vec<Snippet<'a, Patch<'a>>> {
    let mut files: Vec<_> = diagnostic
        .patches
        .iter()
        .map(|patch| patch.span.file)
        .collect();
    files.sort_unstable();
    files.dedup();
    files
        .into_iter()
        .map(|id| {
            let file = sources.file(id);
            let here = diagnostic
                .patches
                .iter()
                .filter(|patch| patch.span.file == id);
            Snippet::source(file.text.as_str())
                .path(file.path.as_str())
                .patches(here.map(|patch| {
                    Patch::new(
                        bytes(&file.text, patch.span.lo as usize..patch.span.hi as usize),
                        patch.replacement.as_str(),
                    )
                }))
        })
        .collect()
}

/// Clamps a range to the text and to character boundaries.
fn bytes(text: &str, span: Range<usize>) -> Range<usize> {
    let start = floor_boundary(text, span.start);
    start..floor_boundary(text, span.end).max(start)
}

/// Renders an error in a project file or on the command line.
#[must_use]
pub fn render_problem(problem: &Problem) -> String {
    render_outside(&Shown::ERROR, problem)
}

/// Like [`render_problem`], for a remark that is not an error.
#[must_use]
pub(crate) fn render_remark(remark: &Problem) -> String {
    render_outside(&Shown::NOTE, remark)
}

fn render_outside(level: &Shown<'static>, problem: &Problem) -> String {
    let mut group: Group<'_> = match &problem.excerpt {
        Some(excerpt) => { level.clone() }
            .primary_title(problem.message.as_str())
            .element(
                Snippet::source(&*excerpt.text)
                    .path(excerpt.path.as_str())
                    .annotation(
                        AnnotationKind::Primary
                            .span(bytes(&excerpt.text, excerpt.span.clone()))
                            .label((!excerpt.label.is_empty()).then_some(excerpt.label.as_str())),
                    ),
            ),
        None => Group::with_title(level.clone().primary_title(problem.message.as_str())),
    };
    for note in &problem.notes {
        group = group.element(Shown::NOTE.message(note.as_str()));
    }
    if let Some(help) = &problem.help {
        group = group.element(Shown::HELP.message(help.as_str()));
    }
    Renderer::styled().render(&[group])
}

/// Renders the fault that stopped a run: with the source line of the instruction, if the program
/// was assembled from a source, the macros it came through, and other related places. `programs`
/// are the programs of the microengines.
#[must_use]
pub fn render_fault(fault: &Fault, programs: &[Program]) -> String {
    let of = |me: u8| {
        let found = programs.iter().find(|program| program.me == me);
        found.map(|program| (&program.image, &program.sources))
    };
    let program = fault.me.and_then(of);
    let id = fault
        .check
        .map_or("fault", npsim_chip::kernel::check::Check::name);
    let mut who = Vec::new();
    if let Some(me) = fault.me {
        who.push(format!("ME {me}"));
    }
    if let Some(context) = fault.context {
        who.push(format!("context {context}"));
    }
    if let Some(pc) = fault.pc {
        who.push(format!("pc {pc}"));
    }
    who.push(format!("cycle {}", fault.cycle));
    let who = who.join(", ");
    let mut places = Vec::new();
    if let (Some((image, sources)), Some(pc)) = (program, fault.pc) {
        origin_places(image, sources, pc, &who, &mut places);
    }
    let mut elsewhere = Vec::new();
    for also in &fault.also {
        let place = match of(also.me) {
            Some((image, sources)) => {
                let mut others = Vec::new();
                origin_places(image, sources, also.pc, &also.what, &mut others);
                for other in &mut others {
                    other.primary = false;
                }
                // A place with the same words as the fault itself would only be repeated.
                let new = |other: &MarkedPlace<'_>| {
                    places.iter().all(|it: &MarkedPlace<'_>| {
                        !(std::ptr::eq(it.file, other.file) && it.span == other.span)
                    })
                };
                others.retain(new);
                places.extend(others);
                image.place(also.pc)
            }
            None => format!("address {}", also.pc),
        };
        elsewhere.push(format!("{}: {place}", also.what));
    }
    let title = Shown::ERROR.primary_title(fault.message.as_str()).id(id);
    let mut group = if places.is_empty() {
        let place = match (program, fault.pc) {
            (Some((image, _)), Some(pc)) => format!("{who}, at {}", image.place(pc)),
            _ => who,
        };
        title.element(Shown::NOTE.message(place))
    } else {
        title.elements(snippets(&places))
    };
    for note in elsewhere.iter().chain(&fault.notes) {
        group = group.element(Shown::NOTE.message(note.as_str()));
    }
    if let Some(help) = &fault.help {
        group = group.element(Shown::HELP.message(help.as_str()));
    }
    if let Some(check) = fault.check
        && !fault
            .help
            .as_deref()
            .is_some_and(|help| help.contains("--allow"))
    {
        group = group.element(Shown::HELP.message(format!(
            "if the firmware relies on this, run it with `--allow {check}`; `npsim checks` explains"
        )));
    }
    Renderer::styled().render(&[group])
}

/// Adds the source line of an instruction word and the macro uses it came through.
fn origin_places<'a>(
    image: &Image,
    sources: &'a SourceMap,
    pc: u16,
    who: &str,
    places: &mut Vec<MarkedPlace<'a>>,
) {
    let mut next = image.origins.get(pc as usize).copied();
    let mut label = who.to_string();
    let mut primary = true;
    while let Some(origin) = next {
        let file = image
            .files
            .get(origin.file as usize)
            .and_then(|path| sources.files().iter().find(|f| f.path == *path));
        if let Some(file) = file {
            places.push(MarkedPlace {
                file,
                span: rest_of_line(&file.text, origin.line, origin.column),
                label: label.into(),
                primary,
            });
            primary = false;
        }
        let Some(used) = origin
            .expansion
            .and_then(|i| image.expansions.get(i as usize))
        else {
            return;
        };
        label = format!("in this expansion of `{}`", used.name);
        next = Some(used.call);
    }
}

/// Returns the range from a line and column (from 1) to the end of the statement on that line.
fn rest_of_line(text: &str, line: u32, column: u32) -> Range<usize> {
    let start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1) as usize)
        .map(str::len)
        .sum();
    let whole = text[start..].lines().next().unwrap_or("");
    let code = whole
        .find(';')
        .or_else(|| whole.find("//"))
        .map_or(whole, |comment| &whole[..comment])
        .trim_end();
    let from = floor_boundary(whole, column.saturating_sub(1) as usize);
    start + from..start + code.len().max(from)
}

#[cfg(test)]
mod tests {
    use super::{render_diagnostic, render_fault, render_problem, rest_of_line};
    use crate::problem::{Excerpt, Problem};
    use crate::program::Program;
    use npsim_asm::source::{Expansion, ExpansionId};
    use npsim_asm::{Diagnostic, SourceMap, Span};
    use npsim_chip::kernel::check::{Check, Fault};
    use npsim_image::Image;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn macro_chain_is_shown_across_files() {
        let mut sources = SourceMap::default();
        let main = sources.add_file("main.uc".into(), "put(r0)\nnop\n".into(), None);
        let lib = sources.add_file(
            "ring.uc".into(),
            "#macro put(a)\n alu[a, b, +, c]\n#endm\n".into(),
            None,
        );
        let expansion = sources.add_expansion(Expansion {
            name: "put".into(),
            call: Span {
                file: main,
                lo: 0,
                hi: 7,
            },
            parent: ExpansionId::ROOT,
            arguments: Vec::new(),
        });
        let span = Span {
            file: lib,
            lo: 15,
            hi: 30,
        };
        let diagnostic = Diagnostic::error("bank-conflict", "two of one bank", span, expansion)
            .label("here")
            .note("a reason")
            .help("copy one")
            .patch(
                Span {
                    file: lib,
                    lo: 15,
                    hi: 15,
                },
                "alu[t, --, B, b]\n ",
            );
        let text = plain(&render_diagnostic(&diagnostic, &sources));
        for part in [
            "error[bank-conflict]: two of one bank",
            "ring.uc:2:2",
            "main.uc:1:1",
            "in this expansion of `put`",
            "a reason",
            "help: copy one",
            "~  alu[t, --, B, b]",
        ] {
            assert!(text.contains(part), "no `{part}` in\n{text}");
        }
    }

    #[test]
    fn out_of_range_spans_are_clamped() {
        let excerpt = Excerpt {
            path: "p.toml".into(),
            text: "a = \"µ\"".into(),
            span: 6..900,
            label: "x".into(),
        };
        let text = plain(&render_problem(
            &Problem::new("bad").at(excerpt).help("better"),
        ));
        assert!(
            text.contains("p.toml:1:6") && text.contains("help: better"),
            "{text}"
        );
    }

    #[test]
    fn fault_shows_check_location_and_allow_option() {
        let mut sources = SourceMap::default();
        sources.add_file("m.uc".into(), "nop\n  br[x#] ; comment\n".into(), None);
        let image = Image {
            words: vec![0, 0],
            origins: vec![
                npsim_image::Origin {
                    file: 0,
                    line: 1,
                    column: 1,
                    expansion: None,
                },
                npsim_image::Origin {
                    file: 0,
                    line: 2,
                    column: 3,
                    expansion: None,
                },
            ],
            files: vec!["m.uc".into()],
            ..Image::default()
        };
        let fault = Fault {
            check: Some(Check::Deadlock),
            cycle: 12,
            me: Some(0),
            context: Some(3),
            pc: Some(1),
            message: "all sleep".into(),
            notes: vec!["context 3 waits for s1".into()],
            help: None,
            also: Vec::new(),
        };
        let program = Program {
            me: 0,
            source: "m.uc".into(),
            image,
            sources,
        };
        let text = plain(&render_fault(&fault, &[program]));
        for part in [
            "error[deadlock]: all sleep",
            "m.uc:2:3",
            "ME 0, context 3, pc 1, cycle 12",
            "context 3 waits for s1",
            "--allow deadlock",
        ] {
            assert!(text.contains(part), "no `{part}` in\n{text}");
        }
        assert_eq!(rest_of_line("a\n br[x] ; c\n", 2, 2), 3..8);
    }
}
