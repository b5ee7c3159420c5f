//! A script that submits shards and their merge to Slurm.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Context as _;

/// The parameters of a script.
pub struct BatchScript<'a> {
    /// The study's name.
    pub name: &'a str,
    /// The folder of results.
    pub results: &'a Path,
    /// The number of tasks in the array.
    pub shards: usize,
    /// Whether the arguments set the number of points to run at a time.
    pub jobs_given: bool,
    /// The subcommand with its arguments.
    pub arguments: Vec<String>,
}

/// The arguments of a command, without those that request the script.
pub fn arguments(given: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut given = given.map(|argument| argument.to_string_lossy().into_owned());
    let mut left = Vec::new();
    while let Some(argument) = given.next() {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument.as_str(), None),
        };
        if matches!(name, "--script" | "--shards") {
            if value.is_none() {
                given.next();
            }
        } else {
            left.push(argument);
        }
    }
    left
}

/// A word quoted for the shell, if necessary.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

impl BatchScript<'_> {
    /// The script for Slurm.
    pub fn slurm(&self) -> anyhow::Result<String> {
        let folder = std::env::current_dir().context("cannot tell the current folder")?;
        let program = std::env::current_exe().context("cannot tell where npsim is")?;
        let words: Vec<_> = self.arguments.iter().map(|word| quoted(word)).collect();
        let command = words.join(" ");
        let jobs = if self.jobs_given {
            ""
        } else {
            " --jobs \"${SLURM_CPUS_PER_TASK:-1}\""
        };
        let name: String = self.name.chars().filter(char::is_ascii_graphic).collect();
        let [name, results, folder, program] = [
            format!("npsim-{name}"),
            self.results.to_string_lossy().into_owned(),
            folder.to_string_lossy().into_owned(),
            program.to_string_lossy().into_owned(),
        ]
        .map(|word| quoted(&word));
        let shards = self.shards;
        Ok(format!(
            r#"#!/bin/bash
# Runs this on Slurm, and merges the results when all tasks have ended:
#
#   npsim {command}
#
# Start it with options of sbatch for all jobs, if any:
#
#   bash SCRIPT --partition=main --time=2:00:00
#
# Start it again to go on after a failure: what is saved is passed over. TASKS=2,5
# submits these tasks only, NPSIM=PROGRAM runs another npsim.
set -euo pipefail
cd {folder}
export NPSIM=${{NPSIM:-{program}}}
results={results}
mkdir -p "$results/log"

tasks=$(sbatch --parsable --job-name={name} --array="${{TASKS:-1-{shards}}}" --requeue \
    --output="$results/log/shard-%a-%A.txt" "$@" << 'SHARD'
#!/bin/bash
exec "$NPSIM" {command}{jobs} --shard "$SLURM_ARRAY_TASK_ID/{shards}"
SHARD
)
merge=$(sbatch --parsable --job-name={name}-merge --dependency="afterany:${{tasks%%;*}}" \
    --output="$results/log/merge-%j.txt" "$@" << 'MERGE'
#!/bin/bash
exec "$NPSIM" {command} --merge
MERGE
)
echo "tasks ${{tasks%%;*}}, merge ${{merge%%;*}}; they write to $results"
"#
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::{arguments, quoted};

    #[test]
    fn script_options_are_removed_from_the_arguments() {
        let given = "reproduce zhang --script slurm --quick --shards=3 --set a.b=1";
        let left = arguments(given.split(' ').map(Into::into));
        assert_eq!(left.join(" "), "reproduce zhang --quick --set a.b=1");
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("a/b-c_1.toml"), "a/b-c_1.toml");
        assert_eq!(quoted("it's $x"), r"'it'\''s $x'");
        assert_eq!(quoted(""), "''");
    }
}
