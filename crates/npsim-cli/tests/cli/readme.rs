//! The README is correct: its first command prints the output shown, its programs are those that tests run, and the
//! commands, options, files and pictures that it names exist.

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use crate::harness::{Dir, root};
use crate::tutorial::console::{Shell, matches};

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Code blocks by the language of their fences.
fn listings(page: &str, kind: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for event in npsim_cli::docs::markdown::parser(page) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                inside = info.split(',').next() == Some(kind);
                if inside {
                    found.push(String::new());
                }
            }
            Event::End(TagEnd::CodeBlock) => inside = false,
            Event::Text(text) if inside => found.last_mut().expect("began").push_str(&text),
            _ => {}
        }
    }
    found
}

/// Inline code outside of links, which name files from elsewhere.
fn inline_code(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut links = 0;
    for event in npsim_cli::docs::markdown::parser(page) {
        match event {
            Event::Start(Tag::Link { .. }) => links += 1,
            Event::End(TagEnd::Link) => links -= 1,
            Event::Code(code) if links == 0 => found.push(code.into_string()),
            _ => {}
        }
    }
    found
}

#[test]
fn first_command_prints_the_shown_output() {
    let page = read("README.md");
    let consoles = listings(&page, "console");
    let command = consoles[0].strip_prefix("$ cargo run --release -- ");
    let command = command.expect("the first command runs npsim").trim_end();
    let shown = &listings(&page, "text")[0];
    let dir = Dir::new();
    let capture = dir.path("out.pcap");
    let command = command.replace("out.pcap", capture.to_str().expect("a path"));
    let printed = Shell::new(&root()).run(&format!("npsim {command}"));
    assert!(
        matches(shown, &printed),
        "README.md shows {shown}\n{printed}"
    );
    assert!(capture.metadata().expect("a capture").len() > 1000);
}

#[test]
fn readme_programs_are_tested() {
    let page = read("README.md");
    // A documentation test compiles the examples of that page, and `packaging/crates-check` runs
    // its program.
    let tested = listings(&read("crates/npsim/README.md"), "rust");
    let shown = listings(&page, "rust");
    assert_eq!(shown.len(), 1);
    assert!(tested.contains(&shown[0]), "{}", shown[0]);
    let consoles = listings(&page, "console");
    assert_eq!(consoles.len(), 2, "the gate runs these two");
}

#[test]
fn named_commands_and_files_exist() {
    let page = read("README.md");
    let root = root();
    let dir = Dir::new();
    let (mut commands, mut files) = (0, 0);
    for code in inline_code(&page)
        .into_iter()
        .chain(listings(&page, "console"))
    {
        let words: Vec<&str> = code.split_whitespace().collect();
        // A dependency in a manifest starts like a command.
        if let ["npsim", name, rest @ ..] = words.as_slice()
            && *name != "="
        {
            commands += 1;
            let help = dir.npsim(&format!("{name} --help")).expect(0, &["Usage"]);
            for option in rest.iter().filter(|word| word.starts_with("--")) {
                assert!(help.out.contains(option), "`{code}`: no {option}");
            }
        }
        for word in words {
            let word = word.strip_prefix("./").unwrap_or(word);
            let first = word.split('/').next().expect("a word");
            let is_path = word.contains('/') && first != "target" && root.join(first).is_dir();
            if is_path && !first.is_empty() && first != ".." {
                files += 1;
                assert!(root.join(word).exists(), "`{code}`: there is no {word}");
            }
        }
    }
    assert!(
        commands >= 5 && files >= 8,
        "{commands} commands, {files} files"
    );
}

#[test]
fn readme_pictures_exist() {
    let page = read("README.md");
    let pictures = npsim_cli::docs::markdown::parser(&page).filter_map(|event| match event {
        Event::Start(Tag::Image { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    });
    let pictures: Vec<_> = pictures.collect();
    assert!(pictures.len() >= 2, "{pictures:?}");
    for name in pictures {
        let bytes = std::fs::read(root().join(&name)).unwrap_or_default();
        let begins: &[u8] = match name.rsplit_once('.') {
            Some((_, "png")) => b"\x89PNG\r\n\x1a\n",
            _ => b"<svg",
        };
        assert!(bytes.starts_with(begins), "{name} is no picture");
    }
}
