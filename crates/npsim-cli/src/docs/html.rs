//! The book as HTML: pages with a table of contents and full-text search, in light and dark themes.
//! The pages are readable without scripts, and nothing is loaded from elsewhere.

use std::fmt::Write as _;

use pulldown_cmark::html::push_html;
use pulldown_cmark::{Event, Tag, TagEnd};
use serde::Serialize;

use super::markdown::{anchors, parser};
use super::{Page, pages};

/// A section of a page, for the search index.
#[derive(Serialize)]
struct SearchSection {
    title: String,
    place: String,
    text: String,
}

/// The files of the book as HTML: the pages, `index.html` with the contents, and shared files.
#[must_use]
pub fn files() -> Vec<(String, String)> {
    let pages = pages();
    let mut files = vec![
        ("index.html".to_owned(), contents(&pages)),
        (
            "book.css".to_owned(),
            include_str!("html/book.css").to_owned(),
        ),
        (
            "book.js".to_owned(),
            include_str!("html/book.js").to_owned(),
        ),
        ("search-index.js".to_owned(), search_index(&pages)),
    ];
    for (at, page) in pages.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| pages.get(before));
        let text = page_text(&pages, page, before, pages.get(at + 1));
        files.push((format!("{}.html", page.name), text));
    }
    files
}

fn frame(pages: &[Page], current: Option<&Page>, title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<link rel=\"stylesheet\" href=\"book.css\">\n</head>\n<body>\n\
         <div id=\"sidebar\">\n<input id=\"search\" type=\"search\" placeholder=\"Search (/)\" aria-label=\"Search\" hidden>\n\
         <button id=\"theme\" type=\"button\" hidden></button>\n<ul id=\"found\" aria-live=\"polite\"></ul>\n\
         <nav id=\"contents\">\n{}</nav>\n</div>\n<main>\n{body}</main>\n\
         <script src=\"search-index.js\"></script>\n<script src=\"book.js\"></script>\n</body>\n</html>\n",
        escape(title),
        list(pages, current),
    )
}

/// The list of pages by part, with the current one marked.
fn list(pages: &[Page], current: Option<&Page>) -> String {
    let mut text = String::from("<ol>\n");
    let mut part = "";
    for page in pages {
        if page.part != part {
            part = page.part;
            let _ = writeln!(text, "</ol>\n<h2>{}</h2>\n<ol>", escape(part));
        }
        let here = current.is_some_and(|current| current.name == page.name);
        let _ = writeln!(
            text,
            "<li style=\"padding-left: {}rem\"><a href=\"{}.html\"{}>{}</a></li>",
            page.depth,
            page.name,
            if here { " aria-current=\"page\"" } else { "" },
            escape(page.title)
        );
    }
    text + "</ol>\n"
}

fn contents(pages: &[Page]) -> String {
    let body = format!("<h1>npsim</h1>\n{}", list(pages, None));
    frame(pages, None, "npsim", &body)
}

fn page_text(pages: &[Page], page: &Page, before: Option<&Page>, after: Option<&Page>) -> String {
    let link = |page: Option<&Page>, mark: &str| {
        page.map_or_else(
            || "<span></span>".to_owned(),
            |page| {
                let title = escape(page.title);
                format!("<a href=\"{}.html\">{mark} {title}</a>", page.name)
            },
        )
    };
    let around = format!(
        "<nav>{}<a href=\"index.html\">Contents</a>{}</nav>\n",
        link(before, "&larr;"),
        link(after, "&rarr;")
    );
    let body = format!("{around}{}{around}", body(page));
    frame(pages, Some(page), &format!("{} - npsim", page.title), &body)
}

/// The search index: each heading with the text up to the next.
fn search_index(pages: &[Page]) -> String {
    let sections: Vec<_> = pages.iter().flat_map(sections).collect();
    let json = serde_json::to_string(&sections).unwrap_or_default();
    // The index is embedded in a script element, which its text must not close.
    format!("const SECTIONS = {};\n", json.replace("</", "<\\/"))
}

fn sections(page: &Page) -> Vec<SearchSection> {
    let mut anchors = anchors(page.text).into_iter();
    let mut found = vec![SearchSection {
        title: page.title.to_owned(),
        place: format!("{}.html", page.name),
        text: String::new(),
    }];
    let mut heading: Option<String> = None;
    for event in parser(page.text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let (Some(heading), Some(anchor)) = (heading.take(), anchors.next()) else {
                    continue;
                };
                found.push(SearchSection {
                    title: format!("{}: {heading}", page.title),
                    place: format!("{}.html#{anchor}", page.name),
                    text: String::new(),
                });
            }
            Event::Text(text) | Event::Code(text) => match (&mut heading, found.last_mut()) {
                (Some(heading), _) => heading.push_str(&text),
                (None, Some(section)) => section.text.push_str(&text),
                (None, None) => {}
            },
            _ => {
                if let Some(section) = found.last_mut()
                    && !section.text.ends_with(' ')
                {
                    section.text.push(' ');
                }
            }
        }
    }
    found.retain(|section| !section.text.trim().is_empty());
    found
}

