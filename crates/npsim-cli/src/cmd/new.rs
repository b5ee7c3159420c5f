//! `npsim new`: writes a project file to start from.

use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use npsim::atomic_file::write_atomically;
use npsim::files::Disk;
use npsim::problem::Problem;
use npsim::project::{FILE_NAME, Overrides, default_text, is_source};
use serde::Serialize;

use super::format::Format;

const EXAMPLES: &str = "\
Examples:
  npsim new --from firmware.uc             writes npsim.toml beside firmware.uc
  npsim new --from firmware.uc --out lab   writes lab/npsim.toml
  npsim new --from firmware.uc -I microcode/lib   its includes are found there";

/// Write the default project of a single source as a project file
///
/// The file spells out everything that `npsim run FIRMWARE.uc` assumes, ready to be
/// edited. An existing project file is not overwritten.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The microcode source
    #[arg(long, value_name = "FIRMWARE.uc")]
    from: PathBuf,
    /// Write the project file into DIR [default: the source's folder]
    #[arg(short, long, value_name = "DIR", value_parser = super::value::folder())]
    out: Option<PathBuf>,
    /// Look for includes in DIR, which becomes the project's `include`; may be repeated
    #[arg(short = 'I', long, value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Microengines that run the source
    #[arg(long, value_name = "RANGE")]
    me: Option<String>,
    /// Chip profile for the project (`npsim chip` lists them)
    #[arg(long, value_name = "NAME")]
    chip: Option<String>,
    /// Board for the project (`npsim chip` lists them)
    #[arg(long, value_name = "NAME")]
    board: Option<String>,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

/// The project file that was written, as JSON.
#[derive(Serialize)]
struct NewProjectOutput {
    project: String,
    folder: String,
    source: String,
    include: Vec<String>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let source = &arguments.from;
    if !is_source(source) {
        return Err(
            Problem::new(format!("`{}` is not a microcode source", source.display()))
                .help("give a file with the ending `.uc`")
                .into(),
        );
    }
    let own = match source.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let folder = arguments.out.clone().unwrap_or(own);
    let overrides = Overrides {
        chip: arguments.chip.clone(),
        board: arguments.board.clone(),
        ids: arguments.me.clone(),
        include: arguments.include.clone(),
        ..Overrides::default()
    };
    // Loading detects a missing source, an unknown chip and an invalid range.
    npsim::project::Project::load(source, &overrides, &npsim::registry())?;
    if let Some(missing) = arguments.include.iter().find(|folder| !folder.is_dir()) {
        return Err(
            Problem::new(format!("there is no folder `{}`", missing.display()))
                .help("give the folder that has the source's includes with -I DIR")
                .into(),
        );
    }
    let path = folder.join(FILE_NAME);
    if path.exists() {
        return Err(Problem::new(format!("`{}` already exists", path.display()))
            .help("remove it, or choose another folder with --out DIR")
            .into());
    }
    std::fs::create_dir_all(&folder)
        .map_err(|error| Problem::io("make the folder", &folder, &error))?;
    let shown = relative_path(&folder, source)?;
    let include = arguments
        .include
        .iter()
        .map(|include| relative_path(&folder, include))
        .collect::<Result<Vec<_>, _>>()?;
    let text = default_text(&Disk, source, &shown, &include, &overrides)?;
    write_atomically(&path, text.as_bytes())
        .map_err(|error| Problem::io("write", &path, &error))?;
    let written = NewProjectOutput {
        project: path.display().to_string(),
        folder: folder.display().to_string(),
        source: shown,
        include,
    };
    arguments.format.print(&written, || {
        format!(
            "wrote {}; `npsim run {}` runs it{}\n",
            written.project,
            written.folder,
            include_hint(arguments)
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A hint for the run, if the source includes files and no folder was given.
fn include_hint(arguments: &Arguments) -> &'static str {
    let includes = std::fs::read_to_string(&arguments.from).is_ok_and(|text| {
        let mut lines = text.lines();
        lines.any(|line| line.trim_start().starts_with("#include"))
    });
    if includes && arguments.include.is_empty() {
        ", with `-I DIR` or `include` in the file if what it includes lies elsewhere"
    } else {
        ""
    }
}

/// A path relative to the project file's `folder`; both must exist.
fn relative_path(folder: &Path, path: &Path) -> Result<String, Problem> {
    let full = |path: &Path| {
        std::fs::canonicalize(path).map_err(|error| Problem::io("read", path, &error))
    };
    let (folder, path) = (full(folder)?, full(path)?);
    let common = folder
        .components()
        .zip(path.components())
        .take_while(|(a, b)| a == b)
        .count();
    // With only the root in common, the absolute path is clearer.
    if common <= 1 {
        return Ok(path.to_string_lossy().into_owned());
    }
    let up = folder
        .components()
        .skip(common)
        .map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(path.components().skip(common)).collect();
    Ok(if way.as_os_str().is_empty() {
        ".".into()
    } else {
        way.to_string_lossy().into_owned()
    })
}
