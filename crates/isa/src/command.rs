//! Memory and I/O commands, and the data they move.

use crate::{Evidence, Format};

/// Side of the transfer registers: S or D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TransferKind {
    /// S transfer registers, `$`.
    S,
    /// D transfer registers, `$$`.
    D,
}

/// The number of longwords that a command moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Words {
    /// No longwords.
    Zero,
    /// One longword, regardless of the count.
    One,
    /// As many longwords as the reference count.
    Count,
    /// Twice the reference count.
    CountTimes2,
    /// Four times the reference count.
    CountTimes4,
}

impl Words {
    /// Returns the name used in tables.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Zero => "none",
            Self::One => "1",
            Self::Count => "count",
            Self::CountTimes2 => "2 x count",
            Self::CountTimes4 => "4 x count",
        }
    }

    /// Returns the number of longwords for a reference count.
    #[must_use]
    pub const fn of(self, count: u32) -> u32 {
        match self {
            Self::Zero => 0,
            Self::One => 1,
            Self::Count => count,
            Self::CountTimes2 => 2 * count,
            Self::CountTimes4 => 4 * count,
        }
    }
}

/// Which signals a command raises, given the signal number n of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignalRule {
    /// No signal, even if the word names one.
    None,
    /// n, raised with the last longword.
    Single,
    /// n and n + 1, both raised at the end; n is even.
    Pair,
    /// n (even), raised with the last pull, and n + 1, raised with the last push.
    PullPush,
    /// Only n OR 1, raised with the last push.
    PushOdd,
}

impl SignalRule {
    /// Returns the name used in tables.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Single => "n",
            Self::Pair => "n and n + 1",
            Self::PullPush => "n on pull, n + 1 on push",
            Self::PushOdd => "n OR 1",
        }
    }

    /// Whether the word must name an even signal.
    #[must_use]
    pub const fn needs_even(self) -> bool {
        matches!(self, Self::Pair | Self::PullPush)
    }

    /// Returns the mask of the signals raised by a command that names signal n.
    #[must_use]
    pub const fn mask(self, signal: u8) -> u16 {
        if signal == 0 || signal > 15 {
            return 0;
        }
        match self {
            Self::None => 0,
            Self::Single => 1 << signal,
            Self::Pair | Self::PullPush => (1 << signal) | (1 << (signal | 1)),
            Self::PushOdd => 1 << (signal | 1),
        }
    }
}

/// A unit that executes commands.
#[derive(Clone, Copy, Debug)]
pub struct UnitInfo {
    /// Name in microcode.
    pub name: &'static str,
    /// Word format of its commands.
    pub format: Format,
    /// Kind of transfer register that its commands name by default.
    pub default_transfer: TransferKind,
    /// Bytes per unit of the reference count.
    pub count_bytes: u8,
    /// Whether the word holds the count minus one.
    pub count_minus_one: bool,
    /// Largest count in the word.
    pub max_count: u8,
    /// Description, in prose.
    pub doc: &'static str,
}

/// A command.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of a table row"
)]
pub struct CommandInfo {
    /// The command itself.
    pub op: CommandOp,
    /// The unit that executes it.
    pub unit: Unit,
    /// Name in microcode, such as `test_and_set`.
    pub name: &'static str,
    /// Command field.
    pub code: u8,
    /// Token field.
    pub token: u8,
    /// Whether the source text has a reference count.
    pub takes_count: bool,
    /// Whether the source text names a transfer register instead of `--`.
    pub takes_transfer: bool,
    /// Whether the source text has two address operands.
    pub takes_operands: bool,
    /// Whether the command pulls data from the OUT transfer registers.
    pub pulls: bool,
    /// Whether the command pushes data into the IN transfer registers.
    pub pushes: bool,
    /// Number of longwords pulled.
    pub pull_words: Words,
    /// Number of longwords pushed.
    pub push_words: Words,
    /// The signals that the command raises.
    pub signals: SignalRule,
    /// Kind of transfer register that the command names by default.
    pub default_transfer: TransferKind,
    /// Largest count in the word; 0 if the command has no count.
    pub max_count: u8,
    /// Whether `ignore_data_error` may be given.
    pub ignore_error: bool,
    /// Description, in prose.
    pub doc: &'static str,
    /// Effect as a formula.
    pub operation: &'static str,
    /// Evidence for the row.
    pub evidence: &'static [Evidence],
    /// What remains unconfirmed, if anything.
    pub uncertain: Option<&'static str>,
}

include!(concat!(env!("OUT_DIR"), "/commands.rs"));

impl CommandOp {
    /// Whether the command atomically reads, modifies and writes back a longword. Those that push
    /// return the old value.
    #[must_use]
    pub fn is_atomic(self) -> bool {
        let info = self.info();
        let plain = info.name.strip_prefix("test_and_").unwrap_or(info.name);
        let changes = ["set", "clr", "add", "sub", "incr", "decr", "swap"].contains(&plain);
        changes && matches!(info.unit, Unit::Scratch | Unit::Sram)
    }

    /// Returns a unit's command by name, in any letter case.
    #[must_use]
    pub fn by_name(unit: Unit, name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| {
            let info = op.info();
            info.unit == unit && info.name.eq_ignore_ascii_case(name)
        })
    }

    /// Returns the command of a unit with these command and token fields, and whether the token
    /// holds `ignore_data_error`.
    #[must_use]
    pub fn from_codes(unit: Unit, code: u8, token: u8) -> Option<(Self, bool)> {
        Self::ALL.into_iter().find_map(|op| {
            let info = op.info();
            if info.unit != unit || info.code != code {
                None
            } else if info.token == token {
                Some((op, false))
            } else if info.ignore_error && info.token | IGNORE_ERROR_TOKEN == token {
                Some((op, true))
            } else {
                None
            }
        })
    }
}

impl Unit {
    /// Returns the unit whose commands have this word format.
    #[must_use]
    pub fn of(format: Format) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|unit| unit.info().format == format)
    }

    /// Returns the unit with this name, in any letter case.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|unit| unit.info().name.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::{CommandOp, Unit};

    #[test]
    fn atomic_commands_are_the_read_modify_write_commands() {
        let of = |unit: Unit, pushes: bool| -> Vec<&str> {
            let atomic = CommandOp::ALL.into_iter().filter(|op| op.is_atomic());
            let mut names: Vec<&str> = atomic
                .map(CommandOp::info)
                .filter(|info| info.unit == unit && info.pushes == pushes)
                .map(|info| info.name)
                .collect();
            names.sort_unstable();
            names
        };
        let plain = ["add", "clr", "decr", "incr", "set"];
        assert_eq!(of(Unit::Sram, false), plain);
        assert_eq!(of(Unit::Scratch, false), [&plain[..], &["sub"]].concat());
        let old = [
            "swap",
            "test_and_add",
            "test_and_clr",
            "test_and_decr",
            "test_and_incr",
            "test_and_set",
        ];
        assert_eq!(of(Unit::Sram, true), old);
        assert_eq!(
            of(Unit::Scratch, true),
            [&old[..], &["test_and_sub"]].concat()
        );
        assert!(of(Unit::Dram, true).is_empty() && of(Unit::Dram, false).is_empty());
    }
}
