//! The book: its contents, its links, and `npsim docs`, which shows it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use npsim_cli::docs::markdown::{anchors, links};

use crate::harness::{Dir, root};

/// All Markdown files that people read, below a folder.
fn pages_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .expect("list a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            let skipped = name.starts_with('.') || name == "target" || name == "node_modules";
            if !skipped {
                pages_below(&path, found);
            }
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

#[test]
fn links_point_to_existing_files_and_headings() {
    let root = root().canonicalize().expect("the repository");
    let mut pages = Vec::new();
    for folder in [
        "docs",
        "microcode",
        "editors",
        "isa",
        "traces",
        "benches",
        "fuzz",
        "crates",
        "web",
    ] {
        pages_below(&root.join(folder), &mut pages);
    }
    let first = std::fs::read_dir(&root).expect("list a folder").flatten();
    let first = first.map(|entry| entry.path());
    pages.extend(first.filter(|path| path.extension().is_some_and(|it| it == "md")));
    let mut known: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for page in &pages {
        let text = std::fs::read_to_string(page).expect("a page");
        for link in links(&text) {
            if let Some(address) = link.strip_prefix("https://") {
                // Nothing is fetched: the check is for a host with a domain, and no stray blank or bracket.
                let host = address.split(['/', '#']).next().unwrap_or_default();
                if !host.contains('.') || address.contains([' ', ')', '`', '<', '>']) {
                    wrong.push(format!("{}: {link} is no address", page.display()));
                }
                continue;
            }
            count += 1;
            let (file, anchor) = match link.split_once('#') {
                Some((file, anchor)) => (file, Some(anchor)),
                None => (link.as_str(), None),
            };
            let target = match file {
                "" => page.clone(),
                file => page.parent().expect("a folder").join(file),
            };
            let shown = page.strip_prefix(&root).unwrap_or(page).display();
            let Ok(target) = target.canonicalize() else {
                wrong.push(format!("{shown}: there is no {link}"));
                continue;
            };
            let Some(anchor) = anchor else { continue };
            let headings = known.entry(target).or_insert_with_key(|target| {
                anchors(&std::fs::read_to_string(target).unwrap_or_default())
            });
            if !headings.iter().any(|heading| heading == anchor) {
                wrong.push(format!("{shown}: no heading has the anchor of {link}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 350, "{count} links in {} pages", pages.len());
}

/// mdBook makes links only to chapters in its summary, and rejects others.
#[test]
fn summary_is_valid_for_mdbook() {
    let text = std::fs::read_to_string(root().join("docs/src/SUMMARY.md")).expect("a page");
    let mut before = 0;
    let mut parts = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(part) = line.strip_prefix("# ") {
            parts.push(part);
            before = 0;
            continue;
        }
        let entry = line.trim_start();
        let depth = (line.len() - entry.len()) / 2;
        let entry = entry.strip_prefix("- ").unwrap_or(entry);
        let is_link = entry.starts_with('[') && entry.ends_with(".md)");
        assert!(is_link && depth <= before, "{line}");
        before = depth + 1;
    }
    assert_eq!(
        parts,
        ["npsim", "Learn", "Do", "Look up", "Teach", "Contribute"]
    );
}

#[test]
fn docs_command_shows_the_book() {
    let dir = Dir::new();
    dir.npsim("docs").expect(
        0,
        &[
            "\nLearn\n",
            "\nTeach\n",
            "  first-firmware",
            "First firmware",
        ],
    );
    let page = dir.npsim("docs stats").expect(
        0,
        &["The stats file\n", "latency", "Pages named here: chips,"],
    );
    assert!(
        !page.out.contains('\x1b'),
        "no styles outside of a terminal"
    );
    assert!(!page.out.contains("]("), "links are read, not shown");
    let section = dir
        .npsim("docs stats locks")
        .expect(0, &["Locks\n", "handed over"]);
    assert!(section.out.len() < page.out.len() / 3);
    dir.npsim("docs order").expect(0, &["npsim docs "]);
    dir.npsim("docs glosary").expect(
        1,
        &[
            "no page or heading `glosary`",
            "did you mean `npsim docs glossary`?",
        ],
    );
    dir.npsim("docs stats nonsense")
        .expect(1, &["did you mean `npsim docs stats`?"]);
    dir.npsim("docs xyzzyxyzzy")
        .expect(1, &["`npsim docs` lists the pages"]);
    dir.npsim("docs stats --html x")
        .expect(2, &["cannot be used with"]);
    assert!(dir.files().is_empty());
}

#[test]
fn book_is_written_as_html() {
    let dir = Dir::new();
    dir.npsim("docs --html book").expect(0, &[]);
    let index = String::from_utf8(dir.read("book/index.html")).expect("UTF-8");
    assert!(
        index.contains("<a href=\"stats.html\">Statistics</a>"),
        "{index}"
    );
    let page = String::from_utf8(dir.read("book/stats.html")).expect("UTF-8");
    for part in [
        "width=device-width",
        "<h2 id=\"locks\">",
        "<table>",
        "<div id=\"sidebar\">",
        "<a href=\"networks.html\">",
        "id=\"search\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Nothing is loaded from elsewhere.
    let sources = page.split("src=\"").skip(1);
    for source in sources.map(|rest| rest.split('"').next().unwrap_or_default()) {
        assert!(dir.path(&format!("book/{source}")).exists(), "{source}");
    }
    let style = String::from_utf8(dir.read("book/book.css")).expect("UTF-8");
    assert!(style.contains("light dark"), "{style}");
    dir.npsim("docs --html book/index.html")
        .expect(1, &["cannot make"]);
}
