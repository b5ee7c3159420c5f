//! The command's messages and behaviour with checkpoints.

use std::path::Path;

use super::{messages, npsim, root};

/// A folder, and the prefix for names of files in it.
struct Dir(tempfile::TempDir);

impl Dir {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs `npsim`; words that begin with `@` are files of the folder.
    #[track_caller]
    fn npsim(&self, command: &str, code: i32, phrase: &str) -> String {
        let words: Vec<_> = command
            .split(' ')
            .map(|word| match word.split_once('@') {
                Some((before, name)) => format!("{before}{}", self.file(name)),
                None => word.to_owned(),
            })
            .collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let output = npsim(&words);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), messages(&output));
        assert_eq!(output.status.code(), Some(code), "{out}\n{err}");
        assert!(
            out.contains(phrase) || err.contains(phrase),
            "no `{phrase}` in\n{out}\n{err}"
        );
        // Only the line on the host's speed may differ between runs.
        out.lines()
            .filter(|line| !line.starts_with("host "))
            .fold(String::new(), |text, line| text + line + "\n")
    }
}

const FORWARD: &str = "run microcode/forward --trace traces/mixed.pcap";

#[test]
fn resumed_run_can_continue_to_a_later_time() {
    let dir = Dir::new();
    let whole = dir.npsim(
        &format!("{FORWARD} --until 40ms --out @a.pcap --stats @a.json"),
        0,
        "the time is up",
    );
    dir.npsim(
        &format!(
            "{FORWARD} --until 10ms --out @b.pcap --stats @b.json --checkpoint @b.ckpt --checkpoint-every 3ms"
        ),
        0,
        "the time is up",
    );
    assert!(dir.read("a.json") != dir.read("b.json"));
    let resumed = dir.npsim("run --resume @b.ckpt --until 40ms", 0, "the time is up");
    assert_eq!(whole, resumed);
    assert!(dir.read("a.json") == dir.read("b.json"), "counts differ");
    assert!(dir.read("a.pcap") == dir.read("b.pcap"), "captures differ");
    // Options given again apply from then on.
    dir.npsim("run --resume @b.ckpt --until 39ms", 1, "is at cycle");
    dir.npsim("run --resume @b.ckpt --stats @c.json", 0, "the time is up");
    assert!(dir.read("a.json") == dir.read("c.json"), "counts differ");
    dir.npsim("run --resume @b.ckpt --until 200ms", 0, "the time is up");
    assert!(dir.read("a.pcap") != dir.read("b.pcap"));
}

