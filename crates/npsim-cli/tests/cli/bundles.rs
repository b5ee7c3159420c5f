//! A bundle reproduces its fault, and a malicious one does no harm.

use std::io::{Read, Write};
use std::path::Path;

use assert_cmd::Command;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tar::{Archive, Builder, EntryType, Header};

use crate::harness::{COUNT, Dir, pcap, root};

const BAD: &str = ".num_contexts 8\n.reg a\n#include \"lib/b.uc\"\n    alu[a, a, +, missing]\n";

/// An entry of a tar file as an attacker could write it.
struct ForgedEntry {
    name: String,
    kind: EntryType,
    link: &'static str,
    bytes: Vec<u8>,
}

fn file(name: &str, bytes: impl Into<Vec<u8>>) -> ForgedEntry {
    ForgedEntry {
        name: name.to_owned(),
        kind: EntryType::Regular,
        link: "",
        bytes: bytes.into(),
    }
}

fn entries(bundle: &[u8]) -> Vec<ForgedEntry> {
    let mut archive = Archive::new(GzDecoder::new(bundle));
    let entries = archive.entries().expect("a tar");
    entries
        .map(|entry| {
            let mut entry = entry.expect("an entry");
            let name = String::from_utf8(entry.path_bytes().to_vec()).expect("UTF-8");
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("its bytes");
            file(&name, bytes)
        })
        .collect()
}

fn packed(entries: &[ForgedEntry]) -> Vec<u8> {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for entry in entries {
        let mut header = Header::new_gnu();
        // The library itself refuses to write a path that leads outside.
        let field = &mut header.as_gnu_mut().expect("GNU").name;
        field[..entry.name.len()].copy_from_slice(entry.name.as_bytes());
        if !entry.link.is_empty() {
            header.set_link_name(entry.link).expect("a link");
        }
        header.set_entry_type(entry.kind);
        header.set_size(entry.bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, &*entry.bytes).expect("append it");
    }
    tar.into_inner().and_then(GzEncoder::finish).expect("a tar")
}

/// A bundle of an assembler error, in a folder.
fn bundle_of_an_error() -> Dir {
    let dir = Dir::new()
        .with("a.uc", BAD)
        .with("lib/b.uc", "    immed[a, 1]\n")
        .with("private.uc", "nop\n");
    dir.npsim("bundle make -o a.npsim-bundle -- asm a.uc")
        .expect(0, &["exit code 1", "files read: 2"]);
    dir
}

/// The bundle with a changed table.
fn with_changed_manifest(dir: &Dir, from: &str, to: &str) -> Vec<u8> {
    let mut all = entries(&dir.read("a.npsim-bundle"));
    let table = String::from_utf8(all[0].bytes.clone()).expect("UTF-8");
    assert!(table.contains(from), "{table}");
    all[0].bytes = table.replace(from, to).into_bytes();
    packed(&all)
}

/// In another folder, which contains only the bundle.
fn in_new_folder(bundle: Vec<u8>) -> Dir {
    Dir::new().with("b.npsim-bundle", bundle)
}

#[test]
fn assembler_error_is_reproduced_elsewhere() {
    let dir = bundle_of_an_error();
    let other = in_new_folder(dir.read("a.npsim-bundle"));
    other
        .npsim("bundle replay b.npsim-bundle")
        .expect(0, &["reproduced: exit code 1"]);
    let info = other
        .npsim("bundle info b.npsim-bundle")
        .expect(0, &["npsim asm a.uc", "lib/b.uc", "`missing`"]);
    assert!(!info.out.contains("private.uc"), "{}", info.out);
    assert_eq!(other.files(), ["b.npsim-bundle"]);
}

#[test]
fn bundles_of_the_same_command_are_identical() {
    let dir = bundle_of_an_error();
    dir.npsim("bundle make -o b.npsim-bundle -- asm a.uc")
        .expect(0, &[]);
    assert_eq!(dir.read("a.npsim-bundle"), dir.read("b.npsim-bundle"));
}

