//! How words derive from the source: statements, macro uses and defer slots.

use std::ops::Range;

use crate::image::{Image, ImageExpansion, Origin};

/// A line that a word comes from: in the body of a macro, or in the source itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceFrame<'a> {
    /// The line.
    pub origin: &'a Origin,
    /// The macro whose body contains the line, with the arguments of this use; `None` for the
    /// source itself.
    pub used: Option<&'a ImageExpansion>,
}

impl Image {
    /// Returns the lines that a word comes from: first the one in the innermost macro, then the use
    /// of that macro, and so on; the last is a line of the source itself. Empty if the origin is
    /// unknown.
    #[must_use]
    pub fn frames(&self, address: u16) -> Vec<SourceFrame<'_>> {
        let mut next = self.origins.get(usize::from(address));
        let mut frames = Vec::new();
        while let Some(origin) = next {
            let used = origin.expansion;
            let used = used.and_then(|at| self.expansions.get(at as usize));
            frames.push(SourceFrame { origin, used });
            next = used.map(|used| &used.call);
        }
        frames
    }

    /// Whether a word begins a statement. Without statement information, every word does.
    #[must_use]
    pub fn begins_statement(&self, address: u16) -> bool {
        self.statements.is_empty() || self.statements.binary_search(&address).is_ok()
    }

    /// Returns the words of the statement that a word belongs to.
    #[must_use]
    pub fn statement_at(&self, address: u16) -> Range<u16> {
        if self.statements.is_empty() {
            return address..address.saturating_add(1);
        }
        let after = self.statements.partition_point(|begin| *begin <= address);
        let begin = after.checked_sub(1).map_or(0, |at| self.statements[at]);
        let words = self.words.len() as u16;
        begin..self.statements.get(after).copied().unwrap_or(words)
    }

    /// Returns the instruction whose defer slot a word is: the word runs after it even though
    /// control goes elsewhere, so it belongs to that instruction, not to the code that follows.
    #[must_use]
    pub fn deferred_by(&self, address: u16) -> Option<u16> {
        // No instruction has more than three defer slots.
        (1..=3).find_map(|back| {
            let at = address.checked_sub(back)?;
            let slots = self.instruction(at)?.defer();
            (u16::from(slots) >= back).then_some(at)
        })
    }
}

/// Returns the parts of a path after resolving `.` and `..`.
fn path_components(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in path
        .split(['/', '\\'])
        .filter(|it| !matches!(*it, "" | "."))
    {
        if part == ".." && parts.last().is_some_and(|it| *it != "..") {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts
}

/// Whether two paths may name the same file, one being a suffix of the other.
#[must_use]
pub fn same_file(one: &str, other: &str) -> bool {
    let (one, other) = (path_components(one), path_components(other));
    let (short, long) = if one.len() <= other.len() {
        (&one, &other)
    } else {
        (&other, &one)
    };
    // A leading `..` leads out of an unknown directory and matches anything.
    let known = short.iter().position(|it| *it != "..").unwrap_or(0);
    !short.is_empty() && long.ends_with(&short[known..])
}

#[cfg(test)]
mod tests {
    use super::same_file;

    #[test]
    fn files_match_by_path_suffix() {
        for (one, other) in [
            ("ring.uc", "microcode/lib/ring.uc"),
            ("lib/ring.uc", "/home/me/microcode/router/../lib/ring.uc"),
            ("../lib/ring.uc", "/home/me/lib/ring.uc"),
        ] {
            assert!(
                same_file(one, other) && same_file(other, one),
                "{one} {other}"
            );
        }
        assert!(!same_file("ring.uc", "lib/string.uc"));
        assert!(!same_file("a/ring.uc", "b/ring.uc"));
        assert!(!same_file("", "b/ring.uc"));
    }
}
