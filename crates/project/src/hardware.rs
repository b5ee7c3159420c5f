//! Selects the chip and the board of a project: built-in ones by name, others by the path of their
//! file.

use std::path::Path;

use npsim_profile::{Board, Profile, ProfileError};

use super::file::ChipSection;
use super::{DEFAULT_CHIP, Overrides, ProjectText};
use crate::files::{Disk, Files};
use crate::problem::{Excerpt, Problem};

/// The text of a chip or board, with the name under which it was given.
struct NamedText {
    text: String,
    place: Option<Excerpt>,
    shown: String,
}

impl NamedText {
    fn built_in(what: &str, name: &str, text: &str, place: Option<Excerpt>) -> Self {
        Self {
            text: text.to_owned(),
            place,
            shown: format!("{what} `{name}`"),
        }
    }

    /// Converts an error in the text to a problem.
    fn problem(&self, error: &ProfileError) -> Problem {
        let mut problem = Problem::new(match error {
            ProfileError::Mismatch { .. } => error.to_string(),
            _ => format!("{}: {error}", self.shown),
        });
        problem.excerpt = self.place.clone().map(Box::new);
        problem.help_with_names(error)
    }
}

/// Selects the chip and the board named by the project, or by the command line, which takes
/// precedence.
pub(super) fn choose(
    files: &dyn Files,
    text: &ProjectText,
    file: &ChipSection,
    overrides: &Overrides,
) -> Result<Profile, Problem> {
    let here = Path::new("");
    let in_file = |name: &crate::keys::Spanned<String>| {
        let place = text.excerpt(name.span(), "");
        (name.get_ref().clone(), text.folder.as_path(), Some(place))
    };
    let typed = |name: &String| (name.clone(), here, None);
    let over = overrides.chip.is_some() || overrides.board.is_some();
    let chip = match &overrides.chip {
        Some(chip) => Some(typed(chip)),
        None if over => None,
        None => file.profile.as_ref().map(in_file),
    };
    let board = match (&overrides.board, &file.board) {
        (Some(board), _) => Some(typed(board)),
        (None, Some(board)) => Some(in_file(board)),
        (None, None) => None,
    };
    let chip = match chip {
        Some((name, folder, place)) => Some(chip_text(files, &name, folder, place)?),
        None => None,
    };
    let board = match board {
        Some((name, folder, place)) => Some(board_text(files, &name, folder, place)?),
        None => None,
    };
    match (chip, board) {
        (None, None) => profile(DEFAULT_CHIP, None),
        (Some(chip), None) => Profile::from_toml(&chip.text).map_err(|error| chip.problem(&error)),
        (None, Some(board)) => {
            Profile::from_board_toml(&board.text).map_err(|error| board.problem(&error))
        }
        (Some(chip), Some(board)) => match Profile::from_texts(&chip.text, &board.text) {
            // The command line selects a chip that does not fit the project's board, which is
            // therefore ignored.
            Err(ProfileError::Mismatch { .. }) if overrides.board.is_none() && over => {
                Profile::from_toml(&chip.text).map_err(|error| chip.problem(&error))
            }
            Err(error @ (ProfileError::Board(_) | ProfileError::Mismatch { .. })) => {
                Err(board.problem(&error))
            }
            other => other.map_err(|error| chip.problem(&error)),
        },
    }
}

/// Returns the built-in chip of this name on its plain board.
///
/// # Errors
/// Returns an error that lists the available names if there is no such chip.
pub fn profile(name: &str, place: Option<Excerpt>) -> Result<Profile, Problem> {
    let chip = chip_text(&Disk, name, Path::new(""), place)?;
    Profile::from_toml(&chip.text).map_err(|error| chip.problem(&error))
}

/// Returns the built-in board of this name with its chip.
///
/// # Errors
/// Returns an error that lists the available names if there is no such board.
pub fn board(name: &str) -> Result<Profile, Problem> {
    named_board(&Disk, name, Path::new(""))
}

/// Returns a board by name, or by the path of its file relative to `folder`.
pub(super) fn named_board(
    files: &dyn Files,
    name: &str,
    folder: &Path,
) -> Result<Profile, Problem> {
    let board = board_text(files, name, folder, None)?;
    Profile::from_board_toml(&board.text).map_err(|error| board.problem(&error))
}

fn chip_text(
    files: &dyn Files,
    name: &str,
    folder: &Path,
    place: Option<Excerpt>,
) -> Result<NamedText, Problem> {
    if let Some(text) = Profile::text(name) {
        return Ok(NamedText::built_in("chip", name, text, place));
    }
    let names: Vec<_> = Profile::names().collect();
    read(files, name, folder, place, "chip", &names)
}

fn board_text(
    files: &dyn Files,
    name: &str,
    folder: &Path,
    place: Option<Excerpt>,
) -> Result<NamedText, Problem> {
    if let Some(text) = Board::text(name) {
        return Ok(NamedText::built_in("board", name, text, place));
    }
    let names: Vec<_> = Board::names().collect();
    read(files, name, folder, place, "board", &names)
}

/// Reads the file of a chip or a board that is not built in.
fn read(
    files: &dyn Files,
    name: &str,
    folder: &Path,
    place: Option<Excerpt>,
    what: &str,
    names: &[&str],
) -> Result<NamedText, Problem> {
    let at_place = |mut problem: Problem| {
        problem.excerpt = place.clone().map(Box::new);
        problem
    };
    let path = Path::new(name);
    if path.extension().is_some_and(|ending| ending == "toml") {
        let path = folder.join(path);
        let bytes = files
            .read(&path)
            .map_err(|error| at_place(Problem::io("read", &path, &error)))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| at_place(Problem::new(format!("`{}` is not text", path.display()))))?;
        return Ok(NamedText {
            text,
            place,
            shown: format!("{what} `{name}`"),
        });
    }
    let problem = at_place(
        Problem::new(format!("there is no {what} `{name}`"))
            .note(format!("the {what}s are {}", names.join(", "))),
    );
    Err(problem.suggest(name, names.iter().copied()))
}