#[test]
fn resumed_run_repeats_the_fault() {
    let dir = Dir::new();
    // Contexts count for a while, then read memory that does not exist.
    let source = "\
.reg count address $data
.sig done
immed[count, 2000]
again#:
    alu[count, count, -, 1]
    bne[again#]
immed[address, 0x3fff, <<16]
sram[read, $data, address, 0, 1], ctx_swap[done]
ctx_arb[kill]
";
    std::fs::write(dir.file("fault.uc"), source).expect("write the source");
    let whole = dir.npsim("run @fault.uc --until 1ms --stats @a.json", 3, "");
    let saved = dir.npsim(
        "run @fault.uc --until 1ms --stats @b.json --checkpoint @f.ckpt --checkpoint-every 5us",
        3,
        "",
    );
    assert_eq!(whole, saved);
    let first = dir.read("b.json");
    assert!(first == dir.read("a.json"), "counts differ");
    std::fs::remove_file(dir.file("b.json")).expect("remove it");
    assert_eq!(dir.npsim("run --resume @f.ckpt", 3, ""), whole);
    assert!(first == dir.read("b.json"), "counts differ");
}

#[test]
fn changed_inputs_are_reported() {
    let dir = Dir::new();
    let copy = |from: &str, to: &str| {
        std::fs::copy(root().join(from), dir.file(to)).expect("copy a file");
    };
    copy("traces/exceptions.pcap", "in.pcap");
    std::fs::write(
        dir.file("own.uc"),
        ".reg a\nimmed[a, 1]\nagain#:\nalu[a, a, +, 1]\nctx_arb[voluntary], br[again#]\n",
    )
    .expect("write the source");
    dir.npsim(
        "run @own.uc --trace @in.pcap --until 1ms --checkpoint @c.ckpt",
        0,
        "the time is up",
    );
    dir.npsim("run --resume @c.ckpt --until 2ms", 0, "the time is up");
    copy("traces/mixed.pcap", "in.pcap");
    dir.npsim("run --resume @c.ckpt", 1, "in.pcap` has changed");
    copy("traces/exceptions.pcap", "in.pcap");
    std::fs::write(
        dir.file("own.uc"),
        ".reg a\nimmed[a, 2]\nagain#:\nalu[a, a, +, 1]\nbr[again#]\n",
    )
    .expect("write the source");
    dir.npsim("run --resume @c.ckpt", 1, "own.uc`) has changed");
}

#[test]
fn options_that_change_results_are_refused() {
    let dir = Dir::new();
    dir.npsim(
        &format!("{FORWARD} --until 1ms --checkpoint @c.ckpt"),
        0,
        "the time is up",
    );
    for (option, named) in [
        ("--seed 1", "`--seed`"),
        ("--allow deadlock", "`--allow`"),
        ("--spill-moves", "`--spill-moves`"),
        ("--out @x.pcap", "`--out`"),
        ("--trace traces/mixed.pcap", "`--trace`"),
        ("-D X", "`--define`"),
        ("microcode/forward", "a target"),
    ] {
        let text = dir.npsim(&format!("run --resume @c.ckpt {option}"), 2, named);
        assert!(text.is_empty(), "{text}");
    }
    dir.npsim("run own.uc --checkpoint-every 1ms", 2, "--checkpoint");
    // Observers of a run are not in a checkpoint.
    for option in [
        "--report @page",
        "--profile",
        "--flame @f.svg",
        "--flame-waits @w.txt",
        "--timeline @t.json",
    ] {
        let name = option.split(' ').next().expect("a name");
        for saving in ["--checkpoint @d.ckpt own.uc", "--resume @c.ckpt"] {
            let own = saving.split(' ').next().expect("a name");
            let command = format!("run {saving} {option}");
            dir.npsim(&command, 2, name);
            let text = dir.npsim(&command, 2, own);
            assert!(text.is_empty(), "{text}");
        }
    }
    assert!(!Path::new(&dir.file("d.ckpt")).exists());
    dir.npsim("run", 2, "TARGET");
}

#[test]
fn unusable_files_are_refused() {
    let dir = Dir::new();
    dir.npsim("run --resume @none.ckpt", 1, "none.ckpt");
    dir.npsim("run --resume README.md", 1, "not a checkpoint of npsim");
    let checkpoint = format!("{FORWARD} --until 1ms --checkpoint");
    dir.npsim(&format!("{checkpoint} /dev/null"), 1, "not a regular file");
    dir.npsim(
        &format!("{checkpoint} @c.ckpt --checkpoint-every 0"),
        1,
        "less than a cycle",
    );
    dir.npsim(
        &format!("{checkpoint} @c.ckpt --out /dev/null"),
        1,
        "not a regular file",
    );
    dir.npsim(
        &format!("{checkpoint} @c.ckpt --stats @c.ckpt"),
        1,
        "both write",
    );
    dir.npsim(
        &format!("{FORWARD} --checkpoint traces/mixed.pcap"),
        1,
        "would overwrite the capture",
    );
    // The capture of departures was lost.
    dir.npsim(
        &format!("{FORWARD} --until 20ms --checkpoint @d.ckpt --out @d.pcap"),
        0,
        "",
    );
    std::fs::write(dir.file("d.pcap"), "x").expect("write it");
    dir.npsim("run --resume @d.ckpt --until 30ms", 1, "begins with");
    assert_eq!(dir.read("d.pcap"), b"x", "it is left alone");
}

#[cfg(target_os = "linux")]
#[test]
fn partial_checkpoint_is_removed_when_the_disk_is_full() {
    let dir = Dir::new();
    // The name under which it is written before it gets its final name.
    let part = dir.file(".c.ckpt.npsim-part");
    std::os::unix::fs::symlink("/dev/full", &part).expect("a link");
    let command = format!("{FORWARD} --until 1ms --checkpoint @c.ckpt");
    dir.npsim(&command, 1, "No space left");
    assert!(!Path::new(&part).is_symlink(), "half of it stays");
    dir.npsim(&command, 0, "");
}

#[cfg(unix)]
#[test]
fn interrupted_run_leaves_a_checkpoint() {
    use std::process::{Command, Stdio};
    let dir = Dir::new();
    let command = "run microcode/forward --trace traces/mixed.pcap --pace 10kpps --quiet";
    dir.npsim(&format!("{command} --out @a.pcap --stats @a.json"), 0, "");
    let (out, stats, checkpoint) = (dir.file("b.pcap"), dir.file("b.json"), dir.file("b.ckpt"));
    let child = Command::new(env!("CARGO_BIN_EXE_npsim"))
        .current_dir(root())
        .args(command.split(' '))
        .args(["--out", &out, "--stats", &stats])
        .args(["--checkpoint", &checkpoint, "--checkpoint-every", "1ms"])
        .stderr(Stdio::null())
        .spawn()
        .expect("start npsim");
    while !Path::new(&checkpoint).exists() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill -INT");
    let status = child.wait_with_output().expect("wait for it").status;
    assert_eq!(status.code(), Some(130));
    assert!(dir.read("a.pcap") != dir.read("b.pcap"), "it was not done");
    dir.npsim("run --resume @b.ckpt --checkpoint-every 20ms", 0, "");
    assert!(dir.read("a.json") == dir.read("b.json"), "counts differ");
    assert!(dir.read("a.pcap") == dir.read("b.pcap"), "captures differ");
}

#[test]
fn generated_traffic_resumes() {
    let dir = Dir::new();
    for chip in ["ixp2400", "ixp2800"] {
        let command = format!("run microcode/forward --chip {chip} --load 0.3 --seed 4 --until");
        let whole = dir.npsim(
            &format!("{command} 900us --out @a.pcap --stats @a.json"),
            0,
            "the time is up",
        );
        dir.npsim(
            &format!(
                "{command} 333us --out @b.pcap --stats @b.json --checkpoint @b.ckpt --checkpoint-every 100us"
            ),
            0,
            "the time is up",
        );
        let resumed = dir.npsim("run --resume @b.ckpt --until 900us", 0, "the time is up");
        assert_eq!(whole, resumed);
        assert!(dir.read("a.json") == dir.read("b.json"), "counts differ");
        assert!(dir.read("a.pcap") == dir.read("b.pcap"), "captures differ");
        assert!(dir.read("a.pcap").len() > 10_000);
    }
}