#[test]
fn run_with_a_capture_is_reproduced_exactly() {
    let forward = root().join("microcode").canonicalize().expect("it");
    let dir = Dir::new().with("in.pcap", pcap(1, &[(0, 60), (9, 61)]));
    let capture = dir.path("in.pcap");
    let made = dir.npsim(&format!(
        "bundle make -- run {}/forward --trace {} --out out.pcap --stats stats.json",
        forward.display(),
        capture.display()
    ));
    made.expect(0, &["exit code 0", "files written: 2"]);
    assert!(dir.path("out.pcap").is_file(), "as without a bundle");
    let other = in_new_folder(dir.read("fault.npsim-bundle"));
    other
        .npsim("bundle replay b.npsim-bundle")
        .expect(0, &["reproduced: exit code 0", "2 written files"]);
    assert_eq!(other.files(), ["b.npsim-bundle"]);
}

#[test]
fn faults_and_usage_errors_are_reproduced() {
    let dir = Dir::new().with("a.uc", ".num_contexts 8\n.sig s\n    ctx_arb[s]\n");
    for (command, code) in [
        ("run a.uc --until 1ms", "exit code 3"),
        ("run a.uc --no-such-option", "exit code 2"),
        ("run b.uc", "exit code 1"),
    ] {
        dir.npsim(&format!("bundle make -- {command}"))
            .expect(0, &[code]);
        in_new_folder(dir.read("fault.npsim-bundle"))
            .npsim("bundle replay b.npsim-bundle")
            .expect(0, &["reproduced", code]);
    }
}

#[test]
fn network_is_packed_with_its_chips() {
    let networks = root().join("traces/networks").canonicalize().expect("it");
    let dir = Dir::new();
    dir.npsim(&format!(
        "bundle make -- network {}/dumbbell.toml --until 60s --stats n.json",
        networks.display()
    ))
    .expect(0, &["exit code 0"]);
    in_new_folder(dir.read("fault.npsim-bundle"))
        .npsim("bundle replay b.npsim-bundle")
        .expect(0, &["reproduced"]);
}

#[test]
fn overwritten_input_is_packed_as_it_was_read() {
    let dir = Dir::new().with("a.uc", "  here#:\nctx_arb[ voluntary ],br[here#]\n");
    dir.npsim("bundle make -- fmt a.uc")
        .expect(0, &["files written: 1"]);
    let laid_out = dir.read("a.uc");
    let all = entries(&dir.read("fault.npsim-bundle"));
    let packed = all.iter().find(|it| it.name == "files/a.uc").expect("it");
    assert_ne!(packed.bytes, laid_out);
    in_new_folder(dir.read("fault.npsim-bundle"))
        .npsim("bundle replay b.npsim-bundle")
        .expect(0, &["reproduced"]);
}

#[test]
fn differing_outcome_is_itemised() {
    let dir = Dir::new().with("a.uc", COUNT);
    dir.npsim("bundle make -o a.npsim-bundle -- run a.uc -D TURNS=9 --stats s.json")
        .expect(0, &["exit code 0"]);
    let changed = with_changed_manifest(&dir, "TURNS=9", "TURNS=8");
    in_new_folder(changed)
        .npsim("bundle replay b.npsim-bundle")
        .expect(
            1,
            &["is not reproduced", "standard output, line", "`s.json` has"],
        );
}

#[test]
fn commands_unsupported_in_bundles_are_refused() {
    let dir = Dir::new().with("a.uc", BAD);
    for (words, why) in [
        ("live a.toml", "`npsim live` cannot be in a bundle"),
        ("bundle info x", "`npsim bundle` cannot be in a bundle"),
        ("debug a.uc --gdb :0", "--gdb cannot be in a bundle"),
    ] {
        dir.npsim(&format!("bundle make -- {words}"))
            .expect(1, &[why]);
    }
    dir.npsim("bundle make").expect(2, &["COMMAND"]);
    dir.npsim("bundle make -o no/where -- asm a.uc")
        .expect(1, &["cannot write `no/where`"]);
    // Before the command, which would write, has run.
    dir.npsim("bundle make -o no/where -- trace gen --load 1 --time 1us -o a.pcap")
        .expect(1, &["cannot write `no/where`"]);
    assert_eq!(dir.files(), ["a.uc"]);
}

#[cfg(unix)]
#[test]
fn absolute_include_path_is_refused() {
    let far = Dir::new().with("far.uc", "    nop\n");
    let include = format!(
        "#include \"{}\"\n    ctx_arb[kill]\n",
        far.path("far.uc").display()
    );
    let dir = Dir::new().with("a.uc", include);
    dir.npsim("bundle make -- asm a.uc")
        .expect(1, &["far.uc", "cannot be in a bundle", "absolute path"]);
}

