//! A user's error outside of `.uc` sources: what is wrong, where, why, and what to do.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anstream::adapter::strip_str;
use npsim_asm::spelling::closest;
use npsim_net::inputs;
use npsim_net::standard_output::is_standard_output;
use npsim_profile::ProfileError;

/// A text and the place in it to which a [`Problem`] refers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The path as shown to the user.
    pub path: String,
    /// The whole text.
    pub text: Arc<str>,
    /// Byte range of the place.
    pub span: Range<usize>,
    /// The label; may be empty.
    pub label: String,
}

impl Excerpt {
    /// Returns the line of the place, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        let before = &self.text[..floor_boundary(&self.text, self.span.start)];
        before.matches('\n').count() + 1
    }
}

/// A single error.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Problem {
    /// The error, on one line.
    pub message: String,
    /// The place, if there is a text to show.
    pub excerpt: Option<Box<Excerpt>>,
    /// Explanations, one line each.
    pub notes: Vec<String>,
    /// Suggested remedy.
    pub help: Option<String>,
    /// Whether the only problem is that the reader of a pipe has closed it.
    pub broken_pipe: bool,
}

impl Problem {
    /// Creates a problem without a place. Any terminal styles in the message, such as those of the
    /// assembler, are removed: a problem is styled as a whole.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: strip_str(&message.into()).to_string(),
            ..Self::default()
        }
    }

    /// Creates the problem of a file that could not be read or written.
    #[must_use]
    pub fn io(action: &str, path: &Path, error: &std::io::Error) -> Self {
        if action == "read" && is_standard_output(path) {
            return Self::new("`-` does not mean standard input")
                .help("give a file; write `./-` for one with that name");
        }
        let what = if is_standard_output(path) {
            "to standard output".to_owned()
        } else {
            format!("`{}`", path.display())
        };
        let problem = Self {
            broken_pipe: error.kind() == std::io::ErrorKind::BrokenPipe,
            ..Self::new(format!("cannot {action} {what}: {}", reason(error)))
        };
        match error.kind() {
            std::io::ErrorKind::NotFound => problem.help(match nearest(path) {
                Some(near) => format!("did you mean `{}`?", near.display()),
                None => "check the spelling of the path".to_owned(),
            }),
            _ => problem,
        }
    }

    /// Adds an explanation.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Sets the suggested remedy.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Suggests the known name that was probably meant, in place of other help; nothing changes if
    /// none is close.
    #[must_use]
    pub fn suggest<'a>(self, wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match closest(wrong, known) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    /// Suggests the known name that was probably meant, or lists all if none is close.
    #[must_use]
    pub fn suggest_or_list<S: AsRef<str>>(
        self,
        wrong: &str,
        known: impl IntoIterator<Item = S>,
    ) -> Self {
        let known: Vec<S> = known.into_iter().collect();
        let names = || known.iter().map(AsRef::as_ref);
        let listed: Vec<_> = names().map(|name| format!("`{name}`")).collect();
        self.help(format!("choose one of {}", listed.join(", ")))
            .suggest(wrong, names())
    }

    /// Suggests the intended name if the error is an unknown policy name.
    pub(crate) fn help_with_names(self, error: &ProfileError) -> Self {
        match error {
            ProfileError::Board(error) => self.help_with_names(error),
            ProfileError::UnknownName { name, known, .. } => {
                self.suggest(name, known.iter().copied())
            }
            _ => self,
        }
    }

    /// Sets the place.
    #[must_use]
    pub fn at(mut self, excerpt: Excerpt) -> Self {
        self.excerpt = Some(Box::new(excerpt));
        self
    }
}

/// Returns the operating system's message without the error number.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(excerpt) = &self.excerpt {
            let before = &excerpt.text[..floor_boundary(&excerpt.text, excerpt.span.start)];
            let line = excerpt.line();
            let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
            write!(f, "{}:{line}:{column}: ", excerpt.path)?;
        }
        f.write_str(&self.message)?;
        for note in &self.notes {
            write!(f, "\n  note: {note}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// Returns the nearest character boundary at or before `at`.
#[must_use]
pub fn floor_boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

/// Several problems reported together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

/// Most problems that are shown: each is drawn with a search through its file.
const MAX_SHOWN: usize = 100;

impl Problems {
    /// Returns the problems that are shown: the first 100, and then how many others there are.
    pub fn shown(&self) -> impl Iterator<Item = Cow<'_, Problem>> {
        let more = self.0.len().saturating_sub(MAX_SHOWN);
        let rest = (more > 0).then(|| {
            let are = if more == 1 { "error is" } else { "errors are" };
            Cow::Owned(Problem::new(format!("{more} more {are} not shown")))
        });
        let first = self.0.iter().take(MAX_SHOWN).map(Cow::Borrowed);
        first.chain(rest)
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.shown().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Returns the path with its first missing component replaced by an existing one of nearly the same
/// name.
fn nearest(path: &Path) -> Option<PathBuf> {
    let gone = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let missing = path.ancestors().take_while(gone).last()?;
    let folder = missing.parent()?;
    let listed = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let mut names: Vec<String> = std::fs::read_dir(listed)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let near = closest(
        missing.file_name()?.to_str()?,
        names.iter().map(String::as_str),
    )?;
    let rest = path.strip_prefix(missing).ok()?;
    let mut found = folder.join(near);
    found.extend(rest);
    inputs::note_existence(&found);
    found.exists().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::{Problem, Problems};

    fn many(count: usize) -> Problems {
        Problems(
            (0..count)
                .map(|number| Problem::new(format!("problem {number}")))
                .collect(),
        )
    }

    #[test]
    fn only_the_first_hundred_problems_are_shown() {
        let lines = |count| many(count).to_string().lines().count();
        assert_eq!((lines(1), lines(100)), (1, 100));
        for (count, last) in [
            (101, "1 more error is not shown"),
            (20_000, "19900 more errors are not shown"),
        ] {
            let problems = many(count);
            let shown: Vec<_> = problems.shown().map(|it| it.message.clone()).collect();
            assert_eq!((shown.len(), shown[99].as_str()), (101, "problem 99"));
            assert_eq!(shown[100], last);
            assert!(problems.to_string().ends_with(last));
        }
    }
}
