//! The book in `docs/src`, embedded at build time: its pages in order, and the search for topics.

pub mod html;
pub mod markdown;
pub mod terminal_text;

use npsim_asm::spelling::closest;
use npsim_book::PAGES;

use markdown::{Block, blocks, plain};

/// The table of contents.
const SUMMARY: &str = "SUMMARY";

/// A page of the book.
#[derive(Clone, Debug)]
pub struct Page {
    /// The file name without the extension, which is its topic.
    pub name: &'static str,
    /// Its title in the table of contents.
    pub title: &'static str,
    /// The part of the book that it belongs to; empty before the first one.
    pub part: &'static str,
    /// Its depth within the part: 0 for a chapter.
    pub depth: usize,
    /// The text in Markdown.
    pub text: &'static str,
}

/// A heading on a page.
#[derive(Clone, Debug)]
pub struct Heading {
    /// The page.
    pub page: Page,
    /// The heading without formatting.
    pub heading: String,
    /// The index of its block in the page.
    pub block: usize,
}

/// The result of looking up a topic.
#[derive(Clone, Debug)]
pub enum TopicMatch {
    /// One page.
    Page(Page),
    /// One section: the blocks of a page from a heading to the next of the same or a higher level.
    Section(Page, Vec<Block>),
    /// Several places, whose headings contain all the words.
    Places(Vec<Heading>),
    /// No match, and the most similar topic, if there is one.
    Nothing(Option<String>),
}

/// All pages, in the order of the table of contents.
#[must_use]
pub fn pages() -> Vec<Page> {
    let summary = npsim_book::page(SUMMARY).unwrap_or_default();
    let mut part = "";
    let mut pages = Vec::new();
    // The first heading is that of the table itself.
    for line in summary.lines().skip(1) {
        if let Some(title) = line.strip_prefix("# ") {
            part = title;
        }
        let indent = line.len() - line.trim_start().len();
        let link = line.split_once('[').and_then(|(_, rest)| {
            let (title, rest) = rest.split_once("](")?;
            Some((title, rest.split_once(".md)")?.0))
        });
        let Some((title, name)) = link else { continue };
        if let Some((name, text)) = PAGES.iter().find(|(own, _)| *own == name) {
            pages.push(Page {
                name,
                title,
                part,
                depth: indent / 2,
                text,
            });
        }
    }
    pages
}

/// Looks up a topic: the name or the title of a page, `PAGE HEADING`, or words of a heading.
#[must_use]
pub fn find(topic: &str) -> TopicMatch {
    let topic = topic.trim().to_lowercase();
    let topic = topic
        .strip_prefix("docs/src/")
        .unwrap_or(&topic)
        .replace(".md#", " ");
    let topic = topic.strip_suffix(".md").unwrap_or(&topic);
    let pages = pages();
    let named = |name: &str| {
        let mut pages = pages.iter();
        pages
            .find(|page| page.name == name || page.title.to_lowercase() == name)
            .cloned()
    };
    if let Some(page) = named(topic) {
        return TopicMatch::Page(page);
    }
    if let Some((name, rest)) = topic.split_once(' ')
        && let Some(page) = named(name)
    {
        let mut places = places(std::slice::from_ref(&page), rest);
        if let Some(at) = { places.iter() }.position(|place| heading_matches(&place.heading, rest))
        {
            return section(places.swap_remove(at));
        }
        return match places.len() {
            0 => TopicMatch::Nothing(Some(page.name.to_owned())),
            1 => section(places.remove(0)),
            _ => TopicMatch::Places(places),
        };
    }
    let mut places = places(&pages, topic);
    match places.len() {
        0 => {
            let names = pages.iter().map(|page| page.name);
            let titles: Vec<_> = pages.iter().map(|page| page.title.to_lowercase()).collect();
            let known = names.chain(titles.iter().map(String::as_str));
            TopicMatch::Nothing(closest(topic, known).map(str::to_owned))
        }
        1 => section(places.remove(0)),
        _ => TopicMatch::Places(places),
    }
}

