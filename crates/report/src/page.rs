//! A run as one page: HTML that needs nothing but itself, to read on a screen,
//! a telephone or paper, with or without scripts. The same run gives the same
//! bytes.

pub mod close_up;
mod content;
mod fingerprint;
mod tables;

use npsim_observe::series::Series;
use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_session::histogram::Histogram;
use npsim_session::report::NodeReport;

use crate::bottleneck::{Analysis, Stage};
pub(crate) use content::{Figure, Key, Tile};
use npsim_observe::lanes::ContextLanes;

/// What a page is made of.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// What the run came to.
    pub report: &'a NodeReport,
    /// How it went.
    pub series: &'a Series,
    /// What limits it.
    pub analysis: &'a Analysis,
    /// Who runs what.
    pub stages: &'a [Stage],
    /// The project.
    pub project: &'a Project,
    /// Its programs.
    pub programs: &'a [Program],
    /// Cycles from the last bit in to the last bit out of each packet.
    pub latencies: &'a Histogram,
    /// A close look, and what at.
    pub lanes: Option<(&'a ContextLanes, &'a str)>,
    /// How the run was asked for: name and value.
    pub settings: &'a [(String, String)],
}

/// The page.
///
/// # Errors
/// Only if the template does not fit the data, which a test excludes.
pub fn render(run: &Run<'_>) -> Result<String, minijinja::Error> {
    let mut environment = environment()?;
    environment.add_template("page.html", include_str!("page/page.html"))?;
    environment
        .get_template("page.html")?
        .render(minijinja::value::Serde(content::content(run)))
}

/// What templates of pages are rendered in, with what all of them share.
pub(crate) fn environment<'a>() -> Result<minijinja::Environment<'a>, minijinja::Error> {
    let mut environment = minijinja::Environment::new();
    let syntax = minijinja::syntax::SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()?;
    environment.set_syntax(syntax);
    environment.add_filter("code", code);
    environment.add_template("frame.html", include_str!("page/frame.html"))?;
    environment.add_template("drawings.html", include_str!("page/drawings.html"))?;
    Ok(environment)
}

/// Text as markup, with what stands between backquotes set as code.
fn code(text: &str) -> minijinja::Value {
    let parts = text.split('`').enumerate().map(|(index, part)| {
        let part = crate::chart::svg::escaped(part);
        if index % 2 == 1 {
            format!("<code>{part}</code>")
        } else {
            part
        }
    });
    minijinja::Value::from_safe_string(parts.collect())
}
