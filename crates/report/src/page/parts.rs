//! Parts shared by all pages.

use minijinja::Environment;
use minijinja::syntax::SyntaxConfig;
use serde::Serialize;

/// The text for a missing value.
pub(crate) const NO_VALUE: &str = "–";

/// A chart in a wide and a narrow version.
#[derive(Serialize)]
pub(crate) struct ResponsiveChart {
    pub wide: String,
    pub narrow: String,
}

/// A headline figure.
#[derive(Serialize)]
pub(crate) struct Tile {
    pub name: String,
    pub value: String,
    pub unit: String,
    pub note: String,
    pub alarming: bool,
}

/// An entry of a legend.
#[derive(Serialize)]
pub(crate) struct LegendEntry {
    pub class: &'static str,
    pub name: String,
}

impl LegendEntry {
    /// Creates an entry with a colour class of the style sheet.
    pub fn new(class: &'static str, name: &str) -> Self {
        Self {
            class,
            name: name.to_owned(),
        }
    }
}

/// Renders a page from its template, which can use the parts shared by all pages.
///
/// # Errors
/// Returns an error only if the template does not fit the content, which a test
/// excludes.
pub(crate) fn render(
    template: &'static str,
    content: impl Serialize,
) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()?;
    environment.set_syntax(syntax);
    environment.add_filter("code", code);
    environment.add_template("frame.html", include_str!("frame.html"))?;
    environment.add_template("drawings.html", include_str!("drawings.html"))?;
    environment.add_template("page.html", template)?;
    environment
        .get_template("page.html")?
        .render(minijinja::value::Serde(content))
}

/// Escapes text for markup, with text between backquotes set as code.
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