/// Whether a heading equals what was typed, as text or as an anchor.
fn heading_matches(heading: &str, typed: &str) -> bool {
    heading.to_lowercase() == typed || markdown::anchor(heading) == typed
}

/// Headings that contain all the words of a text, in page order.
fn places(pages: &[Page], words: &str) -> Vec<Heading> {
    let words: Vec<&str> = words.split([' ', '-']).collect();
    let mut found = Vec::new();
    for page in pages {
        for (at, block) in blocks(page.text).iter().enumerate() {
            let Block::Heading { text, .. } = block else {
                continue;
            };
            let heading = plain(text);
            let lower = heading.to_lowercase();
            // An anchor lacks some of the punctuation of its heading.
            let anchor = markdown::anchor(&heading);
            let has = |word: &&str| lower.contains(*word) || anchor.contains(*word);
            if words.iter().all(has) {
                found.push(Heading {
                    page: page.clone(),
                    heading,
                    block: at,
                });
            }
        }
    }
    found
}

fn section(place: Heading) -> TopicMatch {
    let all = blocks(place.page.text);
    let level = |block: &Block| match block {
        Block::Heading { level, .. } => Some(*level),
        _ => None,
    };
    let own = all.get(place.block).and_then(level).unwrap_or(1);
    if own == 1 {
        return TopicMatch::Page(place.page);
    }
    let rest = &all[place.block + 1..];
    let end = rest
        .iter()
        .position(|block| level(block).is_some_and(|other| other <= own));
    let end = end.map_or(all.len(), |end| place.block + 1 + end);
    TopicMatch::Section(place.page, all[place.block..end].to_vec())
}

#[cfg(test)]
mod tests {
    use super::{PAGES, SUMMARY, TopicMatch, find, pages};

    #[test]
    fn table_of_contents_lists_each_page_once() {
        let pages = pages();
        for (name, _) in PAGES {
            let count = pages.iter().filter(|page| page.name == *name).count();
            assert_eq!(count, usize::from(*name != SUMMARY), "{name}");
        }
        assert_eq!(pages[0].name, "introduction");
        assert_eq!(pages[0].part, "");
        let profile = pages.iter().find(|page| page.name == "profile").unwrap();
        assert_eq!((profile.part, profile.depth), ("Do", 1));
    }

    #[test]
    fn topics_match_page_names_titles_and_headings() {
        let page = |topic: &str| match find(topic) {
            TopicMatch::Page(page) => page.name,
            other => panic!("{topic}: {other:?}"),
        };
        assert_eq!(page("stats"), "stats");
        assert_eq!(page("docs/src/stats.md"), "stats");
        assert_eq!(page("Write in an editor"), "editor");
        let section = |topic: &str| match find(topic) {
            TopicMatch::Section(page, blocks) => (page.name, blocks.len()),
            other => panic!("{topic}: {other:?}"),
        };
        assert_eq!(section("stats locks").0, "stats");
        assert_eq!(section("docs/src/stats.md#locks").0, "stats");
        assert!(section("stats locks").1 > 2);
        assert!(section("stats locks").1 < super::blocks(npsim_book::page("stats").unwrap()).len());
        let TopicMatch::Places(places) = find("order") else {
            panic!("{:?}", find("order"));
        };
        assert!(places.len() > 1);
        let lower = |heading: &str| heading.to_lowercase().contains("order");
        assert!(places.iter().all(|place| lower(&place.heading)));
    }

    #[test]
    fn mistyped_topic_gets_a_suggestion() {
        let TopicMatch::Nothing(Some(near)) = find("glosary") else {
            panic!("{:?}", find("glosary"));
        };
        assert_eq!(near, "glossary");
        assert!(matches!(find("xyzzyxyzzy"), TopicMatch::Nothing(None)));
    }
}