#[test]
fn damaged_bundles_are_refused() {
    let dir = bundle_of_an_error();
    let whole = dir.read("a.npsim-bundle");
    for length in [0, 1, 10, 40, whole.len() / 2, whole.len() - 4] {
        in_new_folder(whole[..length].to_vec())
            .npsim("bundle replay b.npsim-bundle")
            .expect(1, &["truncated or damaged"]);
    }
    in_new_folder(b"no bundle".to_vec())
        .npsim("bundle info b.npsim-bundle")
        .expect(1, &["is not a bundle"]);
    let all = || entries(&whole);
    let without = |name: &str| {
        let left: Vec<_> = all().into_iter().filter(|it| it.name != name).collect();
        packed(&left)
    };
    let mut lying = all();
    lying.last_mut().expect("a file").bytes.push(b'\n');
    let mut more = all();
    more.push(file("files/more.uc", "nop\n"));
    for (bundle, why) in [
        (without("bundle.json"), "has no `bundle.json`"),
        (without("stderr"), "has no `stderr`"),
        (
            without("files/a.uc"),
            "`a.uc` of the bundle `b.npsim-bundle` is missing",
        ),
        (packed(&lying), "does not match its checksum"),
        (packed(&more), "is not listed in `bundle.json`"),
        (
            with_changed_manifest(&dir, "bundle-1", "bundle-2"),
            "`npsim-bundle-2`, and this npsim reads `npsim-bundle-1`",
        ),
        (
            with_changed_manifest(&dir, "\"folders\"", "\"fodlers\""),
            "`bundle.json` of",
        ),
    ] {
        in_new_folder(bundle)
            .npsim("bundle replay b.npsim-bundle")
            .expect(1, &[why]);
    }
    dir.npsim("bundle replay missing")
        .expect(1, &["cannot read `missing`"]);
}

#[test]
fn replay_writes_nothing_outside_its_folder() {
    let dir = bundle_of_an_error();
    let whole = dir.read("a.npsim-bundle");
    let mark = "npsim-bundle-test-outside";
    let place = std::env::temp_dir().join(mark);
    let absolute = place.display().to_string();
    for (name, kind, link) in [
        (format!("files/../../{mark}"), EntryType::Regular, ""),
        (format!("../{mark}"), EntryType::Regular, ""),
        (absolute.clone(), EntryType::Regular, ""),
        ("files/link".to_owned(), EntryType::Symlink, "/etc/passwd"),
        ("files/link".to_owned(), EntryType::Link, "/etc/passwd"),
        ("files/pipe".to_owned(), EntryType::Fifo, ""),
        ("files/folder".to_owned(), EntryType::Directory, ""),
        ("more".to_owned(), EntryType::Regular, ""),
        ("files/a.uc".to_owned(), EntryType::Regular, ""),
    ] {
        let mut all = entries(&whole);
        all.push(ForgedEntry {
            name,
            kind,
            link,
            bytes: Vec::new(),
        });
        in_new_folder(packed(&all))
            .npsim("bundle replay b.npsim-bundle")
            .expect(1, &["nothing was unpacked"]);
    }
    let word = |to: &str| {
        with_changed_manifest(&dir, "\"a.uc\"\n    ],", &format!("\"a.uc\", {to}\n    ],"))
    };
    for words in [
        format!("\"-o\", \"{absolute}\""),
        format!("\"-o{absolute}\""),
        format!("\"--out=../{mark}\""),
    ] {
        in_new_folder(word(&words))
            .npsim("bundle replay b.npsim-bundle")
            .expect(1, &["names a path outside the bundle", "was not run"]);
    }
    for folder in ["../x", "/x", "a//b", "C:"] {
        in_new_folder(with_changed_manifest(
            &dir,
            "\"folder\": \"\"",
            &format!("\"folder\": \"{folder}\""),
        ))
        .npsim("bundle replay b.npsim-bundle")
        .expect(1, &["a path outside the bundle"]);
    }
    in_new_folder(with_changed_manifest(&dir, "\"asm\"", "\"live\""))
        .npsim("bundle replay b.npsim-bundle")
        .expect(1, &["`npsim live` cannot be in a bundle"]);
    assert!(!Path::new(&place).exists());
}

