//! `npsim bundle info`: shows the contents of a bundle.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use npsim::quantity::grouped;

use crate::bundle::{self, PackedFile};
use crate::output;

/// Say what is in a bundle: the command, who made it, the files, what was printed
#[derive(Debug, Args)]
pub struct Arguments {
    /// The bundle
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let opened = bundle::open(&arguments.file)?;
    let manifest = opened.manifest();
    let made = &manifest.made_by;
    let mut text = String::new();
    writeln!(
        text,
        "command      npsim {}",
        manifest.request.command.join(" ")
    )?;
    if !manifest.request.folder.is_empty() {
        writeln!(text, "folder       {}", manifest.request.folder)?;
    }
    writeln!(
        text,
        "made by      npsim {} on {}",
        made.version, made.system
    )?;
    writeln!(text, "ended        {}", manifest.outcome.ended)?;
    let mut list = |title: &str, files: &[PackedFile]| -> anyhow::Result<()> {
        for file in files {
            writeln!(
                text,
                "{title:13}{}  {} bytes",
                file.path,
                grouped(file.bytes)
            )?;
        }
        Ok(())
    };
    list("read", &manifest.inputs)?;
    list("written", &manifest.outcome.outputs)?;
    output::print_text(&escaped(&text))?;
    output::show(&format!("\n{}", escaped(&opened.printed())))?;
    Ok(ExitCode::SUCCESS)
}

/// Untrusted text, with control characters escaped that could move the terminal's cursor.
fn escaped(text: &str) -> String {
    let safe = |it: char| it == '\n' || it == '\t' || !it.is_control();
    text.chars()
        .map(|it| if safe(it) { it } else { '\u{fffd}' })
        .collect()
}
