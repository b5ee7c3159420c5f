//! Resolves project files with the kinds of this crate.

use npsim_chip::gpp::Task;
use npsim_project::problem::Problems;
use npsim_project::{Overrides, Project};

/// One microengine on a chip with a megabyte in each SRAM channel.
pub const ME: &str = "[[me]]\nid = 0\nsource = \"a.uc\"\n";

fn loaded(text: &str) -> Result<Project, Problems> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.uc"), "nop\n").unwrap();
    std::fs::write(dir.path().join("npsim.toml"), text).unwrap();
    let overrides = Overrides {
        set: vec!["profile.sram.channel_bytes=1048576".parse().unwrap()],
        ..Overrides::default()
    };
    Project::load(dir.path(), &overrides, &npsim_protocols::registry())
}

pub fn good(text: &str) -> Project {
    match loaded(text) {
        Ok(project) => project,
        Err(problems) => panic!("{problems}"),
    }
}

/// The text of the problems, which must be `count`.
pub fn bad(text: &str, count: usize) -> String {
    let problems = loaded(text).unwrap_err();
    assert_eq!(problems.0.len(), count, "{problems}");
    problems.to_string()
}

/// The only task of this type.
pub fn task<T: Task>(project: &Project) -> &T {
    let task = project.boot.task();
    task.unwrap_or_else(|| panic!("{:?}", project.boot.tasks))
}