#[test]
fn decompression_bomb_is_refused() {
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    let mut header = Header::new_gnu();
    header.set_path("files/zeros").expect("a path");
    header.set_size(2 << 30);
    header.set_entry_type(EntryType::Regular);
    header.set_cksum();
    gz.write_all(header.as_bytes()).expect("write it");
    let zeros = vec![0; 1 << 20];
    for _ in 0..1100 {
        gz.write_all(&zeros).expect("write it");
    }
    in_new_folder(gz.finish().expect("a file"))
        .npsim("bundle info b.npsim-bundle")
        .expect(1, &["too large", "more than 1024 MiB"]);
}

#[test]
fn outputs_contain_nothing_host_specific() {
    let dir = Dir::new()
        .with("a.uc", COUNT)
        .with("load.toml", SWEEP)
        .with(
            "npsim.toml",
            "[[me]]\nid = 0\nsource = \"a.uc\"\n[[port]]\n[load]\nrate = \"1Mpps\"\n",
        );
    dir.npsim("run a.uc -D TURNS=9 --checkpoint a.ckpt --until 1us --quiet")
        .expect(0, &[]);
    for (command, ended) in [
        (
            "run a.uc -D TURNS=9 --checkpoint b.ckpt --until 1us",
            "exit code 0",
        ),
        ("run --resume a.ckpt --until 2us", "exit code 0"),
        ("sweep load.toml --out results", "exit code 0"),
        ("sweep load.toml --out part --shard 1/2", "exit code 0"),
        ("reproduce zhang --quick", "exit code 1"),
    ] {
        dir.npsim(&format!("bundle make -o a.npsim-bundle -- {command}"))
            .expect(0, &[ended]);
        in_new_folder(dir.read("a.npsim-bundle"))
            .npsim("bundle replay b.npsim-bundle")
            .expect(0, &["reproduced"]);
    }
}

const SWEEP: &str = r#"
name = "load"
title = "Load"
[window]
measure = "1us"
[metric.egress]
measure = "egress-rate"
[sweep.load]
system = "npsim.toml"
[[sweep.load.axis]]
name = "turns"
key = "define.TURNS"
values = [1, 2]
"#;

/// A checkpoint contains the command of its run, and that contains the names of outputs.
#[test]
fn bundled_checkpoint_writes_nothing_outside() {
    let far = Dir::new();
    let place = far.path("s.json");
    let dir = Dir::new().with("a.uc", COUNT);
    dir.npsim(&format!(
        "run a.uc -D TURNS=9 --checkpoint a.ckpt --until 1us --stats {}",
        place.display()
    ))
    .expect(0, &[]);
    dir.npsim("bundle make -- run --resume a.ckpt").expect(
        1,
        &["behaves differently from a bundle", "names a path outside"],
    );
    // One that was made by hand.
    dir.npsim("bundle make -- run --resume b.ckpt")
        .expect(0, &["exit code 1"]);
    let mut all = entries(&dir.read("fault.npsim-bundle"));
    let mut add = |name: &str, bytes: Vec<u8>| {
        let digest = format!("{:x}", Sha256::digest(&bytes));
        let mut table: Value = serde_json::from_slice(&all[0].bytes).expect("JSON");
        let inputs = table["inputs"].as_array_mut().expect("inputs");
        inputs.push(json!({"path": name, "bytes": bytes.len(), "sha256": digest}));
        all[0].bytes = table.to_string().into_bytes();
        all.push(file(&format!("files/{name}"), bytes));
    };
    add("a.uc", dir.read("a.uc"));
    add("b.ckpt", dir.read("a.ckpt"));
    std::fs::remove_file(&place).expect("it was written");
    in_new_folder(packed(&all))
        .npsim("bundle replay b.npsim-bundle")
        .expect(1, &["names a path outside the bundle"]);
    assert!(far.files().is_empty(), "{:?}", far.files());
}

#[cfg(unix)]
#[test]
fn replay_reading_outside_the_bundle_is_refused() {
    let far = Dir::new().with("far.uc", "    nop\n");
    let include = format!("#include \"{}\"\n", far.path("far.uc").display());
    let dir = Dir::new().with("a.uc", "nonsense\n");
    dir.npsim("bundle make -o a.npsim-bundle -- asm a.uc")
        .expect(0, &[]);
    let mut all = entries(&dir.read("a.npsim-bundle"));
    let mut table: Value = serde_json::from_slice(&all[0].bytes).expect("JSON");
    table["inputs"][0]["bytes"] = include.len().into();
    table["inputs"][0]["sha256"] = format!("{:x}", Sha256::digest(&include)).into();
    all[0].bytes = table.to_string().into_bytes();
    all.last_mut().expect("the source").bytes = include.into_bytes();
    in_new_folder(packed(&all))
        .npsim("bundle replay b.npsim-bundle")
        .expect(1, &["far.uc", "which is not in the bundle"]);
}

