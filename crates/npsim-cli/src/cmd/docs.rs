//! `npsim docs`: shows the book, wherever the program is installed.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use crate::docs::markdown::{blocks, links};
use crate::docs::{Heading, Page, TopicMatch, find, html, pages, terminal_text};
use clap::Args;
use npsim::atomic_file::write_atomically;
use npsim::problem::Problem;

use super::value::folder;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim docs                    the pages there are
  npsim docs first-firmware     a page, by its name or its title
  npsim docs stats locks        a section of a page
  npsim docs locks              the places whose headings have the word
  npsim docs --html book        all pages as HTML, begin with book/index.html

Where the output is a terminal and PAGER is set, a page is shown by that program.";

/// Read the manual: tutorials, how to do things, reference
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A page, a page and a heading on it, or words of a heading; omit it to list the pages
    #[arg(value_name = "TOPIC")]
    topic: Vec<String>,
    /// Write all pages as HTML into DIR
    #[arg(long, value_name = "DIR", conflicts_with = "topic", value_parser = folder())]
    html: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if let Some(folder) = &arguments.html {
        write_html(folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.topic.is_empty() {
        output::print(&contents())?;
        return Ok(ExitCode::SUCCESS);
    }
    let topic = arguments.topic.join(" ");
    match find(&topic) {
        TopicMatch::Page(page) => {
            let text = terminal_text::render(&blocks(page.text), output::width());
            show(&(text + &linked_pages(&page)))?;
        }
        TopicMatch::Section(page, section) => {
            let text = terminal_text::render(&section, output::width());
            show(&format!(
                "{text}\n(from `npsim docs {}`, {})\n",
                page.name, page.title
            ))?;
        }
        TopicMatch::Places(places) => output::print(&list(&places))?,
        TopicMatch::Nothing(near) => {
            let problem = Problem::new(format!("the manual has no page or heading `{topic}`"));
            let help = near.map_or_else(
                || "`npsim docs` lists the pages".to_owned(),
                |near| format!("did you mean `npsim docs {near}`?"),
            );
            return Err(problem.help(help).into());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The pages linked from a page; a terminal does not show links in the text.
fn linked_pages(page: &Page) -> String {
    let mut topics: Vec<String> = links(page.text)
        .iter()
        .filter_map(|link| {
            let file = link.split('#').next()?.strip_suffix(".md")?;
            (!file.contains(['/', ':']) && file != page.name).then(|| file.to_owned())
        })
        .collect();
    topics.sort();
    topics.dedup();
    if topics.is_empty() {
        return String::new();
    }
    let topics = topics.join(", ");
    let lines = terminal_text::wrapped(&topics, output::width(), "Pages named here: ", "  ");
    format!("\n{}\n", lines.join("\n"))
}

/// The list of pages, by part.
fn contents() -> String {
    let pages = pages();
    let widest = pages.iter().map(|page| page.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut part = "";
    for page in &pages {
        if page.part != part {
            part = page.part;
            let _ = writeln!(text, "\n{part}");
        }
        let _ = writeln!(
            text,
            "  {:widest$}  {}{}",
            page.name,
            "  ".repeat(page.depth),
            page.title
        );
    }
    text
}

/// Lists places, each with the command that shows it.
fn list(places: &[Heading]) -> String {
    let shown = |place: &Heading| {
        let heading = crate::docs::markdown::anchor(&place.heading);
        if place.block == 0 {
            format!("npsim docs {}", place.page.name)
        } else {
            format!("npsim docs {} {heading}", place.page.name)
        }
    };
    let widest = places.iter().map(|place| shown(place).len()).max();
    let widest = widest.unwrap_or(0);
    let lines = places
        .iter()
        .map(|place| format!("{:widest$}  {}\n", shown(place), place.heading));
    lines.collect()
}

/// Writes text to standard output, through the user's pager if there is one.
fn show(text: &str) -> anyhow::Result<()> {
    let pager = std::env::var("PAGER").unwrap_or_default();
    if pager.trim().is_empty() || !std::io::stdout().is_terminal() {
        return output::print(text);
    }
    let mut words = pager.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("less"));
    let child = command.args(words).stdin(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        return output::print(text);
    };
    if let Some(mut input) = child.stdin.take() {
        let text = anstream::adapter::strip_str(text).to_string();
        // The pager may be quit before it has read everything.
        let _ = input.write_all(text.as_bytes());
    }
    child.wait()?;
    Ok(())
}

fn write_html(folder: &std::path::Path) -> Result<(), Problem> {
    std::fs::create_dir_all(folder).map_err(|error| Problem::io("make", folder, &error))?;
    for (name, text) in html::files() {
        let path = folder.join(name);
        write_atomically(&path, text.as_bytes())
            .map_err(|error| Problem::io("write", &path, &error))?;
    }
    Ok(())
}
