//! Destinations of outputs: files, which must overwrite neither inputs nor each other, and whose
//! paths are checked before anything runs; or standard output, given as `-`, which only one output
//! may use.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use npsim::assemble::Program;
use npsim::atomic_file::{check_creatable, is_standard_output, same_file};
use npsim::problem::Problem;
use npsim::project::Project;

use super::file_forms::{FileForm, JSON, PAGE};
use super::format::Format;
use super::page_file;
use crate::output;
use crate::usage::Conflict;

/// An output option.
#[derive(Clone, Debug)]
pub struct OutputOption {
    /// The name of the option, with its dashes.
    pub option: &'static str,
    /// The file, or `-`.
    pub path: PathBuf,
    form: &'static FileForm,
    /// Whether it is written at the end of the run.
    late: bool,
    /// Whether its folder is created for it.
    makes_folder: bool,
}

impl OutputOption {
    /// An output of the given form.
    pub fn new(option: &'static str, path: impl Into<PathBuf>, form: &'static FileForm) -> Self {
        Self {
            option,
            path: path.into(),
            form,
            late: false,
            makes_folder: false,
        }
    }

    /// The page in the folder given by `--report`.
    pub fn page(folder: &Path) -> Self {
        Self {
            makes_folder: true,
            ..Self::new("--report", page_file::path(folder), &PAGE).written_late()
        }
    }

    /// The results on standard output, if they are printed as JSON.
    pub fn results(format: Format, quiet: bool) -> Option<Self> {
        (format.is_json() && !quiet).then(|| Self::new("--format json", "-", &JSON))
    }

    /// Marks the output as written at the end of the run.
    #[must_use]
    pub fn written_late(mut self) -> Self {
        self.late = true;
        self
    }
}

/// Reserves standard output for the output that claims it, if any; text for people then goes to
/// standard error.
///
/// # Errors
/// Returns an error if two outputs claim it, which is a usage error of `subcommand`, or if a binary
/// output would go to a terminal.
pub fn claim(subcommand: &'static [&'static str], outputs: &[OutputOption]) -> anyhow::Result<()> {
    let mut asking = outputs.iter().filter(|it| is_standard_output(&it.path));
    let Some(first) = asking.next() else {
        return Ok(());
    };
    if let Some(second) = asking.next() {
        let message = if first.option == second.option {
            format!("{} asks for standard output twice", first.option)
        } else {
            format!(
                "{} and {} both ask for standard output",
                first.option, second.option
            )
        };
        return Err(Conflict {
            subcommand,
            message,
        }
        .into());
    }
    if first.form.is_binary(&first.path) && io::stdout().is_terminal() {
        return Err(Problem::new(format!(
            "{} writes a binary format, which a terminal cannot show",
            first.option
        ))
        .help("name a file, or send standard output to another program or a file")
        .into());
    }
    output::reserve_stdout();
    Ok(())
}

/// A file that is read, and its description.
pub type Input = (PathBuf, &'static str);

/// The files that a system was read from.
pub fn files_of(project: &Project, programs: &[Program]) -> Vec<Input> {
    let inputs = { project.inputs.iter() }.map(|it| (it.path.clone(), "a file of the project"));
    let project = { project.text.files.iter() }.map(|path| (path.clone(), "the project file"));
    let sources = programs.iter().flat_map(|program| {
        let files = { program.sources.files().iter() }.map(|file| PathBuf::from(&file.path));
        files.chain([program.source.clone()])
    });
    sources
        .map(|path| (path, "a source"))
        .chain(inputs)
        .chain(project)
        .collect()
}

/// Rejects outputs whose file extension does not match their contents.
///
/// # Errors
/// Returns an error for the first such output.
pub fn check_extensions(outputs: &[OutputOption]) -> Result<(), Problem> {
    let mut outputs = outputs.iter();
    outputs.try_for_each(|output| output.form.check(output.option, &output.path))
}

/// Rejects an output that would overwrite an input or another output, or whose file extension does
/// not match its contents.
///
/// # Errors
/// Returns an error for the first such output.
pub fn check_overwrites(inputs: &[Input], outputs: &[OutputOption]) -> Result<(), Problem> {
    for (at, output) in outputs.iter().enumerate() {
        let taken = inputs
            .iter()
            .find(|(input, _)| same_file(input, &output.path));
        if let Some((_, what)) = taken {
            return Err(Problem::new(format!(
                "{} `{}` would overwrite {what}",
                output.option,
                output.path.display()
            ))
            .help("give the output another name"));
        }
        let before = outputs[..at]
            .iter()
            .find(|other| same_file(&other.path, &output.path));
        if let Some(other) = before {
            return Err(Problem::new(format!(
                "{} and {} both write `{}`",
                other.option,
                output.option,
                other.path.display()
            ))
            .help("give one of them another name"));
        }
    }
    check_extensions(outputs)
}

/// Checks in advance whether the outputs written at the end can be written, so that no results are
/// lost. Creates the folder of a page.
///
/// # Errors
/// Returns an error if a file cannot be created there.
pub fn check_writable(outputs: &[OutputOption]) -> Result<(), Problem> {
    let late = outputs.iter().filter(|output| output.late);
    for output in late.filter(|output| !is_standard_output(&output.path)) {
        let path = &output.path;
        if let Some(folder) = path.parent().filter(|_| output.makes_folder) {
            page_file::make_folder(folder)?;
        }
        check_creatable(path).map_err(|error| Problem::io("write", path, &error))?;
    }
    Ok(())
}
