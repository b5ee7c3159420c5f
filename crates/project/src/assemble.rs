//! Assembles the programs of a project: one image per microengine, since each has its own defines.

use std::collections::BTreeSet;
use std::path::Path;

use npsim_asm::{Diagnostic, LintLevel, Options, Severity, SourceMap};
use npsim_image::Image;

use crate::diagnostics::{Fingerprints, render_diagnostic, render_problem, render_remark};
use crate::files::{Disk, Files};
use crate::firmware_file::{is_bare, is_firmware, read_for};
use crate::includes::FileIncludes;
use crate::messages::DiagnosticMessage;
use crate::problem::Problem;
use crate::{ProgramPlan, Project, project_of};

pub use crate::program::Program;

/// Number of errors and of warnings that are rendered.
const SHOWN_MOST: usize = 100;
/// Number of notes that are rendered; each is a line that the source asked for.
const SHOWN_NOTES: usize = 1_000;

/// Messages for display; a message occurs once however many microengines run the source.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    /// Rendered text, with ANSI styles.
    pub rendered: Vec<String>,
    /// The same messages as data, for other programs.
    pub items: Vec<DiagnosticMessage>,
    /// Number of errors.
    pub errors: usize,
    /// Number of warnings.
    pub warnings: usize,
    /// Messages that were counted but not rendered because there were too many.
    pub hidden: usize,
    /// Number of notes.
    notes: usize,
    /// Fingerprints of the messages that were rendered.
    drawn: BTreeSet<u64>,
    /// Place and text of each message, to recognise repetitions, including those that are not
    /// rendered.
    seen: BTreeSet<(String, u32, String)>,
}

impl Messages {
    /// Adds the diagnostics of one assembler run.
    pub fn add(&mut self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        let mut fingerprints = Fingerprints::new(sources);
        for diagnostic in diagnostics {
            let span = diagnostic.primary.span;
            let place = sources.file(span.file).path.clone();
            let new = self
                .seen
                .insert((place, span.lo, diagnostic.message.clone()));
            let (before, most) = match diagnostic.level {
                Severity::Error => (&mut self.errors, SHOWN_MOST),
                Severity::Warning => (&mut self.warnings, SHOWN_MOST),
                Severity::Note => (&mut self.notes, SHOWN_NOTES),
            };
            if *before >= most {
                *before += usize::from(new);
                self.hidden += usize::from(new);
                continue;
            }
            if !self.drawn.insert(fingerprints.of(diagnostic)) {
                continue;
            }
            let text = render_diagnostic(diagnostic, sources);
            *before += 1;
            self.items
                .push(DiagnosticMessage::new(diagnostic, sources, &text));
            self.rendered.push(text);
        }
    }

    /// Adds an error outside of sources, unless it was added before.
    pub(crate) fn add_problem(&mut self, problem: &Problem) {
        let text = render_problem(problem);
        if !self.rendered.contains(&text) {
            self.errors += 1;
            self.items
                .push(DiagnosticMessage::of_problem(problem, &text));
            self.rendered.push(text);
        }
    }

    /// Adds a remark for each source that was assembled on its own although it belongs to a
    /// project, in which it may assemble to another program. Does nothing if there are errors.
    pub fn add_owners(&mut self, files: &dyn Files, project: &Project) {
        if self.errors > 0 {
            return;
        }
        let mut sources: Vec<&Path> = Vec::new();
        for plan in &project.programs {
            if sources.contains(&plan.source.as_path()) {
                continue;
            }
            sources.push(&plan.source);
            if let Some(owner) = owner(files, project, plan) {
                let source = plan.source.display();
                let remark = Problem::new(format!("`{source}` is assembled without its project"))
                    .note(owner.what)
                    .help(owner.remedy);
                let text = render_remark(&remark);
                self.items
                    .push(DiagnosticMessage::of_remark(&remark, &text));
                self.rendered.push(text);
            }
        }
    }

