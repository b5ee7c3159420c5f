//! Assembling what a project runs: one image for each microengine, since each
//! has its own defines.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use npsim_asm::{Assembly, Diagnostic, Image, Level, Options, SourceMap};

use crate::diagnostics::render_diagnostic;
use crate::includes::FileIncludes;
use crate::messages::Message;
use crate::project::Project;

/// A program that a microengine can run, with the texts it came from.
#[derive(Clone, Debug)]
pub struct Program {
    /// The microengine.
    pub me: u8,
    /// Its source as it is shown.
    pub source: PathBuf,
    /// The words and all that is known of them.
    pub image: Image,
    /// The texts.
    pub sources: SourceMap,
}

/// Messages of one level that are shown; who has more reads the first ones.
const SHOWN_MOST: usize = 100;

/// What becomes of warnings, by the names of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lints {
    /// These are not shown.
    pub allow: BTreeSet<String>,
    /// These are errors.
    pub deny: BTreeSet<String>,
    /// All that are not in `allow` are errors.
    pub deny_all: bool,
}

impl Lints {
    /// The diagnostics that are left, with their levels.
    #[must_use]
    pub fn apply(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let judge = |mut diagnostic: Diagnostic| {
            if diagnostic.level == Level::Warning {
                if self.deny.contains(diagnostic.code) {
                    diagnostic.level = Level::Error;
                } else if self.allow.contains(diagnostic.code) {
                    return None;
                } else if self.deny_all {
                    diagnostic.level = Level::Error;
                }
            }
            Some(diagnostic)
        };
        diagnostics.into_iter().filter_map(judge).collect()
    }
}

/// Messages as they are shown, each once however many microengines run the
/// source.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    /// Rendered, with ANSI styles.
    pub rendered: Vec<String>,
    /// The same for programs.
    pub items: Vec<Message>,
    /// How many are errors.
    pub errors: usize,
    /// How many are warnings.
    pub warnings: usize,
    /// How many were counted but not rendered, because there are so many.
    pub hidden: usize,
    /// What was said where, to know it again when it is not rendered.
    seen: BTreeSet<(String, u32, String)>,
}

impl Messages {
    /// Adds what one run of the assembler said.
    pub fn add(&mut self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        for diagnostic in diagnostics {
            let span = diagnostic.primary.span;
            let place = sources.file(span.file).path.clone();
            let new = self
                .seen
                .insert((place, span.lo, diagnostic.message.clone()));
            let before = match diagnostic.level {
                Level::Error => &mut self.errors,
                Level::Warning => &mut self.warnings,
                Level::Note => &mut 0,
            };
            if *before >= SHOWN_MOST {
                *before += usize::from(new);
                self.hidden += usize::from(new);
                continue;
            }
            let text = render_diagnostic(diagnostic, sources);
            if !self.rendered.contains(&text) {
                *before += 1;
                self.items.push(Message::new(diagnostic, sources, &text));
                self.rendered.push(text);
            }
        }
    }

    /// `2 errors and 1 warning`; empty if there are neither.
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

/// What the assembler is told for a program of the project.
#[must_use]
pub fn options(project: &Project, defines: &[(String, String)]) -> Options {
    Options {
        defines: defines.to_vec(),
        control_store_words: usize::from(project.profile.control_store_words()),
        local_memory_words: usize::from(project.profile.local_memory_words()),
        ..Options::default()
    }
}

/// Assembles one source.
#[must_use]
pub fn assemble_source(source: &Path, include: &[PathBuf], options: &Options) -> Assembly {
    npsim_asm::assemble(
        &source.display().to_string(),
        &FileIncludes::new(include.to_vec()),
        options,
    )
}

/// Assembles the programs of a project; `None` if one of them has errors.
#[must_use]
pub fn assemble_project(project: &Project) -> (Option<Vec<Program>>, Messages) {
    assemble_project_with(project, &Lints::default())
}

/// The same with some warnings silent or errors.
#[must_use]
pub fn assemble_project_with(project: &Project, lints: &Lints) -> (Option<Vec<Program>>, Messages) {
    let mut programs = Some(Vec::new());
    let mut messages = Messages::default();
    for plan in &project.programs {
        let assembly = assemble_source(
            &plan.source,
            &project.include,
            &options(project, &plan.defines),
        );
        let diagnostics = lints.apply(assembly.diagnostics);
        messages.add(&diagnostics, &assembly.sources);
        let failed = diagnostics.iter().any(|d| d.level == Level::Error);
        match assembly.image.filter(|_| !failed) {
            Some(image) => {
                if let Some(programs) = &mut programs {
                    programs.push(Program {
                        me: plan.me,
                        source: plan.source.clone(),
                        image,
                        sources: assembly.sources,
                    });
                }
            }
            None => programs = None,
        }
    }
    (programs, messages)
}
