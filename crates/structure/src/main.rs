//! Prints the structure of the source tree.
//!
//! ```text
//! cargo run -p npsim-structure                    sizes, long functions, shared names, circles
//! cargo run -p npsim-structure -- circles         circles alone, with the names that close them
//! cargo run -p npsim-structure -- sample SEED     40 functions of more than 30 lines, for a reader
//! ```
//! If the last argument is a folder, that checkout is read instead of this one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use comfy_table::{CellAlignment, Table, presets};
use npsim_structure::lines::{self, Lines};
use npsim_structure::modules::SourceFile;
use npsim_structure::rules::import_cycles;
use npsim_structure::workspace::{self, Crate};

/// Functions with more lines are listed.
const LONG_FUNCTION: usize = 100;

/// Functions with more lines may be sampled for review.
const SAMPLED_FUNCTION: usize = 30;

/// Number of functions in a sample.
const SAMPLE: usize = 40;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (seed, only_circles, root) = match arguments.as_slice() {
        ["sample", seed, root @ ..] => (seed.parse::<u64>().ok(), false, root),
        ["circles", root @ ..] => (None, true, root),
        root => (None, false, root),
    };
    let root = root.first().map_or_else(workspace::here, PathBuf::from);
    let crates = match workspace::read(&root) {
        Ok(crates) => crates,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    if let Some(seed) = seed {
        print_sample(&crates, seed);
        return ExitCode::SUCCESS;
    }
    if !only_circles {
        print_crates(&crates);
        print_long_functions(&crates);
        print_shared_names(&crates);
    }
    for (files, arrows) in crates.iter().flat_map(import_cycles) {
        println!("\ncircle of {} files\n{arrows}", files.len());
    }
    ExitCode::SUCCESS
}

/// Samples functions without replacement; each seed gives another sample.
fn print_sample(crates: &[Crate], seed: u64) {
    let mut places: Vec<String> = crates
        .iter()
        .flat_map(|member| {
            functions(member)
                .filter(|function| function.3 > SAMPLED_FUNCTION)
                .map(|(file, name, line, length)| {
                    format!("{length:4} {}/{}:{line} {name}", member.name, file.name)
                })
        })
        .collect();
    // A linear congruential generator (Knuth's MMIX), of which the upper half is used.
    let mut state = seed;
    for _ in 0..SAMPLE.min(places.len()) {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        println!(
            "{}",
            places.swap_remove((state >> 33) as usize % places.len())
        );
    }
}

fn files(member: &Crate) -> impl Iterator<Item = &SourceFile> {
    member.trees.iter().flat_map(|tree| &tree.files)
}

/// Functions outside of tests.
fn functions(member: &Crate) -> impl Iterator<Item = (&SourceFile, &str, usize, usize)> {
    files(member).flat_map(|file| {
        file.functions()
            .filter(|&(_, line, _)| !file.is_test_line(line))
            .map(move |(name, line, length)| (file, name, line, length))
    })
}

fn print_crates(crates: &[Crate]) {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "crate",
        "code",
        "docs",
        "comments",
        "tests",
        "files",
        "functions",
        "over 100",
        "inline always",
        "never",
        "in circles",
    ]);
    let mut total = Lines::default();
    let mut sums = [0; 6];
    for member in crates {
        let lines = lines::of_crate(member);
        total += lines;
        let inlining = files(member).map(SourceFile::inlining);
        let (always, never) = inlining.fold((0, 0), |sum, file| (sum.0 + file.0, sum.1 + file.1));
        let numbers = [
            files(member).count(),
            functions(member).count(),
            functions(member)
                .filter(|function| function.3 > LONG_FUNCTION)
                .count(),
            always,
            never,
            import_cycles(member)
                .iter()
                .map(|(files, _)| files.len())
                .sum(),
        ];
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum += number;
        }
        table.add_row(row(&member.name, lines, numbers));
    }
    table.add_row(row("total", total, sums));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!(
        "{table}\n\nlines outside of tests {}",
        total.outside_tests()
    );
}

fn row(name: &str, lines: Lines, numbers: [usize; 6]) -> Vec<String> {
    let lines = [lines.code, lines.docs, lines.comments, lines.tests];
    std::iter::once(name.to_owned())
        .chain(
            lines
                .into_iter()
                .chain(numbers)
                .map(|number| number.to_string()),
        )
        .collect()
}

fn print_long_functions(crates: &[Crate]) {
    println!("\nfunctions of more than {LONG_FUNCTION} lines");
    for member in crates {
        for (file, name, line, length) in
            functions(member).filter(|function| function.3 > LONG_FUNCTION)
        {
            println!("  {length:4} {}/{}:{line} {name}", member.name, file.name);
        }
    }
}

fn print_shared_names(crates: &[Crate]) {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for member in crates {
        for file in files(member) {
            for (name, line) in file.types().filter(|&(_, line)| !file.is_test_line(line)) {
                places
                    .entry(name)
                    .or_default()
                    .push(format!("{}/{}:{line}", member.name, file.name));
            }
        }
    }
    let mut shared: Vec<_> = places
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .collect();
    shared.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
    println!(
        "\nnames of more than one type: {}, of {} types",
        shared.len(),
        shared.iter().map(|(_, places)| places.len()).sum::<usize>()
    );
    for (name, places) in shared.iter().filter(|(_, places)| places.len() > 2) {
        println!("  {:2} {name}", places.len());
    }
}
