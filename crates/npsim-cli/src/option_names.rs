//! Tests that options are consistent: an option that several commands have takes the same kind of
//! value in all of them, has the same short name, and its help begins alike.

use std::collections::BTreeMap;

use clap::{Arg, Command, CommandFactory};

/// Kinds of values, and the placeholders for them in help.
const KINDS: [(&str, &[&str]); 2] = [
    (
        "a file",
        &[
            "FILE",
            "FILE.json",
            "FILE.json[.gz]",
            "FILE.csv[.gz]",
            "IN.pcap",
            "OUT.pcap",
            "FIRMWARE.uc",
        ],
    ),
    ("microengines", &["ID", "RANGE"]),
];
/// The output of a command is a file for some commands and a folder for others.
const FILE_OR_FOLDER: &str = "out";
/// The option with two meanings, each of which is established usage: debugger commands, and a script
/// for a job scheduler.
const AMBIGUOUS: &str = "script";
/// The number of letters with which the help texts must begin alike.
const COMMON_PREFIX: usize = 6;

/// An option as described by one command.
struct OptionHelp {
    command: String,
    kind: String,
    short: Option<char>,
    help: String,
}

fn kind(argument: &Arg) -> String {
    if !argument.get_action().takes_values() {
        return "a flag".to_owned();
    }
    let name = argument.get_value_names().and_then(<[_]>::first);
    let name = name.map_or("", |name| name.as_str());
    let known = KINDS.iter().find(|(_, names)| names.contains(&name));
    known.map_or(name, |(kind, _)| kind).to_owned()
}

fn gather(command: &Command, path: &str, found: &mut BTreeMap<String, Vec<OptionHelp>>) {
    for argument in command.get_arguments() {
        let Some(long) = argument.get_long() else {
            continue;
        };
        let help = argument.get_help().map(ToString::to_string);
        found.entry(long.to_owned()).or_default().push(OptionHelp {
            command: path.to_owned(),
            kind: kind(argument),
            short: argument.get_short(),
            help: help.unwrap_or_default(),
        });
    }
    for below in command.get_subcommands() {
        gather(below, &format!("{path} {}", below.get_name()), found);
    }
}

fn options() -> BTreeMap<String, Vec<OptionHelp>> {
    let mut found = BTreeMap::new();
    gather(&crate::arguments::Arguments::command(), "npsim", &mut found);
    found
}

#[test]
fn options_mean_the_same_in_every_command() {
    let options = options();
    assert!(options.len() > 50, "only {} options", options.len());
    for (name, said) in options.iter().filter(|(name, _)| *name != AMBIGUOUS) {
        let first = &said[0];
        for other in &said[1..] {
            let both = format!("--{name} of `{}` and `{}`", first.command, other.command);
            assert_eq!(first.short, other.short, "{both}");
            if name != FILE_OR_FOLDER {
                assert_eq!(first.kind, other.kind, "{both}");
            }
            let begin = |help: &str| -> String { help.chars().take(COMMON_PREFIX).collect() };
            assert_eq!(begin(&first.help), begin(&other.help), "{both}");
        }
    }
}

#[test]
fn short_names_are_unique() {
    let mut owners: BTreeMap<char, String> = BTreeMap::new();
    for (name, said) in options() {
        for said in said {
            let Some(short) = said.short else { continue };
            let owner = owners.entry(short).or_insert_with(|| name.clone());
            assert_eq!(*owner, name, "-{short} of `{}`", said.command);
        }
    }
}

#[test]
fn every_option_has_help() {
    for (name, said) in options() {
        for said in said {
            assert!(!said.help.is_empty(), "--{name} of `{}`", said.command);
        }
    }
}

#[test]
fn old_option_names_are_accepted() {
    for words in [
        "run a.uc --checkpoint x --every 1ms",
        "run a.uc --check races",
        "network a.toml --series x --every 1s",
        "trace gen --load 1 --ports 3 -o x.pcapng",
        "asm a.uc --list",
        "asm a.uc --message-format human",
        "chip ixp2400 --latencies --format table",
        "trace info x.pcap --format human",
    ] {
        let words = std::iter::once("npsim").chain(words.split(' '));
        let command = crate::arguments::Arguments::command().try_get_matches_from(words);
        assert!(command.is_ok(), "{command:?}");
    }
}
