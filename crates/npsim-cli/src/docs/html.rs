//! The book as plain HTML pages, without scripts: readable on a phone, light or dark as
//! the reader's system is.

use std::fmt::Write as _;

use pulldown_cmark::html::push_html;
use pulldown_cmark::{Event, Tag, TagEnd};

use super::markdown::{anchors, parser};
use super::{Page, pages};

const STYLE: &str = "\
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 46rem; padding: 1rem; font: 1rem/1.55 system-ui, sans-serif; }
pre, code { font-family: ui-monospace, monospace; font-size: .9em; }
pre { overflow-x: auto; padding: .7rem; border-radius: .3rem; background: #8882; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #8886; padding: .25rem .6rem .25rem 0; text-align: left; vertical-align: top; }
img { max-width: 100%; }
nav { display: flex; justify-content: space-between; gap: 1rem; margin: 1rem 0; }
";

/// The files of the book as HTML: each page, and `index.html` with the contents.
#[must_use]
pub fn files() -> Vec<(String, String)> {
    let pages = pages();
    let mut files = vec![("index.html".to_owned(), contents(&pages))];
    for (at, page) in pages.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| pages.get(before));
        let text = page_text(page, before, pages.get(at + 1));
        files.push((format!("{}.html", page.name), text));
    }
    files
}

fn frame(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escape(title)
    )
}

fn contents(pages: &[Page]) -> String {
    let mut body = String::from("<h1>npsim</h1>\n");
    let mut part = "";
    for page in pages {
        if page.part != part {
            part = page.part;
            let _ = writeln!(body, "<h2>{}</h2>", escape(part));
        }
        let _ = writeln!(
            body,
            "<p style=\"margin: .3rem 0 .3rem {}rem\"><a href=\"{}.html\">{}</a></p>",
            page.depth * 2,
            page.name,
            escape(page.title)
        );
    }
    frame("npsim", &body)
}

fn page_text(page: &Page, before: Option<&Page>, after: Option<&Page>) -> String {
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
    frame(&format!("{} - npsim", page.title), &body)
}

/// The page's text, its links to other pages led to their HTML.
fn body(page: &Page) -> String {
    let mut anchors = anchors(page.text).into_iter();
    // Whether each open link leads anywhere.
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
        // Pictures are not in the program.
        Event::Start(Tag::Image { .. }) => html("<em>[picture: "),
        Event::End(TagEnd::Image) => html("]</em>"),
        // What looks like HTML is a text about something in angle brackets.
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        other => other,
    });
    let mut out = String::new();
    push_html(&mut out, events);
    out
}

/// Where a link leads among the pages; nothing for a file of the repository.
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

    use super::files;

    #[test]
    fn links_between_the_pages_lead_to_anchors_that_are_there() {
        let files = files();
        let mut places: BTreeSet<String> = BTreeSet::new();
        for (name, text) in &files {
            places.insert(name.clone());
            let anchors = text.split(" id=\"").skip(1);
            places.extend(
                anchors.map(|rest| format!("{name}#{}", rest.split('"').next().unwrap_or(""))),
            );
        }
        let mut count = 0;
        for (name, text) in &files {
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
}
