//! A page of the documentation and its fenced blocks.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::console::{self, Shell};

/// A page, split at its fences.
pub struct Page {
    parts: Vec<Part>,
}

enum Part {
    /// Prose and irrelevant blocks, unchanged.
    Text(String),
    Block(Block),
}

struct Block {
    /// Line of the opening fence.
    line: usize,
    /// The text after the opening fence, split at commas.
    info: Vec<String>,
    body: String,
}

/// The result of following a page.
pub struct Outcome {
    /// The page with the actual output of the commands.
    pub text: String,
    pub failures: Vec<String>,
    pub commands: usize,
}

impl Block {
    /// The value of `key=` in the opening fence.
    fn value(&self, key: &str) -> Option<&str> {
        self.info
            .iter()
            .find_map(|item| item.strip_prefix(key)?.strip_prefix('='))
    }

    fn is_console(&self) -> bool {
        self.info[0] == "console"
    }

    /// Whether its commands take too long to run for every change: whole studies.
    fn is_for_thorough_runs(&self) -> bool {
        self.info.iter().any(|item| item == "thorough")
    }
}

impl Page {
    pub fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut parts = vec![Part::Text(String::new())];
        let mut inside = false;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            if let Some(info) = line.strip_prefix("```") {
                if inside {
                    parts.push(Part::Text(String::new()));
                } else {
                    parts.push(Part::Block(Block {
                        line: number + 1,
                        info: info.trim().split(',').map(str::to_owned).collect(),
                        body: String::new(),
                    }));
                }
                inside = !inside;
                continue;
            }
            match parts.last_mut() {
                Some(Part::Text(text)) => text.push_str(line),
                Some(Part::Block(block)) => block.body.push_str(line),
                None => {}
            }
        }
        assert!(!inside, "{}: a block is not closed", path.display());
        Self { parts }
    }

    pub fn has_commands(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, Part::Block(block) if block.is_console()))
    }

    /// Follows the page in `folder`; listings are compared with the files in `repository`.
    pub fn follow(&self, folder: &Path, repository: &Path) -> Outcome {
        let mut shell = Shell::new(folder);
        let thorough = std::env::var_os("NPSIM_THOROUGH").is_some();
        let mut outcome = Outcome {
            text: String::new(),
            failures: Vec::new(),
            commands: 0,
        };
        for part in &self.parts {
            match part {
                Part::Text(text) => outcome.text.push_str(text),
                Part::Block(block) => {
                    let body = if block.is_for_thorough_runs() && !thorough {
                        block.body.clone()
                    } else if block.is_console() {
                        outcome.commands += 1;
                        run(block, &mut shell, &mut outcome.failures)
                    } else {
                        if let Some(failure) = listing(block, folder, repository) {
                            outcome
                                .failures
                                .push(format!("line {}: {failure}", block.line));
                        }
                        block.body.clone()
                    };
                    let info = block.info.join(",");
                    write!(outcome.text, "```{info}\n{body}```\n").expect("write to a string");
                }
            }
        }
        outcome
    }
}

/// Runs a console block; returns the block as it should be.
fn run(block: &Block, shell: &mut Shell, failures: &mut Vec<String>) -> String {
    let mut body = String::new();
    for step in console::steps(&block.body) {
        writeln!(body, "$ {}", step.command).expect("write to a string");
        let printed = shell.run(&step.command);
        if console::matches(&step.expected, &printed) {
            body.push_str(&step.expected);
            continue;
        }
        failures.push(format!(
            "line {}: `{}` should print\n{}\nand prints\n{printed}",
            block.line, step.command, step.expected
        ));
        body.push_str(&console::updated_output(&step.expected, &printed));
    }
    body
}

/// Writes a listing or a part of one, or compares it; returns what is wrong.
fn listing(block: &Block, folder: &Path, repository: &Path) -> Option<String> {
    if let Some(name) = block.value("file") {
        let path = folder.join(name);
        fs::create_dir_all(path.parent()?).expect("make a folder");
        fs::write(path, &block.body).expect("write a listing");
    }
    if let Some(name) = block.value("append") {
        let path = folder.join(name);
        let text = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, text + &block.body).expect("write a listing");
    }
    if let Some(name) = block.value("same") {
        let original = fs::read_to_string(repository.join(name));
        if original.is_ok_and(|text| text == block.body) {
            return None;
        }
        return Some(format!("the listing is not {name}"));
    }
    if let (Some(file), Some(pointer)) = (block.value("from"), block.value("at")) {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
        let found: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let found = found.pointer(pointer).cloned().unwrap_or_default();
        let shown: serde_json::Value = serde_json::from_str(&block.body).unwrap_or_default();
        if shown.is_null() || shown != found {
            return Some(format!("{pointer} of {file} is\n{found:#}"));
        }
    }
    None
}