    /// Returns the counts, such as `2 errors and 1 warning`; empty if there are neither.
    #[must_use]
    pub fn count(&self) -> String {
        let part = |n: usize, what: &str| match n {
            0 => None,
            1 => Some(format!("1 {what}")),
            n => Some(format!("{n} {what}s")),
        };
        let parts: Vec<_> = [part(self.errors, "error"), part(self.warnings, "warning")]
            .into_iter()
            .flatten()
            .collect();
        parts.join(" and ")
    }
}

/// Returns the assembler's options for a program of the project.
#[must_use]
pub fn options(project: &Project, plan: &ProgramPlan) -> Options {
    Options {
        defines: plan.defines.clone(),
        imports: plan.imports.clone(),
        memories: project.memories.clone(),
        spill_moves: plan.spill_moves,
        generation: project.profile.generation(),
        control_store_words: usize::from(project.profile.control_store_words()),
        local_memory_words: usize::from(project.profile.local_memory_words()),
        ..Options::default()
    }
}

/// Assembles the programs of a project, and loads those that are already assembled; `None` if one
/// of them has errors.
#[must_use]
pub fn assemble_project(project: &Project) -> (Option<Vec<Program>>, Messages) {
    assemble_project_from(&Disk, project, &[])
}

/// Like [`assemble_project`], but reads from any source of files, with lint levels as in
/// [`Options::lints`].
#[must_use]
pub fn assemble_project_from(
    files: &dyn Files,
    project: &Project,
    lints: &[(String, LintLevel)],
) -> (Option<Vec<Program>>, Messages) {
    let mut programs = Some(Vec::new());
    let mut messages = Messages::default();
    for plan in &project.programs {
        let program = if is_firmware(&plan.source) {
            load(files, project, plan).map_err(|problem| messages.add_problem(&problem))
        } else {
            let options = Options {
                lints: lints.to_vec(),
                ..options(project, plan)
            };
            let includes = FileIncludes::new(files, &project.include);
            let main = plan.source.display().to_string();
            let mut assembly = npsim_asm::assemble(&main, &includes, &options);
            add_owner_note(files, project, plan, &mut assembly.diagnostics);
            messages.add(&assembly.diagnostics, &assembly.sources);
            assembly
                .image
                .map(|image| (image, assembly.sources))
                .ok_or(())
        };
        match program {
            Ok((image, sources)) => {
                if let Some(programs) = &mut programs {
                    programs.push(Program {
                        me: plan.me,
                        source: plan.source.clone(),
                        image,
                        sources,
                    });
                }
            }
            Err(()) => programs = None,
        }
    }
    messages.add_owners(files, project);
    (programs, messages)
}

/// Adds a note to the first error of a source that was assembled on its own, naming the project it
/// belongs to: what the source lacks may be defined there.
pub fn add_owner_note(
    files: &dyn Files,
    project: &Project,
    plan: &ProgramPlan,
    diagnostics: &mut [Diagnostic],
) {
    let first = diagnostics.iter_mut().find(|it| it.is_error());
    if let Some(first) = first
        && let Some(owner) = owner(files, project, plan)
    {
        let note = format!("{}; {}.", owner.what, owner.remedy);
        first.notes.push(note);
    }
}

/// The project that a source assembled on its own belongs to.
struct Owner {
    what: String,
    remedy: String,
}

fn owner(files: &dyn Files, project: &Project, plan: &ProgramPlan) -> Option<Owner> {
    let alone = project.is_default && !is_firmware(&plan.source);
    let project = alone.then(|| project_of(files, &plan.source)).flatten()?;
    let folder = { project.parent() }.filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).display();
    Some(Owner {
        what: format!(
            "`{}` runs this source with names, includes and a chip of its own",
            project.display()
        ),
        remedy: format!("give `{folder}` in place of the source"),
    })
}

