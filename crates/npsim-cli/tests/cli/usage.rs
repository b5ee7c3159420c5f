use std::io::Read;
use std::process::{Command, Stdio};

use crate::harness::{Dir, LOOP};

#[test]
fn help_shows_usage_and_examples() {
    let dir = Dir::new();
    dir.npsim("--help").expect(
        0,
        &[
            "Usage: npsim",
            "Exit codes",
            "npsim run microcode/forward --trace",
        ],
    );
    for command in [
        "run",
        "debug",
        "dap",
        "asm",
        "disasm",
        "pp",
        "fmt",
        "check",
        "codes",
        "lsp",
        "trace",
        "trace gen",
        "trace info",
        "new",
        "chip",
        "isa",
        "completions",
    ] {
        dir.npsim(&format!("{command} --help"))
            .expect(0, &["Examples:", &format!("npsim {command}")]);
    }
}

#[test]
fn manual_page_of_a_command_is_shown() {
    let dir = Dir::new();
    dir.npsim("man run")
        .expect(0, &["Usage: npsim run", "--look-for", "Examples:"]);
    dir.npsim("man trace order")
        .expect(0, &["Usage: npsim trace order"]);
    assert!(dir.files().is_empty());
    dir.npsim("man rnu")
        .expect(1, &["no command `npsim rnu`", "npsim man run", "./rnu"]);
    dir.npsim("man trace odrer").expect(1, &["trace odrer"]);
    dir.npsim("man -").expect(1, &["standard output"]);
    dir.npsim("man ./run").expect(0, &[]);
    assert!(dir.path("run/npsim-run.1").exists());
}

#[test]
fn usage_errors_exit_with_2() {
    let dir = Dir::new().with("a.uc", LOOP);
    dir.npsim("").expect(2, &["Usage"]);
    dir.npsim("walk").expect(2, &["unrecognized subcommand"]);
    dir.npsim("run").expect(2, &["<TARGET>"]);
    dir.npsim("run a.uc --until 2m")
        .expect(2, &["unit of time"]);
    dir.npsim("run a.uc --until 1ms --allow deadlok")
        .expect(2, &["deadlok", "deadlock"]);
    dir.npsim("run a.uc --trace x.pcap --pace fast")
        .expect(2, &["is not a pace"]);
    dir.npsim("run a.uc --until 1ms --pace line")
        .expect(2, &["--trace"]);
    dir.npsim("run a.uc --trace x.pcap --pace line --speed 2")
        .expect(2, &["cannot be used with"]);
    dir.npsim("asm a.uc -D =3").expect(2, &["no name before"]);
}

#[test]
fn measurements_are_available_as_json() {
    let dir = Dir::new();
    let measured = |what: &str| -> serde_json::Value {
        let run = dir.npsim(&format!("chip ixp2400 {what} --format json"));
        serde_json::from_str(&run.expect(0, &[]).out).unwrap()
    };
    let latencies = measured("--latencies");
    let read = &latencies["latencies"][0];
    assert_eq!(
        (&read["parameter"], &read["target"], &read["sum"]),
        (&"scratch.read".into(), &60.into(), &(16 * 60 + 8).into())
    );
    let bandwidths = measured("--bandwidths");
    let scratch = &bandwidths["bandwidths"][0];
    assert_eq!(scratch["resource"], "scratch read");
    assert_eq!(scratch["peak_tenths"], 12_000);
    assert_eq!(scratch["exceeds"], false);
}

#[test]
fn lists_checks_chips_and_pages() {
    let dir = Dir::new();
    dir.npsim("checks")
        .expect(0, &["deadlock", "Every context sleeps", "rbuf-leak"]);
    dir.npsim("chip").expect(0, &["ixp2400  "]);
    dir.npsim("chip ixp2400")
        .expect(0, &["clock.me_mhz", "600", "parameters: "]);
    dir.npsim("chip ixp2401").expect(
        1,
        &[
            "there is no chip or board `ixp2401`",
            "did you mean `ixp2400`?",
        ],
    );
    dir.npsim("chip ixp2400 --latencies").expect(
        0,
        &[
            "scratch   read ",
            "60.5      60     61   100.8       60        +0.8%",
        ],
    );
    dir.npsim("chip --latencies").expect(2, &["<NAME>"]);
    dir.npsim("chip ixp2400 --latencies --bandwidths")
        .expect(2, &["cannot be used with"]);
    dir.npsim("isa").expect(0, &["Instructions", "Local CSRs"]);
    dir.npsim("isa local")
        .expect(0, &["# Local CSRs", "CTX_ENABLES"]);
    dir.npsim("isa alu").expect(0, &["# alu", "operators: "]);
    dir.npsim("isa ctx_arb").expect(0, &["ctx_arb[", "defer"]);
    dir.npsim("isa alu_shf")
        .expect(0, &["operators: B, ~B, AND, ~AND, AND~, OR\n"]);
    dir.npsim("isa .if").expect(0, &["    .if (condition)"]);
    dir.npsim("isa indirect_ref")
        .expect(0, &["# indirect_ref", "overrides fields"]);
    dir.npsim("isa directives")
        .expect(0, &["# Directives", ".xfer_order $a $b ..."]);
    dir.npsim("isa structured")
        .expect(0, &["# Structured assembly", ".while (condition)"]);
    dir.npsim("checks ring-overflow")
        .expect(0, &["ring-overflow: A put", "--allow ring-overflow"]);
    dir.npsim("checks bank-conflict")
        .expect(1, &["`npsim codes bank-conflict` explains it"]);
    dir.npsim("codes rbuf-leak")
        .expect(1, &["`npsim checks rbuf-leak` explains it"]);
    dir.npsim("isa ctx_enables")
        .expect(0, &["Local CSR CTX_ENABLES"]);
    dir.npsim("isa hash")
        .expect(0, &["# Unit hash", "hash_48", "hash_128"]);
    dir.npsim("isa sram")
        .expect(0, &["# sram", "test_and_incr"]);
    dir.npsim("isa test_and_incr")
        .expect(0, &["## sram", "## scratch"]);
    dir.npsim("isa cam_loo").expect(0, &["# cam_lookup"]);
    dir.npsim("isa cam_read")
        .expect(1, &["these begin so: cam_read_state, cam_read_tag"]);
    dir.npsim("isa ctx_arbb")
        .expect(1, &["did you mean `ctx_arb`?"]);
    dir.npsim("isa xyzzy").expect(
        1,
        &["there is no instruction, unit, command, register, directive or page `xyzzy`"],
    );
    for shell in ["bash", "zsh", "fish"] {
        let script = dir.npsim(&format!("completions {shell}"));
        let script = script.expect(0, &["npsim", "check-exercise"]).out;
        // Names of commands in bash, and what the others say of a command.
        let hidden = ["npsim,generate)", "grammars, the instruction reference"];
        assert!(!hidden.iter().any(|it| script.contains(it)), "{shell}");
    }
}

#[test]
fn early_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_npsim"))
        .args(["isa", "--all"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("run npsim");
    // Closing the pipe at once: the text is longer than a pipe holds.
    drop(child.stdout.take());
    let mut messages = String::new();
    child
        .stderr
        .take()
        .expect("standard error")
        .read_to_string(&mut messages)
        .expect("UTF-8");
    let status = child.wait().expect("an end");
    assert_eq!((status.code(), messages.as_str()), (Some(0), ""));
}
