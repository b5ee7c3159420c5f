//! The book in `src/`, as it was when the program was built.

/// The pages of the book and its table of contents `SUMMARY`: the name of the file without its
/// ending, and its text in Markdown; in the order of the names.
pub const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The text of a page, or of `SUMMARY`.
#[must_use]
pub fn page(name: &str) -> Option<&'static str> {
    let mut pages = PAGES.iter();
    pages.find_map(|(known, text)| (*known == name).then_some(*text))
}
