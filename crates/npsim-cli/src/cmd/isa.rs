//! `npsim isa`: shows the reference pages of the instruction set.

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::Args;
use npsim::problem::Problem;
use npsim::vocabulary;
use serde::Serialize;

use super::format::{self, Format};
use crate::markdown::with_tables;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim isa                 the pages there are
  npsim isa formats         the page Word formats
  npsim isa ctx_arb         one instruction, or one register such as CTX_ENABLES
  npsim isa hash            a unit with its commands; test_and_incr: a command in its units
  npsim isa .if             one directive, or an optional token such as indirect_ref
  npsim isa directives      all directives; structured has .if, .while and their relatives
  npsim isa --all           all of them";

/// Print the reference of the instruction set, made from the tables that encode it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// An instruction, unit, command, register or directive, or the start of its name; or a page, by its title or the start of a word in it
    #[arg(value_name = "NAME")]
    page: Option<String>,
    /// Print all pages
    #[arg(long, conflicts_with = "page")]
    all: bool,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

/// A page, as JSON.
#[derive(Serialize)]
struct IsaPage<'a> {
    title: &'a str,
    /// The page in Markdown.
    text: &'a str,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut pages = npsim_isa::reference::pages();
    pages.extend(vocabulary::pages());
    let format = arguments.format;
    if format.is_json() && arguments.page.is_none() {
        let pages = pages.iter().map(|(title, text)| IsaPage {
            title,
            text: text.trim_end(),
        });
        format::json(&pages.collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.all {
        let texts: Vec<_> = pages.iter().map(|(_, text)| text.trim_end()).collect();
        show(&texts.join("\n\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(wanted) = &arguments.page else {
        let titles: Vec<_> = pages
            .iter()
            .map(|(title, _)| format!("{title}\n"))
            .collect();
        output::print(&titles.concat())?;
        return Ok(ExitCode::SUCCESS);
    };
    let low = wanted.to_lowercase();
    let exact = pages.iter().find(|(title, _)| title.to_lowercase() == low);
    if let Some(text) = exact
        .is_none()
        .then(|| npsim_isa::reference::entry(wanted).or_else(|| vocabulary::entry(wanted)))
        .flatten()
    {
        return page(wanted, &text, format);
    }
    let begins = |text: &str| text.to_lowercase().starts_with(&low);
    let names: BTreeSet<&str> = npsim_isa::reference::names()
        .chain(vocabulary::names())
        .collect();
    let found = exact.or_else(|| {
        let titles = || pages.iter();
        titles()
            .find(|(title, _)| begins(title))
            .or_else(|| titles().find(|(title, _)| title.split(' ').any(begins)))
    });
    let completions: Vec<&str> = names.iter().copied().filter(|name| begins(name)).collect();
    if let (None, [one]) = (found, completions.as_slice()) {
        let text = npsim_isa::reference::entry(one).or_else(|| vocabulary::entry(one));
        return page(one, &text.unwrap_or_default(), format);
    }
    let Some((title, text)) = found else {
        let problem = Problem::new(format!(
            "there is no instruction, unit, command, register, directive or page `{wanted}`"
        ));
        if !completions.is_empty() {
            let list = completions.join(", ");
            return Err(problem.help(format!("these begin so: {list}")).into());
        }
        let titles = pages.iter().map(|(title, _)| title.as_str());
        return Err(problem
            .help("`npsim isa` lists the pages")
            .suggest(wanted, names.into_iter().chain(titles))
            .into());
    };
    page(title, text, format)
}

/// Prints a page for people.
fn show(text: &str) -> anyhow::Result<()> {
    output::print_text(&(with_tables(text, output::width()).trim_end().to_owned() + "\n"))
}

fn page(title: &str, text: &str, format: Format) -> anyhow::Result<ExitCode> {
    let text = text.trim_end();
    match format {
        Format::Json => format::json(&IsaPage { title, text })?,
        Format::Text => show(text)?,
    }
    Ok(ExitCode::SUCCESS)
}
