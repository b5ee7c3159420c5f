//! Lists the projects among the files.

use std::path::Path;

use serde_json::{Value, json};

use crate::file_store::FileStore;

/// The value of a key at the beginning of a line.
fn text_of<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let mut lines = text.lines();
    lines.find_map(|line| {
        let value = line.strip_prefix(key)?.trim_start().strip_prefix('=')?;
        value.trim().strip_prefix('"')?.split('"').next()
    })
}

/// The comment at the beginning of a file.
fn leading_comment(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix('#'));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The project files among the files, by path. They are not parsed, so that a mistake in one
/// appears only when it is opened.
pub fn list(files: &FileStore) -> Value {
    let mut systems = Vec::new();
    for (path, _) in files.sizes(Path::new("/")) {
        let shown = path.display().to_string();
        let is_toml = path.extension().is_some_and(|it| it == "toml");
        if !is_toml || shown.ends_with(".part.toml") {
            continue;
        }
        let Some(text) = files.text(&path) else {
            continue;
        };
        let is_project = ["[[me]]", "extends", "[me."]
            .iter()
            .any(|it| text.lines().any(|line| line.starts_with(it)));
        if !is_project {
            continue;
        }
        let folder = path.parent().map(|it| it.display().to_string());
        systems.push(json!({
            "target": shown,
            "name": text_of(&text, "name"),
            "chip": text_of(&text, "chip"),
            "folder": folder,
            "about": leading_comment(&text),
            "exercise": text.contains("[[goal]]") || text.contains("goals.part.toml"),
        }));
    }
    json!({ "systems": systems })
}
