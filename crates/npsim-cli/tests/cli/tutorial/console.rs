//! Console blocks: commands and their output.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command and its output according to the page.
pub struct Step {
    pub command: String,
    pub expected: String,
}

/// The steps of a block.
pub fn steps(block: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.split_inclusive('\n') {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step {
                command: command.trim_end().to_owned(),
                expected: String::new(),
            });
        } else {
            let step = steps.last_mut().expect("a block starts with a command");
            step.expected.push_str(line);
        }
    }
    steps
}

/// The part of a shell that the pages need.
pub struct Shell {
    folder: PathBuf,
    status: i32,
}

impl Shell {
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            status: 0,
        }
    }

    /// Runs a command; returns its output on both streams.
    pub fn run(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["echo", "$?"] => format!("{}\n", self.status),
            ["mkdir", name] => {
                fs::create_dir(self.folder.join(name)).expect("make the folder");
                String::new()
            }
            ["npsim", arguments @ ..] => self.spawn(env!("CARGO_BIN_EXE_npsim"), arguments),
            [program @ ("od" | "cat"), arguments @ ..] => self.spawn(program, arguments),
            ["cmp", first, second] => {
                let read = |name: &str| std::fs::read(self.folder.join(name)).expect("a file");
                assert!(read(first) == read(second), "{first} and {second} differ");
                String::new()
            }
            _ => panic!("the pages' shell does not know `{line}`"),
        }
    }

    fn spawn(&mut self, program: &str, arguments: &[&str]) -> String {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let mut command = Command::new(program);
        command
            .current_dir(&self.folder)
            .args(arguments)
            .env("NO_COLOR", "1")
            .stdout(writer.try_clone().expect("another end of the pipe"))
            .stderr(writer);
        let mut child = command.spawn().unwrap_or_else(|e| panic!("{program}: {e}"));
        // This holds the write ends open, so the pipe would never end.
        drop(command);
        let mut printed = String::new();
        reader.read_to_string(&mut printed).expect("output is text");
        let status = child.wait().expect("the command ends");
        self.status = status.code().expect("the command is not killed");
        let complains = ["error[", "error:", "FAILED  "]
            .iter()
            .any(|sign| printed.contains(sign));
        assert!(
            (self.status != 0) == complains,
            "`{program} {}` ends with {} after printing\n{printed}",
            arguments.join(" "),
            self.status
        );
        printed
    }
}

/// Whether output matches a page, allowing for elisions.
pub fn matches(expected: &str, printed: &str) -> bool {
    fn lines(expected: &[&str], printed: &[&str]) -> bool {
        match (expected, printed) {
            ([], []) => true,
            (["...", rest @ ..], _) => {
                (0..=printed.len()).any(|skipped| lines(rest, &printed[skipped..]))
            }
            ([first, rest @ ..], [line, further @ ..]) => {
                line_matches(first, line) && lines(rest, further)
            }
            _ => false,
        }
    }
    let expected: Vec<&str> = expected.lines().map(str::trim_end).collect();
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    lines(&expected, &printed)
}

/// Whether a line matches a page.
fn line_matches(expected: &str, line: &str) -> bool {
    match expected.split_once("[..]") {
        None => expected == line,
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len())
                .filter(|&at| rest.is_char_boundary(at))
                .any(|at| line_matches(after, &rest[at..]))
        }),
    }
}

/// Output for a page, with elisions for what depends on the host.
pub fn without_host_speed(printed: &str) -> String {
    let lines = printed.lines().map(|line| {
        if line.starts_with("host ") {
            "host         [..]\n".to_owned()
        } else {
            format!("{}\n", line.trim_end())
        }
    });
    lines.collect()
}

/// Output for a page that showed `expected`, with its elisions where they still fit: between lines
/// that differ only in figures and spaces.
pub fn updated_output(expected: &str, printed: &str) -> String {
    let fresh = without_host_speed(printed);
    let lines: Vec<&str> = fresh.lines().collect();
    let shown: Vec<&str> = expected.lines().map(str::trim_end).collect();
    match with_elisions(&shown, &lines) {
        Some(body) if shown.contains(&"...") => body.iter().flat_map(|line| [line, "\n"]).collect(),
        _ => fresh,
    }
}

fn with_elisions<'a>(shown: &[&'a str], lines: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut body = Vec::new();
    let mut at = 0;
    let segments: Vec<&[&str]> = shown.split(|line| *line == "...").collect();
    for (number, segment) in segments.iter().enumerate() {
        let last = number + 1 == segments.len();
        let fits = |at: usize| {
            let found = lines.get(at..at + segment.len());
            found.is_some_and(|found| {
                found
                    .iter()
                    .zip(*segment)
                    .all(|(a, b)| same_except_figures(a, b))
            })
        };
        let start = match number {
            0 => Some(at).filter(|&at| fits(at)),
            _ if last => lines
                .len()
                .checked_sub(segment.len())
                .filter(|&at| fits(at)),
            _ => (at..lines.len()).find(|&at| fits(at)),
        };
        let start = start.filter(|&start| start >= at)?;
        if number > 0 {
            body.push("...");
        }
        at = start + segment.len();
        body.extend(&lines[start..at]);
    }
    Some(body)
}

/// Whether lines differ only in figures and spaces.
fn same_except_figures(first: &str, second: &str) -> bool {
    let words = |line: &'_ str| -> String {
        let unfigured = line.replace(|c: char| c.is_ascii_digit() || ",. -".contains(c), " ");
        unfigured.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    words(first) == words(second)
}

#[test]
fn updated_output_keeps_its_elisions() {
    let printed = "head 12\nhost now\nx\ny\n   5 loads\nz\nend 1,000\n";
    let expected = "head 9\n...\n5 loads\n...\nend 7\n";
    assert_eq!(
        updated_output(expected, printed),
        "head 12\n...\n   5 loads\n...\nend 1,000\n"
    );
    let other = "head 9\n...\nstores\n...\nend 7\n";
    assert_eq!(updated_output(other, printed), without_host_speed(printed));
    assert_eq!(
        updated_output("host 1\n", "host 2\n"),
        "host         [..]\n"
    );
}

#[test]
fn only_elisions_match_arbitrary_text() {
    assert!(matches("a [..] c\n...\nz\n", "a b c\nx\ny\nz\n"));
    assert!(matches("...\n", ""));
    assert!(!matches("a [..] c\n", "a b d\n"));
    assert!(!matches("a\n", "a\nb\n"));
    assert!(!matches("a\n", ""));
}
