//! The directives by name, in one place: what suggestions choose from, what an editor
//! offers and folds, what the layout of sources follows, and what the corpus must have a
//! program for.

use Block::{Condition, Loop, Repeat, Scope, Subroutine};
use Role::{Closes, Declares, Divides, Opens, Stands};

/// What a directive opens and closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// Names that are known inside only.
    Scope,
    /// A subroutine.
    Subroutine,
    /// What is executed on a condition.
    Condition,
    /// A loop with its condition before it.
    Loop,
    /// A loop with its condition behind it.
    Repeat,
}

impl Block {
    /// Whether it belongs to structured assembly.
    #[must_use]
    pub const fn is_structured(self) -> bool {
        matches!(self, Self::Condition | Self::Loop | Self::Repeat)
    }
}

/// What a directive is to the lines around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It opens a block.
    Opens(Block),
    /// It ends one part of a block and begins the next.
    Divides(Block),
    /// It closes a block.
    Closes(Block),
    /// It declares something or speaks of the whole program.
    Declares,
    /// It stands among the statements.
    Stands,
}

/// Directives that declare, hint and check.
const GENERAL: &[(&str, Role)] = &[
    (".begin", Opens(Scope)),
    (".end", Closes(Scope)),
    (".local", Opens(Scope)),
    (".endlocal", Closes(Scope)),
    (".reg", Declares),
    (".sig", Declares),
    (".xfer_order", Declares),
    (".xfer_order_rd", Declares),
    (".xfer_order_wr", Declares),
    (".set", Stands),
    (".set_rd", Stands),
    (".set_wr", Stands),
    (".use", Stands),
    (".use_rd", Stands),
    (".use_wr", Stands),
    (".set_sig", Stands),
    (".io_completed", Stands),
    (".addr", Declares),
    (".areg", Declares),
    (".breg", Declares),
    (".reg_addr", Declares),
    (".num_contexts", Declares),
    (".init_nn_mode", Declares),
    (".init", Declares),
    (".init_ctx", Declares),
    (".subroutine", Opens(Subroutine)),
    (".endsub", Closes(Subroutine)),
    (".reentry", Stands),
    (".assert", Stands),
    (".import_var", Declares),
    (".operand_synonym", Declares),
    (".word", Stands),
];

/// Directives of structured assembly.
const STRUCTURED: &[(&str, Role)] = &[
    (".if", Opens(Condition)),
    (".if_unsigned", Opens(Condition)),
    (".if_likely", Opens(Condition)),
    (".if_unlikely", Opens(Condition)),
    (".elif", Divides(Condition)),
    (".elif_unsigned", Divides(Condition)),
    (".else", Divides(Condition)),
    (".endif", Closes(Condition)),
    (".while", Opens(Loop)),
    (".while_unsigned", Opens(Loop)),
    (".endw", Closes(Loop)),
    (".repeat", Opens(Repeat)),
    (".until", Closes(Repeat)),
    (".until_unsigned", Closes(Repeat)),
    (".break", Stands),
    (".continue", Stands),
];

/// What is written for the end of a block, or for its next arm, by slips of the hand and by
/// habits from other languages.
const MEANT: &[(&str, &str)] = &[
    (".endf", ".endif"),
    (".endfi", ".endif"),
    (".end_if", ".endif"),
    (".enif", ".endif"),
    (".fi", ".endif"),
    (".elseif", ".elif"),
    (".elsif", ".elif"),
    (".else_if", ".elif"),
    (".endwhile", ".endw"),
    (".end_while", ".endw"),
    (".wend", ".endw"),
];

/// The structured directive that a word which is none stands for.
#[must_use]
pub fn meant(word: &str) -> Option<&'static str> {
    let found = MEANT.iter().find(|(wrong, _)| *wrong == word);
    found.map(|(_, meant)| *meant)
}

/// The names of all directives.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    GENERAL.iter().chain(STRUCTURED).map(|(name, _)| *name)
}

/// Whether a word in any letter case is a directive of structured assembly.
#[must_use]
pub fn is_structured(word: &str) -> bool {
    STRUCTURED
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case(word))
}

/// What conditions may say of themselves at their end, in this order; none of it changes
/// what they open.
const MANNERS: &[&str] = &["_unsigned", "_signed", "_unlikely", "_likely"];

/// The role of a word in any spelling that the assembler takes; none if it is no directive.
#[must_use]
pub fn role(word: &str) -> Option<Role> {
    let word = word.to_ascii_lowercase();
    let plain = MANNERS.iter().fold(&*word, |word, manner| {
        word.strip_suffix(manner).unwrap_or(word)
    });
    let plain = if plain == ".import" {
        ".import_var"
    } else {
        plain
    };
    let mut known = GENERAL.iter().chain(STRUCTURED);
    let found = known.find(|(name, _)| *name == plain);
    found.map(|(_, role)| *role)
}

#[cfg(test)]
mod tests {
    use super::{Block, Role, role};

    #[test]
    fn every_spelling_has_the_role_of_its_directive() {
        let opens = Some(Role::Opens(Block::Condition));
        for word in [".if", ".IF_signed", ".if_likely", ".if_unlikely_unsigned"] {
            assert_eq!(role(word), opens, "{word}");
        }
        assert_eq!(
            role(".elif_unlikely"),
            Some(Role::Divides(Block::Condition))
        );
        assert_eq!(role(".until_unsigned"), Some(Role::Closes(Block::Repeat)));
        assert_eq!(role(".import"), Some(Role::Declares));
        assert_eq!(role(".reg"), Some(Role::Declares));
        for word in ["alu", ".likely", ".elsewhere", ""] {
            assert_eq!(role(word), None, "{word}");
        }
    }
}
