//! The tutorials in `docs/src` do what they say.
//!
//! A page is followed from top to bottom in a folder of its own that holds
//! copies of `microcode/` and `traces/`, as the reader would at the root of the
//! repository:
//!
//! * a block that opens with `uc,file=NAME` is written to that file;
//! * `uc,same=NAME` must be the same as that file of the repository;
//! * `json,from=FILE,at=POINTER` must be the value in that file;
//! * of a `console` block, lines after `$ ` are run, and what follows is what
//!   they print. `[..]` stands for anything in a line, a line `...` for any
//!   lines.
//!
//! With `NPSIM_UPDATE_DOCS=1` in the environment the console blocks that differ
//! are written anew, with the speed of the host left open.

mod console;
mod page;

use std::fs;
use std::path::{Path, PathBuf};

use npsim_net::capture::Capture;
use page::Page;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("make a folder");
    for entry in fs::read_dir(from).expect("list a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copy a file");
        }
    }
}

/// Follows a page; gives the folder in which everything lies then.
fn follow(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for shared in ["microcode", "traces"] {
        copy(&root().join(shared), &folder.path().join(shared));
    }
    let path = root().join("docs/src").join(name);
    let page = Page::read(&path);
    let outcome = page.follow(folder.path(), &root());
    if std::env::var_os("NPSIM_UPDATE_DOCS").is_some() {
        fs::write(&path, outcome.text).expect("write the page");
    }
    assert!(
        outcome.failures.is_empty(),
        "{name}:\n{}",
        outcome.failures.join("\n")
    );
    assert!(outcome.commands > 0, "{name} has no console block");
    folder
}

/// The frames of a capture, padded to what a wire carries.
fn frames(path: &Path) -> Vec<(u16, Vec<u8>)> {
    let capture = Capture::load(path).expect("a capture");
    let frames = capture.frames.iter().map(|frame| {
        let mut data = frame.data.to_vec();
        data.resize(data.len().max(60), 0);
        (frame.port as u16, data)
    });
    frames.collect()
}

#[test]
fn first_firmware() {
    let folder = follow("first-firmware.md");
    let swapped = |data: &[u8]| [&data[6..12], &data[..6], &data[12..]].concat();
    let sent: Vec<_> = frames(&folder.path().join("traces/mixed.pcap"))
        .iter()
        .map(|(_, data)| swapped(data))
        .collect();
    let came: Vec<_> = frames(&folder.path().join("out.pcap"))
        .into_iter()
        .map(|(_, data)| data)
        .collect();
    assert_eq!(sent.len(), came.len());
    assert!(sent == came, "not all frames went back to who sent them");
}

#[test]
fn where_the_cycles_went() {
    let folder = follow("where-the-cycles-went.md");
    let sent = frames(&folder.path().join("traces/mixed.pcap"));
    let came = frames(&folder.path().join("wire8.pcap"));
    assert_eq!(sent.len(), came.len());
    for port in 0..3 {
        let sent = sent.iter().skip(port).step_by(3).map(|(_, data)| data);
        let came = came.iter().filter(|(p, _)| usize::from(*p) == port);
        assert!(
            sent.eq(came.map(|(_, data)| data)),
            "port {port}: frames were changed or changed places"
        );
    }
}

#[test]
fn troubleshooting() {
    follow("troubleshooting.md");
}

#[test]
fn every_page_with_commands_is_followed() {
    let followed = [
        "first-firmware.md",
        "where-the-cycles-went.md",
        "troubleshooting.md",
    ];
    for entry in fs::read_dir(root().join("docs/src")).expect("list docs/src") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        let has_commands =
            path.extension().is_some_and(|e| e == "md") && Page::read(&path).has_commands();
        assert!(
            !has_commands || followed.contains(&&*name),
            "no test follows {name}"
        );
    }
}
