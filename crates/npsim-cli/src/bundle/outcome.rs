//! The outcome of a command, without parts that depend on the host, and the differences between two of them.

use std::collections::BTreeMap;
use std::path::Path;

use super::manifest::{Outcome, PackedFile};
use super::process::ProcessResult;

/// The start of the line of a summary that gives the speed of the host.
const HOST: &str = "host  ";
/// The placeholder for omitted text.
const OMITTED: &str = "...";
/// The placeholder for the folder in which the bundle was unpacked.
const FOLDER: &str = "<bundle>";
/// The placeholder for the folder above that one.
const PARENT_FOLDER: &str = "<bundle>/..";

/// Output without the speed of the host, thread numbers, and the folder below which the command ran.
pub fn mask_host_details(bytes: &[u8], root: &Path) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return bytes.to_vec();
    };
    let mut text = text.to_owned();
    for (folder, mark) in [(Some(root), FOLDER), (root.parent(), PARENT_FOLDER)] {
        let folder = folder.map_or(String::new(), |it| it.display().to_string());
        if folder.len() > 1 {
            text = text.replace(&folder, mark);
        }
    }
    let lines = text.split_inclusive('\n').map(|line| {
        if line.starts_with(HOST) {
            return format!("{HOST}{OMITTED}\n");
        }
        // `thread 'main' (1234) panicked at ...`
        let thread = line.strip_prefix("thread '").and_then(|rest| {
            let (name, rest) = rest.split_once("' (")?;
            let (_, rest) = rest.split_once(')')?;
            Some(format!("thread '{name}'{rest}"))
        });
        thread.unwrap_or_else(|| line.to_owned())
    });
    lines.collect::<String>().into_bytes()
}

/// The outcome of a command that ran below `root` and wrote these files.
pub fn outcome(ran: &ProcessResult, root: &Path, outputs: &BTreeMap<String, Vec<u8>>) -> Outcome {
    Outcome {
        ended: ran.ended.clone(),
        stdout: PackedFile::of("stdout", &mask_host_details(&ran.stdout, root)),
        stderr: PackedFile::of("stderr", &mask_host_details(&ran.stderr, root)),
        outputs: outputs
            .iter()
            .map(|(path, bytes)| PackedFile::of(path, bytes))
            .collect(),
    }
}

/// The first line in which two texts differ: its number, from 1, and its text before and now.
pub fn first_difference(before: &[u8], now: &[u8]) -> (usize, String, String) {
    let (before, now) = (
        String::from_utf8_lossy(before),
        String::from_utf8_lossy(now),
    );
    let (mut before, mut now) = (before.lines(), now.lines());
    let mut number = 1;
    loop {
        let (one, other) = (before.next(), now.next());
        if one != other || one.is_none() {
            let shown = |line: Option<&str>| line.map_or("(its end)".to_owned(), str::to_owned);
            return (number, shown(one), shown(other));
        }
        number += 1;
    }
}

/// Describes the differences, one per line; `texts` are standard output and standard error, each before and
/// now.
pub fn differences(
    before: &Outcome,
    now: &Outcome,
    texts: [(&str, &[u8], &[u8]); 2],
) -> Vec<String> {
    let mut found = Vec::new();
    if before.ended != now.ended {
        found.push(format!(
            "it ended with {}, not with {}",
            now.ended, before.ended
        ));
    }
    for (name, before, now) in texts {
        if before != now {
            let (number, one, other) = first_difference(before, now);
            found.push(format!("{name}, line {number}: `{other}`, not `{one}`"));
        }
    }
    for output in &before.outputs {
        match now.outputs.iter().find(|it| it.path == output.path) {
            None => found.push(format!("`{}` was not written", output.path)),
            Some(other) if other != output => found.push(format!(
                "`{}` has {} bytes with the SHA-256 {}, not {} with {}",
                output.path, other.bytes, other.sha256, output.bytes, output.sha256
            )),
            Some(_) => {}
        }
    }
    for output in &now.outputs {
        if !before.outputs.iter().any(|it| it.path == output.path) {
            found.push(format!("`{}` was written", output.path));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{first_difference, mask_host_details};
    use std::path::Path;

    #[test]
    fn host_specific_output_is_masked() {
        let given =
            b"a\nhost         0.27 s, 3 MHz\nthread 'main' (71) panicked at x\nat /tmp/b/c.uc\nin `/tmp`\n";
        // The folder above also has a different name on each host.
        let made = mask_host_details(given, Path::new("/tmp/b"));
        assert_eq!(
            String::from_utf8(made).unwrap(),
            "a\nhost  ...\nthread 'main' panicked at x\nat <bundle>/c.uc\nin `<bundle>/..`\n"
        );
        assert_eq!(mask_host_details(b"\xff\n", Path::new("/")), b"\xff\n");
    }

    #[test]
    fn first_differing_line_is_found() {
        assert_eq!(
            first_difference(b"a\nb\n", b"a\nc\n"),
            (2, "b".into(), "c".into())
        );
        assert_eq!(first_difference(b"a\n", b"a\nc\n").0, 2);
    }
}
