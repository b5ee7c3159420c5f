//! What a macro and a program come to, above them.

use std::path::Path;

use lsp_types::{CodeLens, Command, Position, Range};
use npsim_image::{Image, Origin};

use super::position;
use super::scan::definitions;
use super::workspace::Workspace;

/// A line above the text for each program that it is the source of, and one above each
/// macro of it.
#[must_use]
pub fn lenses(workspace: &Workspace, path: &Path) -> Option<Vec<CodeLens>> {
    let text = workspace.documents.text(path)?;
    let mut found = Vec::new();
    for analysis in workspace.about(path).filter(|it| it.root.main == path) {
        let Some(image) = &analysis.image else {
            continue;
        };
        let room = analysis.root.options.control_store_words;
        let project = match &analysis.root.project {
            Some((name, me)) => format!(", microengine {me} of {name}"),
            None => String::new(),
        };
        let words = image.words.len();
        found.push(lens(
            Range::default(),
            format!("{words} of {room} words{project}"),
        ));
    }
    let images: Vec<&Image> = workspace
        .about(path)
        .filter_map(|it| it.image.as_ref())
        .collect();
    for known in definitions(&text).macros {
        let mut uses: Vec<usize> = Vec::new();
        for image in &images {
            uses.extend(sizes(image, &known.name));
        }
        let shown = match (uses.iter().min(), uses.iter().max()) {
            (Some(least), Some(most)) => {
                let times = if uses.len() == 1 { "use" } else { "uses" };
                let words = if least == most {
                    words(*most)
                } else {
                    format!("{least} to {}", words(*most))
                };
                format!("{} {times}, {words} each", uses.len())
            }
            _ if images.is_empty() => continue,
            _ => "not used".to_owned(),
        };
        let at = position::position(&text, known.whole.start);
        found.push(lens(Range::new(Position::new(at.line, 0), at), shown));
    }
    Some(found)
}

fn words(count: usize) -> String {
    format!("{count} word{}", if count == 1 { "" } else { "s" })
}

/// Text without anything to do at a click.
fn lens(range: Range, title: String) -> CodeLens {
    CodeLens {
        range,
        command: Some(Command {
            title,
            command: String::new(),
            arguments: None,
        }),
        data: None,
    }
}

/// How many words each use of a macro became.
fn sizes(image: &Image, name: &str) -> Vec<usize> {
    let uses = (0..)
        .zip(&image.expansions)
        .filter(|(_, it)| it.name == name);
    uses.map(|(number, _): (u32, _)| {
        let inside = |origin: &Origin| {
            let outer = |at: &u32| image.expansions.get(*at as usize)?.call.expansion;
            std::iter::successors(origin.expansion, outer).any(|it| it == number)
        };
        image.origins.iter().filter(|it| inside(it)).count()
    })
    .collect()
}
