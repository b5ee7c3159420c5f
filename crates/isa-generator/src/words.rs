//! Identifiers and values in the generated source.

use super::tables::Evidence;

/// Converts a name like `alu_shf` to `AluShf`.
pub fn camel(name: &str) -> String {
    name.split('_')
        .map(|part| {
            let mut characters = part.chars();
            characters
                .next()
                .map(|first| first.to_ascii_uppercase().to_string() + characters.as_str())
                .unwrap_or_default()
        })
        .collect()
}

pub fn marks(list: &[Evidence]) -> String {
    let names: Vec<String> = list
        .iter()
        .map(|mark| format!("Evidence::{}", mark.variant()))
        .collect();
    format!("&[{}]", names.join(", "))
}

pub fn optional(text: Option<&String>) -> String {
    text.map_or("None".to_owned(), |text| format!("Some({text:?})"))
}