/// Reads and links an already assembled program.
fn load(
    files: &dyn Files,
    project: &Project,
    plan: &ProgramPlan,
) -> Result<(Image, SourceMap), Problem> {
    let mut image = read_for(files, &plan.source, plan.me)?;
    if is_bare(&plan.source) {
        image.contexts = plan.modes.contexts;
        image.nn_mode = plan.modes.nn_mode;
    }
    let shown = plan.source.display();
    let limit = usize::from(project.profile.control_store_words());
    if image.words.len() > limit {
        return Err(Problem::new(format!(
            "`{shown}` has {} words, the control store of {} {limit}",
            image.words.len(),
            project.capacity.name
        ))
        .help("choose a chip with a larger control store with --chip; `npsim chip` lists them"));
    }
    if let Err((address, newer)) = image.check_generation(project.profile.generation()) {
        let place = image.place(address);
        return Err(Problem::new(format!(
            "`{shown}` cannot run on {}: {newer} ({place})",
            project.capacity.name
        ))
        .help("choose a chip with newer microengines with --chip; `npsim chip` lists them"));
    }
    image
        .link(&plan.imports)
        .map_err(|error| Problem::new(format!("`{shown}`: {error}")))?;
    Ok((image, SourceMap::default()))
}

#[cfg(test)]
mod tests {
    use super::{Messages, SHOWN_NOTES};
    use crate::diagnostics::render_diagnostic;
    use npsim_asm::source::{Expansion, ExpansionId};
    use npsim_asm::{Diagnostic, Severity, SourceMap, Span};

    fn note(span: Span, expansion: ExpansionId) -> Diagnostic {
        Diagnostic {
            level: Severity::Note,
            ..Diagnostic::error("user-note", "hi", span, expansion)
        }
    }

    #[test]
    fn number_of_rendered_notes_is_limited() {
        let mut sources = SourceMap::default();
        let text = "x\n".repeat(2 * SHOWN_NOTES);
        let file = sources.add_file("m.uc".into(), text, None);
        let at = |lo| {
            note(
                Span {
                    file,
                    lo,
                    hi: lo + 1,
                },
                ExpansionId::ROOT,
            )
        };
        let notes: Vec<_> = (0..2 * SHOWN_NOTES as u32)
            .map(|line| at(2 * line))
            .collect();
        let mut messages = Messages::default();
        messages.add(&notes[..SHOWN_NOTES], &sources);
        assert_eq!((messages.rendered.len(), messages.hidden), (SHOWN_NOTES, 0));
        for _ in 0..2 {
            messages.add(&notes, &sources);
            let (shown, hidden) = (messages.rendered.len(), messages.hidden);
            assert_eq!((shown, hidden), (SHOWN_NOTES, SHOWN_NOTES));
        }
    }

    #[test]
    fn only_identical_messages_are_merged() {
        let mut sources = SourceMap::default();
        let text = "use\nuse\n";
        let files = ["a.uc", "b.uc"].map(|path| sources.add_file(path.into(), text.into(), None));
        let mut notes = Vec::new();
        for file in files {
            for lo in [0, 0, 4] {
                let call = Span {
                    file,
                    lo,
                    hi: lo + 3,
                };
                let expansion = sources.add_expansion(Expansion {
                    name: "use".into(),
                    call,
                    parent: ExpansionId::ROOT,
                    arguments: Vec::new(),
                });
                let note = note(Span { lo: 0, ..call }, expansion);
                notes.extend([
                    note.clone().help("a"),
                    note.clone().note("a"),
                    note.clone().label("a"),
                    note.clone().patch(call, "a"),
                    note,
                ]);
            }
        }
        let mut expected: Vec<String> = Vec::new();
        for note in &notes {
            let text = render_diagnostic(note, &sources);
            if !expected.contains(&text) {
                expected.push(text);
            }
        }
        assert_eq!(expected.len(), 20);
        let mut messages = Messages::default();
        messages.add(&notes, &sources);
        assert_eq!(messages.rendered, expected);
    }
}