#[test]
fn bundle_does_not_overwrite_files_of_its_command() {
    let dir = Dir::new()
        .with("a.uc", "#include \"b.uc\"\n")
        .with("b.uc", "    ctx_arb[kill]\n");
    for (out, command, why) in [
        ("b.uc", "asm a.uc", "what the command reads"),
        ("./a.uc", "asm a.uc", "what the command reads"),
        ("c.hex", "asm a.uc -o c.hex", "what the command writes"),
    ] {
        dir.npsim(&format!("bundle make -o {out} -- {command}"))
            .expect(1, &["would overwrite", why]);
    }
    assert_eq!(dir.read("b.uc"), b"    ctx_arb[kill]\n");
    assert!(dir.read("c.hex").is_ascii(), "what the command wrote stays");
}

#[test]
fn bundle_name_may_end_in_tar_gz() {
    let dir = Dir::new().with("a.uc", BAD);
    for name in ["a.tar.gz", "a.tgz"] {
        dir.npsim(&format!("bundle make -o {name} -- asm a.uc"))
            .expect(0, &[]);
        in_new_folder(dir.read(name))
            .npsim("bundle replay b.npsim-bundle")
            .expect(0, &["reproduced"]);
    }
    dir.npsim("bundle make -o a.tar.zst -- asm a.uc")
        .expect(1, &["compressed by gzip, not as `.zst` promises"]);
    assert_eq!(dir.files(), ["a.tar.gz", "a.tgz", "a.uc"]);
}

#[test]
fn stdout_contains_only_the_bundle() {
    let dir = Dir::new().with("a.uc", BAD);
    let mut npsim = Command::new(env!("CARGO_BIN_EXE_npsim"));
    let words = ["bundle", "make", "-o", "-", "--", "asm", "a.uc"];
    let made = npsim.args(words).current_dir(dir.path("")).output();
    dir.npsim("bundle make -- asm a.uc").expect(0, &[]);
    assert_eq!(
        made.expect("run npsim").stdout,
        dir.read("fault.npsim-bundle")
    );
}

#[test]
fn command_reading_standard_input_is_refused() {
    let dir = Dir::new().with("a.uc", COUNT);
    for command in ["fmt -", "debug a.uc -D TURNS=9 --batch"] {
        dir.npsim(&format!("bundle make -- {command}"))
            .expect(1, &["standard input", "--script FILE"]);
    }
    assert_eq!(dir.files(), ["a.uc"]);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn bundle_info_escapes_control_characters() {
    let dir = bundle_of_an_error();
    let changed = with_changed_manifest(&dir, "\"x86_64-", "\"\\u001b]0;x\\u0007x86_64-");
    let other = in_new_folder(changed);
    let mut npsim = Command::new(env!("CARGO_BIN_EXE_npsim"));
    let info = npsim
        .args(["bundle", "info", "b.npsim-bundle"])
        .current_dir(other.path(""))
        // As on a terminal.
        .env("CLICOLOR_FORCE", "1")
        .output()
        .expect("run npsim");
    let out = String::from_utf8(info.stdout).expect("UTF-8");
    assert!(out.contains("made by"), "{out}");
    assert!(!out.contains(['\x1b', '\x07']), "{out:?}");
}

#[test]
fn oversized_manifest_is_refused() {
    let dir = bundle_of_an_error();
    let mut all = entries(&dir.read("a.npsim-bundle"));
    all[0].bytes.resize(33 << 20, b' ');
    in_new_folder(packed(&all))
        .npsim("bundle info b.npsim-bundle")
        .expect(1, &["too large", "`bundle.json` has more than 32 MiB"]);
    let folders: Vec<_> = (0..10_001).map(|it| format!("\"f{it}\"")).collect();
    let folders = format!("\"folders\": [{}]", folders.join(", "));
    let many = with_changed_manifest(&dir, "\"folders\": []", &folders);
    in_new_folder(many)
        .npsim("bundle replay b.npsim-bundle")
        .expect(1, &["more than 10000 folders"]);
}
