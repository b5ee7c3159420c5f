//! Usage errors: shown to people in the usual form of command-line tools, and to programs as a JSON
//! object, like other errors.

use std::ffi::OsString;
use std::{env, fmt, process};

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use npsim::messages::DiagnosticMessage;
use npsim::problem::Problem;

use crate::output;

/// The options that select the format of messages.
const OPTIONS: [&str; 2] = ["--format", "--message-format"];
/// The most subcommands that a message lists; for more, it refers to `--help`.
const MAX_LISTED: usize = 8;
/// The value that selects JSON objects.
const JSON: &str = "json";

/// A conflict between options of a subcommand that is found only after the command line was parsed.
#[derive(Debug)]
pub struct Conflict {
    /// The path of the subcommand, below `npsim`.
    pub subcommand: &'static [&'static str],
    /// The message that describes the conflict.
    pub message: String,
}

impl fmt::Display for Conflict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Conflict {}

impl Conflict {
    /// Converts the conflict to an error of its subcommand, found in `all`.
    pub fn of(&self, mut all: Command) -> clap::Error {
        all.build();
        let mut names = self.subcommand.iter();
        let found = names.try_fold(&all, |command, name| command.find_subcommand(name));
        let mut command = found.unwrap_or(&all).clone();
        command.error(ErrorKind::ArgumentConflict, &self.message)
    }
}

/// Ends the process with the result of parsing the command line: help, or a usage error.
pub fn end(error: &clap::Error) -> ! {
    let for_programs = output::messages_as_json() || asks_for_json(env::args_os());
    if error.use_stderr() && for_programs {
        let rendered = error.render().to_string();
        let message =
            DiagnosticMessage::of_problem(&problem(error, &rendered), rendered.trim_end());
        output::record(&message.to_json());
        process::exit(error.exit_code());
    }
    error.exit()
}

/// Adds the list of subcommands in `all` to the error, if it is an unknown subcommand that resembles
/// none.
pub fn with_subcommands(
    mut error: clap::Error,
    all: &Command,
    words: impl IntoIterator<Item = OsString>,
) -> clap::Error {
    let resembles = error.get(ContextKind::SuggestedSubcommand).is_some();
    if error.kind() != ErrorKind::InvalidSubcommand || resembles {
        return error;
    }
    let mut command = all;
    let mut path = command.get_name().to_owned();
    for word in words.into_iter().skip(1) {
        let Some(found) = command.find_subcommand(&word) else {
            break;
        };
        command = found;
        path = format!("{path} {}", command.get_name());
    }
    let visible = { command.get_subcommands() }.filter(|it| !it.is_hide_set());
    let names: Vec<_> = visible.map(|it| format!("`{}`", it.get_name())).collect();
    if names.len() > MAX_LISTED {
        return error;
    }
    let tip = format!("the subcommands of `{path}` are {}", names.join(", "));
    error.insert(
        ContextKind::Suggested,
        ContextValue::StyledStrs(vec![tip.into()]),
    );
    error
}

/// Whether a command line asks for JSON, even though it is wrong somewhere.
fn asks_for_json(words: impl IntoIterator<Item = OsString>) -> bool {
    let mut words = words.into_iter().skip(1).peekable();
    while let Some(word) = words.next() {
        let Some(word) = word.to_str().filter(|word| *word != "--") else {
            return false;
        };
        let asks = match word.split_once('=') {
            Some((option, value)) => OPTIONS.contains(&option) && value == JSON,
            None => OPTIONS.contains(&word) && words.peek().is_some_and(|next| next == JSON),
        };
        if asks {
            return true;
        }
    }
    false
}

/// The error in one line, with a suggestion and the usage of the command.
fn problem(error: &clap::Error, rendered: &str) -> Problem {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Problem::new("a command is missing").help("`npsim --help` lists the commands");
    }
    let told = rendered.split("\n\n").next().unwrap_or_default();
    let told = told.trim().trim_start_matches("error: ");
    let message: Vec<_> = told.split_whitespace().collect();
    let mut problem = Problem::new(message.join(" "));
    if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
        let usage = usage.to_string();
        let words: Vec<_> = usage.split_whitespace().collect();
        problem = problem.note(words.join(" "));
    }
    let mut tips = { rendered.lines() }.filter_map(|line| line.trim().strip_prefix("tip: "));
    match tips.next() {
        Some(tip) => problem.help(tip),
        None => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::{asks_for_json, problem, with_subcommands};
    use crate::arguments::Arguments;
    use clap::{CommandFactory as _, Parser as _};

    fn asks(line: &str) -> bool {
        asks_for_json(line.split(' ').map(Into::into))
    }

    #[test]
    fn json_format_option_is_recognised() {
        assert!(asks("npsim run x --format json --wrong"));
        assert!(asks("npsim run --message-format=json"));
        assert!(!asks("npsim run --format text json"));
        assert!(!asks("npsim run -- --format json"));
        assert!(!asks("npsim run --stats json"));
    }

    #[test]
    fn usage_error_is_one_line_with_usage_and_tip() {
        let told = |line: &str| {
            let error = Arguments::try_parse_from(line.split(' ')).expect_err(line);
            problem(&error, &error.render().to_string())
        };
        let typo = told("npsim run x --stast out.json");
        assert_eq!(typo.message, "unexpected argument '--stast' found");
        assert!(typo.help.expect("a tip").contains("--stats"));
        assert!(typo.notes[0].starts_with("Usage: npsim run"));
        let missing = told("npsim trace gen --load 1");
        assert!(missing.message.contains("required") && missing.message.contains("--out"));
        assert!(!missing.message.contains('\n'));
    }
    #[test]
    fn unknown_subcommand_lists_the_known_ones() {
        let told = |line: &str| {
            let error = Arguments::try_parse_from(line.split(' ')).expect_err(line);
            let error = with_subcommands(
                error,
                &Arguments::command(),
                line.split(' ').map(Into::into),
            );
            problem(&error, &error.render().to_string()).help
        };
        let tip = told("npsim trace traces/mixed.pcap").expect("a tip");
        assert_eq!(
            tip,
            "the subcommands of `npsim trace` are `gen`, `info`, `order`"
        );
        assert_eq!(told("npsim zzz"), None);
        let near = told("npsim runn x").expect("a tip");
        assert!(near.contains("'run'") && !near.contains("`asm`"), "{near}");
    }
}
