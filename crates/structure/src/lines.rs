//! Lines of a crate by kind.

use std::ops::AddAssign;

use crate::modules::SourceFile;
use crate::workspace::Crate;

/// Numbers of lines of Rust; blank lines are not counted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// Code outside of tests, including build scripts and examples.
    pub code: usize,
    /// Documentation comments outside of tests.
    pub docs: usize,
    /// Other comments outside of tests.
    pub comments: usize,
    /// Code and comments of tests.
    pub tests: usize,
}

impl AddAssign for Lines {
    fn add_assign(&mut self, other: Self) {
        self.code += other.code;
        self.docs += other.docs;
        self.comments += other.comments;
        self.tests += other.tests;
    }
}

impl Lines {
    /// Code, documentation and comments outside of tests.
    #[must_use]
    pub fn outside_tests(self) -> usize {
        self.code + self.docs + self.comments
    }

    fn count(&mut self, line: &str, is_test: bool) {
        let line = line.trim_start();
        let kind = match line {
            "" => return,
            _ if is_test => &mut self.tests,
            _ if line.starts_with("//!") || line.starts_with("///") => &mut self.docs,
            _ if line.starts_with("//") => &mut self.comments,
            _ => &mut self.code,
        };
        *kind += 1;
    }
}

/// Counts the lines of all Rust files of a crate.
#[must_use]
pub fn of_crate(member: &Crate) -> Lines {
    let mut lines = Lines::default();
    for file in member.trees.iter().flat_map(|tree| &tree.files) {
        lines += of_file(file);
    }
    for (name, text) in &member.others {
        // Of the files outside the module tree, all but build scripts, examples and benches
        // are tests.
        let is_test = !["build", "examples/", "benches/"]
            .iter()
            .any(|start| name.starts_with(start));
        for line in text.lines() {
            lines.count(line, is_test);
        }
    }
    lines
}

fn of_file(file: &SourceFile) -> Lines {
    let mut lines = Lines::default();
    for (number, line) in file.text.lines().enumerate() {
        lines.count(line, file.is_test_line(number + 1));
    }
    lines
}
