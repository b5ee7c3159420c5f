//! `npsim isa`: the instruction set's reference pages.

use std::process::ExitCode;

use clap::Args;
use npsim::problem::Problem;
use npsim::vocabulary;
use npsim_asm::spelling::closest;

use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim isa                 the pages there are
  npsim isa formats         the page Word formats, as Markdown
  npsim isa ctx_arb         one instruction, or one register such as CTX_ENABLES
  npsim isa .if             one directive, or an optional token such as indirect_ref
  npsim isa directives      all directives; structured has .if, .while and their relatives
  npsim isa --all           all of them";

/// Print the reference of the instruction set, made from the tables that encode it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// An instruction, a register, a directive, or a page by its title or the beginning of a word in it
    #[arg(value_name = "NAME")]
    page: Option<String>,
    /// All pages
    #[arg(long, conflicts_with = "page")]
    all: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut pages = npsim_isa::reference::pages();
    pages.extend(vocabulary::pages());
    if arguments.all {
        let texts: Vec<_> = pages.iter().map(|(_, text)| text.trim_end()).collect();
        output::print(&(texts.join("\n\n") + "\n"))?;
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
        output::print(&format!("{}\n", text.trim_end()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let found = exact.or_else(|| {
        let begins = |text: &str| text.to_lowercase().starts_with(&low);
        let titles = || pages.iter();
        titles()
            .find(|(title, _)| begins(title))
            .or_else(|| titles().find(|(title, _)| title.split(' ').any(begins)))
    });
    let Some((_, text)) = found else {
        let problem = Problem::new(format!(
            "there is no instruction, register, directive or page `{wanted}`"
        ));
        let names = npsim_isa::reference::names().chain(vocabulary::names());
        let mut known: Vec<&str> = names.collect();
        known.extend(pages.iter().map(|(title, _)| title.as_str()));
        let near = closest(wanted, known.iter().copied());
        let help = near.map_or_else(
            || "`npsim isa` lists the pages".into(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(problem.help(help).into());
    };
    output::print(&format!("{}\n", text.trim_end()))?;
    Ok(ExitCode::SUCCESS)
}