/// The page's body, with links to other pages rewritten to their HTML files.
fn body(page: &Page) -> String {
    let mut anchors = anchors(page.text).into_iter();
    // Whether each open link has a target.
    let mut leads = Vec::new();
    let html = |text: &str| Event::Html(text.to_owned().into());
    let events = parser(page.text).map(|event| match event {
        Event::Start(Tag::Heading {
            level,
            classes,
            attrs,
            ..
        }) => Event::Start(Tag::Heading {
            level,
            id: anchors.next().map(Into::into),
            classes,
            attrs,
        }),
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => {
            let target = place(&dest_url);
            leads.push(target.is_some());
            match target {
                Some(target) => Event::Start(Tag::Link {
                    link_type,
                    dest_url: target.into(),
                    title,
                    id,
                }),
                None => html(""),
            }
        }
        Event::End(TagEnd::Link) if leads.pop() == Some(false) => html(""),
        // Pictures are not embedded in the program.
        Event::Start(Tag::Image { .. }) => html("<em>[picture: "),
        Event::End(TagEnd::Image) => html("]</em>"),
        // Apparent HTML is literal text in angle brackets.
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        other => other,
    });
    let mut out = String::new();
    push_html(&mut out, events);
    out
}

/// The target of a link within the book; `None` for a file of the repository.
fn place(target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with('#') {
        return Some(target.to_owned());
    }
    let (file, anchor) = match target.split_once('#') {
        Some((file, anchor)) => (file, format!("#{anchor}")),
        None => (target, String::new()),
    };
    let name = file.strip_suffix(".md")?;
    (!name.contains('/')).then(|| format!("{name}.html{anchor}"))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::files;

    #[test]
    fn links_between_pages_have_existing_targets() {
        let files = files();
        let mut places: BTreeSet<String> = BTreeSet::new();
        let pages: Vec<_> = { files.iter() }
            .filter(|it| Path::new(&it.0).extension().is_some_and(|it| it == "html"))
            .collect();
        for (name, text) in &pages {
            places.insert(name.clone());
            let anchors = text.split(" id=\"").skip(1);
            places.extend(
                anchors.map(|rest| format!("{name}#{}", rest.split('"').next().unwrap_or(""))),
            );
        }
        let mut count = 0;
        for (name, text) in &pages {
            for rest in text.split("<a href=\"").skip(1) {
                let target = rest.split('"').next().unwrap_or("");
                if target.contains("://") {
                    continue;
                }
                let target = match target.strip_prefix('#') {
                    Some(anchor) => format!("{name}#{anchor}"),
                    None => target.to_owned(),
                };
                assert!(places.contains(&target), "{name}: {target}");
                count += 1;
            }
            assert_eq!(
                text.matches("<pre>").count(),
                text.matches("</pre>").count(),
                "{name}"
            );
        }
        assert!(count > 300, "{count} links");
    }

    #[test]
    fn search_index_points_to_existing_sections() {
        let files = files();
        let text = |name: &str| {
            let found = files.iter().find(|it| it.0 == name);
            found.map(|it| it.1.clone()).unwrap_or_default()
        };
        let index = text("search-index.js");
        let json = index.trim_start_matches("const SECTIONS = ");
        let json = json.trim_end().trim_end_matches(';');
        let sections: Vec<serde_json::Value> = serde_json::from_str(json).expect("JSON");
        assert!(sections.len() > 300, "{}", sections.len());
        for section in &sections {
            let place = section["place"].as_str().expect("a place");
            let (file, anchor) = place.split_once('#').unwrap_or((place, ""));
            let page = text(file);
            assert!(!page.is_empty(), "{place}");
            assert!(
                anchor.is_empty() || page.contains(&format!(" id=\"{anchor}\"")),
                "{place}"
            );
        }
        let locks = |it: &&serde_json::Value| it["title"] == "Statistics: Locks";
        assert!(sections.iter().any(|it| locks(&it)));
        let page = text("stats.html");
        for part in [
            "id=\"search\"",
            "aria-current=\"page\">Statistics",
            "book.js",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }
}
