//! Options of all commands that read sources.

use std::path::PathBuf;

use clap::Args;
use npsim::assemble::Messages;
use npsim::project::text::{is_name, parse_value};
use npsim::project::{Overrides, Setting};

use crate::output;

/// `-D`, `-I`, `--import`, `--spill-moves`, `--chip`, `--board`, `--set`.
#[derive(Debug, Args)]
pub struct SourceOptions {
    /// Define NAME as VALUE (1 if omitted) before the first line
    ///
    /// Replaces a `define` of the project file. The names of rings, queues and
    /// other objects of the project cannot be replaced.
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = define)]
    defines: Vec<(String, String)>,
    /// Look for includes in DIR, before the project's own folders
    ///
    /// The folder of the including file is always searched first.
    #[arg(short = 'I', long, value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Set the import variable NAME to VALUE; replaces an `import` of the project file
    #[arg(long = "import", value_name = "NAME=VALUE", value_parser = import)]
    imports: Vec<(String, u32)>,
    /// Where an instruction needs two registers of one bank, copy one of them and report it
    #[arg(long)]
    spill_moves: bool,
    /// Chip profile instead of the project's (`npsim chip` lists them)
    #[arg(long, value_name = "NAME")]
    chip: Option<String>,
    /// Board instead of the project's (`npsim chip` lists them)
    ///
    /// A board determines chip, memories and ports. A path that ends in `.toml` names
    /// a board file of your own; likewise a chip file with --chip.
    #[arg(long, value_name = "NAME")]
    board: Option<String>,
    /// Set a key of the project file for this command only, such as `me.forward.id=0-1`; may be repeated
    ///
    /// A list entry is addressed by its number from 0, its name, or `*` for all:
    /// `port.*.rate=10Gbps`. `profile.GROUP.NAME=N` changes a parameter of the
    /// chip (`npsim chip NAME` lists them), which the stats record.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    set: Vec<Setting>,
}

impl SourceOptions {
    /// The value of `--board`.
    pub fn board(&self) -> Option<&str> {
        self.board.as_deref()
    }

    /// The values of `--set`.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "asked for by live runs alone")
    )]
    pub fn settings(&self) -> &[Setting] {
        &self.set
    }

    /// The options as overrides of a project.
    pub fn overrides(&self, ids: Option<String>) -> Overrides {
        Overrides {
            chip: self.chip.clone(),
            board: self.board.clone(),
            ids,
            defines: self.defines.clone(),
            include: self.include.clone(),
            imports: self.imports.clone(),
            spill_moves: self.spill_moves,
            set: self.set.clone(),
            stalls: Vec::new(),
            routes: None,
            route_blocks: None,
        }
    }
}

fn setting(text: &str) -> Result<Setting, String> {
    text.parse()
}

fn define(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    if name.is_empty() {
        return Err("there is no name before `=`; write -D NAME or -D NAME=VALUE".into());
    }
    Ok((name.to_string(), value.to_string()))
}

fn import(text: &str) -> Result<(String, u32), String> {
    let wrong =
        || "write --import NAME=VALUE with a number of 32 bits, such as TABLE=0x400".to_owned();
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    let value = parse_value(value)
        .filter(|_| is_name(name))
        .ok_or_else(wrong)?;
    Ok((name.to_owned(), value))
}

/// Shows the assembler's messages; if there are errors, the last line counts them.
pub fn show(messages: &Messages) {
    for text in &messages.rendered {
        output::message(text);
    }
    if messages.hidden > 0 {
        output::line(&format!(
            "and {} more that are not shown; the first ones may be their cause",
            messages.hidden
        ));
    }
    if messages.errors > 0 {
        output::line(&format!("{}; nothing was assembled", messages.count()));
    }
}
