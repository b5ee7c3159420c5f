//! Runs that are killed at any moment.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use proptest::prelude::*;

use super::{messages, npsim, root};

/// Kills of a test.
const KILLS: usize = 20;

fn start(words: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_npsim"))
        .current_dir(root())
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start npsim")
}

/// Output files of a run in a folder.
struct Files {
    out: String,
    stats: String,
    dump: String,
    checkpoint: String,
}

impl Files {
    fn in_folder(folder: &Path, name: &str) -> Self {
        let file = |ending: &str| {
            folder
                .join(format!("{name}.{ending}"))
                .display()
                .to_string()
        };
        Self {
            out: file("pcap"),
            stats: file("json"),
            dump: format!("DROP_MARTIAN={}", file("dump")),
            checkpoint: file("ckpt"),
        }
    }

    fn command(&self) -> Vec<&str> {
        let mut words = "run microcode/forward --trace traces/mixed.pcap --pace 40kpps --ports round-robin --seed 3 --allow uninitialised-read"
            .split(' ')
            .collect::<Vec<_>>();
        words.extend([
            "--out",
            &self.out,
            "--stats",
            &self.stats,
            "--dump",
            &self.dump,
        ]);
        words
    }

    fn contents(&self) -> [Vec<u8>; 3] {
        let dump = self.dump.split_once('=').expect("NAME=FILE").1;
        [&self.out, &self.stats, dump]
            .map(|file| std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}")))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn killed_and_resumed_run_writes_identical_outputs(
        // Microseconds; starting up takes some ten thousand of them.
        moments in prop::collection::vec(0..90_000u64, KILLS),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = Files::in_folder(folder.path(), "whole");
        let done = npsim(&whole.command());
        prop_assert!(done.status.success(), "{}", messages(&done));

        let killed = Files::in_folder(folder.path(), "killed");
        let mut first = killed.command();
        first.extend(["--checkpoint", &killed.checkpoint, "--checkpoint-every", "200us"]);
        let again = ["run", "--resume", &killed.checkpoint];
        let mut ended = 0;
        for (number, moment) in moments.into_iter().enumerate() {
            // A second run over the files of the first one, which is half done.
            let anew = number == KILLS / 2 || !Path::new(&killed.checkpoint).exists();
            let mut child = start(if anew { &first } else { &again });
            std::thread::sleep(Duration::from_micros(moment));
            child.kill().expect("kill it");
            let output = child.wait_with_output().expect("wait for it");
            // Killed, or finished before the kill.
            ended += usize::from(output.status.success());
            prop_assert!(output.status.code().is_none_or(|code| code == 0), "{}", messages(&output));
        }
        prop_assert!(ended < KILLS, "no process was killed");
        let done = if Path::new(&killed.checkpoint).exists() { npsim(&again) } else { npsim(&first) };
        prop_assert!(done.status.success(), "{}", messages(&done));
        prop_assert!(whole.contents() == killed.contents(), "the outputs differ");
    }
}
