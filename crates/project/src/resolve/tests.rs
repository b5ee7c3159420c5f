//! Tests of the resolution of project files, and of their errors.

mod flows;
mod memory;
mod programs;
mod routing;

use std::path::PathBuf;

use super::{Overrides, ProjectText, Resolved, resolve};
use crate::capacity::Capacity;
use crate::file::parse;
use crate::files::MemoryFiles;
use crate::problem::Problems;
use crate::registry::Registry;

fn capacity() -> Capacity {
    Capacity {
        name: "ixp2400".into(),
        board: "ixp2400-plain".into(),
        board_ports: Vec::new(),
        media: npsim_profile::MediaBus::Spi3,
        hertz: 600_000_000,
        microengines: 8,
        me_numbers: vec![0, 1, 2, 3, 16, 17, 18, 19],
        scratch_bytes: 16 << 10,
        scratch_rings: 16,
        sram_bytes: vec![1 << 20; 2],
        queue_entries: 64,
        dram_bytes: 4 << 20,
        ports: 16,
    }
}

/// Resolves a project in a folder that contains `a.uc` and `b.uc`.
pub(super) fn resolved(text: &str, overrides: &Overrides) -> Result<Resolved, Problems> {
    let files: MemoryFiles = ["a.uc", "b.uc"]
        .map(|name| (name, "nop\n"))
        .into_iter()
        .collect();
    let registry = Registry::default();
    let file = parse(text, &registry).unwrap();
    let text = ProjectText {
        path: "npsim.toml".into(),
        folder: PathBuf::from("."),
        text: text.into(),
        files: Vec::new(),
        source_map: None,
    };
    resolve(&files, &text, &file, &capacity(), overrides, &registry)
}

pub(super) fn good(text: &str) -> Resolved {
    match resolved(text, &Overrides::default()) {
        Ok(resolved) => resolved,
        Err(problems) => panic!("{problems}"),
    }
}

/// Returns the text of the problems, of which there must be `count`.
pub(super) fn bad(text: &str, count: usize) -> String {
    let problems = resolved(text, &Overrides::default()).unwrap_err();
    assert_eq!(problems.0.len(), count, "{problems}");
    problems.to_string()
}

pub(super) const ME: &str = "[[me]]\nid = 0\nsource = \"a.uc\"\n";

fn value(resolved: &Resolved, name: &str) -> String {
    let found = resolved.programs[0].defines.iter().find(|(n, _)| n == name);
    found.map_or_else(
        || panic!("{name} is not defined"),
        |(_, value)| value.clone(),
    )
}
