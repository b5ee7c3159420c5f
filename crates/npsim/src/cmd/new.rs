//! `npsim new`: a project file to start from.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use npsim::problem::Problem;
use npsim::project::{FILE_NAME, Overrides, default_text, is_source};
use npsim::whole_file::write_whole;

use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim new --from firmware.uc             writes npsim.toml beside firmware.uc
  npsim new --from firmware.uc --out lab   writes lab/npsim.toml";

/// Write the default project of a single source as a project file
///
/// The file has everything that `npsim run FIRMWARE.uc` takes for granted, ready to
/// be changed. A project file that is there is not overwritten.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The microcode source
    #[arg(long, value_name = "FIRMWARE.uc")]
    from: PathBuf,
    /// Folder for the project file; the source's folder if left out
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Microengines that run the source
    #[arg(long, value_name = "RANGE")]
    me: Option<String>,
    /// Chip profile (`npsim chip` lists them)
    #[arg(long, value_name = "NAME")]
    chip: Option<String>,
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
    let folder = arguments.out.clone().unwrap_or_else(|| own.clone());
    let overrides = Overrides {
        chip: arguments.chip.clone(),
        ids: arguments.me.clone(),
        ..Overrides::default()
    };
    // Loading finds a missing source, an unknown chip and a bad range.
    npsim::project::Project::load(source, &overrides)?;
    let shown = relative(source, &own, &folder)?;
    let path = folder.join(FILE_NAME);
    if path.exists() {
        return Err(
            Problem::new(format!("`{}` is there already", path.display()))
                .help("remove it, or choose another folder with --out DIR")
                .into(),
        );
    }
    std::fs::create_dir_all(&folder)
        .map_err(|error| Problem::io("make the folder", &folder, &error))?;
    write_whole(&path, default_text(source, &shown, &overrides).as_bytes())
        .map_err(|error| Problem::io("write", &path, &error))?;
    output::print(&format!(
        "wrote {}; `npsim run {}` runs it\n",
        path.display(),
        folder.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The source as the project file names it: its name in the same folder,
/// otherwise its full path.
fn relative(source: &Path, own: &Path, folder: &Path) -> anyhow::Result<String> {
    let here = std::fs::canonicalize(own)?;
    if std::fs::canonicalize(folder).is_ok_and(|folder| folder == here)
        && let Some(name) = source.file_name()
    {
        return Ok(name.to_string_lossy().into_owned());
    }
    Ok(std::fs::canonicalize(source)?
        .to_string_lossy()
        .into_owned())
}
