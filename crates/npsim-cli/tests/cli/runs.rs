use crate::harness::{Dir, LOOP, pcap};

#[test]
fn endless_loop_runs_until_the_time_limit() {
    let dir = Dir::new().with("a.uc", LOOP);
    dir.npsim("run a.uc --until 1ms --stats out.json")
        .expect(0, &["the time is up", "600,000 cycles", "microengine"]);
    let stats: serde_json::Value = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
    assert_eq!(stats["schema"], "npsim-stats-2");
    assert_eq!(stats["ending"], "reached");
    assert_eq!(stats["nodes"][0]["chip"]["cycles"], 600_000);
    assert!(stats["nodes"][0]["chip"]["microengines"][0]["instructions"].as_u64() > Some(100_000));
    assert_eq!(stats["latency"], serde_json::Value::Null);
    dir.npsim("run a.uc --until 1ms --quiet").expect(0, &[]);
}

#[test]
fn ended_program_leaves_no_events_pending() {
    let dir = Dir::new().with("a.uc", "ctx_arb[kill]\n");
    dir.npsim("run a.uc --until 1s")
        .expect(0, &["no events pending"]);
}

#[test]
fn run_without_time_limit_ends_at_rest_or_gives_up() {
    let dir = Dir::new()
        .with("a.uc", "ctx_arb[kill]\n")
        .with("b.uc", LOOP);
    dir.npsim("run a.uc").expect(0, &["no events pending"]);
    dir.npsim("run b.uc")
        .expect(1, &["was still running after 100 ms", "--until 1ms"]);
}

#[test]
fn time_shares_add_up_to_the_run() {
    let dir = Dir::new().with("a.uc", "nop\nnop\nctx_arb[kill]\n");
    dir.npsim("run a.uc --stats out.json").expect(0, &[]);
    let stats: serde_json::Value = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
    let me = &stats["nodes"][0]["chip"]["microengines"][0];
    let sum: u64 = ["executing", "aborted", "stalled", "idle"]
        .iter()
        .map(|name| me[name].as_u64().expect("a count"))
        .sum();
    assert_eq!(Some(sum), stats["nodes"][0]["chip"]["cycles"].as_u64());
}

/// A context that waits for a signal that nothing raises.
const DEADLOCK: &str = "\
.sig never
    nop
    ctx_arb[never]
here#:
    br[here#]
";

#[test]
fn deadlock_exits_with_3_and_names_the_waiting_contexts() {
    let dir = Dir::new()
        .with("a.uc", DEADLOCK)
        .with("in.pcap", pcap(1, &[(0, 60)]));
    dir.npsim("run a.uc --until 1ms --stats out.json").expect(
        3,
        &[
            "error[deadlock]",
            "a.uc:3:5",
            "--allow deadlock",
            "never",
            "microengine 0 contexts 0 to 7: wait for",
        ],
    );
    let stats: serde_json::Value = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
    assert_eq!(
        (&stats["ending"], &stats["nodes"][0]["fault"]["check"]),
        (&"fault".into(), &"deadlock".into())
    );
    dir.npsim("run a.uc --until 1ms --allow deadlock")
        .expect(0, &["would have stopped the run"]);
}

#[test]
fn capture_is_saved_completely_after_a_fault() {
    let dir = Dir::new()
        .with("a.uc", DEADLOCK)
        .with("in.pcap", pcap(1, &[(0, 60)]));
    dir.npsim("run a.uc --trace in.pcap --out out.pcap --stats out.json")
        .expect(3, &["error[deadlock]"]);
    assert_eq!(dir.files(), ["a.uc", "in.pcap", "out.json", "out.pcap"]);
    assert_eq!(dir.read("out.pcap").len(), 24, "a header and no frame");
}

#[test]
fn frames_that_microcode_never_takes_are_counted() {
    let frames: Vec<_> = (0..400).map(|n| (n * 2, 1514)).collect();
    let dir = Dir::new()
        .with("a.uc", LOOP)
        .with("in.pcap", pcap(1, &frames));
    let done = dir
        .npsim("run a.uc --trace in.pcap --pace line --stats out.json")
        .expect(0, &["in 400   out 0", "receive FIFO full"]);
    let headline = done.out.lines().next().expect("a summary");
    let lost = "of 400 frames came in and neither left nor were counted as dropped";
    assert!(headline.contains(lost), "{headline}");
    assert!(
        done.err
            .contains("RBUF elements hold mpackets that no context took"),
        "{}",
        done.err
    );
    let stats: serde_json::Value = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
    let packets = &stats["packets"];
    let count = |name: &str| packets[name].as_i64().expect("a count");
    assert_eq!(count("offered"), 400);
    assert!(count("dropped_media") > 0);
    assert_eq!(
        count("offered"),
        count("sent") + count("dropped_media") + count("unaccounted")
    );
}

#[test]
fn reading_an_unwritten_register_is_a_fault() {
    let dir = Dir::new().with("a.uc", "    alu[b0, --, B, a0]\n    ctx_arb[kill]\n");
    dir.npsim("run a.uc --until 1us").expect(
        3,
        &[
            "error[uninitialised-read]",
            "a.uc:1:5",
            "--allow uninitialised-read",
        ],
    );
    dir.npsim("run a.uc --until 1us --allow uninitialised-read")
        .expect(0, &["allowed      uninitialised-read"]);
}

#[test]
fn unwritable_stats_end_the_command_before_the_run() {
    let dir = Dir::new().with("a.uc", DEADLOCK);
    let done = dir.npsim("run a.uc --until 1ms --stats no/out.json");
    let done = done.expect(1, &["cannot write `no/out.json`"]);
    assert!(!done.err.contains("deadlock"), "{}", done.err);
}

#[test]
#[cfg(target_os = "linux")]
fn fault_is_reported_even_if_stats_cannot_be_written() {
    // A device that turns out to be full only on writing.
    let dir = Dir::new().with("a.uc", DEADLOCK);
    dir.npsim("run a.uc --until 1ms --stats /dev/full")
        .expect(3, &["error[deadlock]", "cannot write `/dev/full`"]);
}

/// Ctrl-C ends a run between two events and saves its results completely.
#[cfg(unix)]
#[test]
fn interrupted_run_saves_its_results() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let dir = Dir::new().with("a.uc", LOOP);
    let mut run = Command::new(env!("CARGO_BIN_EXE_npsim"))
        .current_dir(dir.path("."))
        .args(["run", "a.uc", "--until", "1000000s", "--stats", "out.json"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("npsim starts");
    // The handler is installed soon after the start. A signal before that would end the process
    // without the expected code, so it is sent only later.
    std::thread::sleep(Duration::from_millis(500));
    let killed = Command::new("kill")
        .args(["-INT", &run.id().to_string()])
        .status()
        .expect("kill is there");
    assert!(killed.success());
    let asked = Instant::now();
    let status = loop {
        if let Some(status) = run.try_wait().expect("npsim can be waited for") {
            break status;
        }
        if asked.elapsed() > Duration::from_mins(1) {
            run.kill().expect("npsim can be killed");
            panic!("the run went on after Ctrl-C");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(130));
    let stats: serde_json::Value = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
    assert_eq!(stats["ending"], "interrupted");
}

#[test]
fn uart_option_requires_a_core_program() {
    let dir = Dir::new().with("rest.uc", "ctx_arb[kill]");
    dir.npsim("run rest.uc --until 1us --uart x.txt").expect(
        1,
        &[
            "`--uart` needs a program on the core, and the core runs none",
            "[gpp] program",
        ],
    );
    assert!(!dir.path("x.txt").exists());
}

#[test]
fn dump_contains_final_memory() {
    let source = "\
.reg $x addr
.sig done
    br!=ctx[0, end#]
    immed[$x, 0x1234]
    immed32(addr)
    sram[write, $x, addr, 4, 1], ctx_swap[done]
end#:
    ctx_arb[kill]
"
    .replace(
        "immed32(addr)",
        "immed[addr, (TABLE & 0xffff)]\n    immed_w1[addr, (TABLE >> 16)]",
    );
    let project = "\
[[me]]
id = \"0\"
source = \"a.uc\"
[[memory]]
name = \"TABLE\"
space = \"sram1\"
address = 0x100
words = [7, 0]
[[counter]]
name = \"SEEN\"
";
    let dir = Dir::new()
        .with("a.uc", source)
        .with("npsim.toml", project)
        .with("rest.uc", "ctx_arb[kill]")
        .with("empty.pcap", pcap(1, &[]));
    dir.npsim("run . --until 10us --dump TABLE=t.txt --dump SEEN=s.txt")
        .expect(0, &[]);
    assert_eq!(
        String::from_utf8(dir.read("t.txt")).expect("text"),
        "0x40000100 0x00000007 0x00001234\n"
    );
    let seen = String::from_utf8(dir.read("s.txt")).expect("text");
    assert!(
        seen.ends_with(" 0x00000000\n") && seen.lines().count() == 1,
        "{seen}"
    );
    dir.npsim("run . --until 10us --dump TABEL=x.txt").expect(
        1,
        &["no memory or counter `TABEL`", "did you mean `TABLE`?"],
    );
    dir.npsim("run . --until 10us --dump TABLE=a.uc")
        .expect(1, &["--dump `a.uc` would overwrite a source"]);
    dir.npsim("run . --until 10us --dump TABLE=x.txt --dump SEEN=x.txt")
        .expect(1, &["--dump and --dump both write `x.txt`"]);
    dir.npsim("run . --until 10us --dump TABLE")
        .expect(2, &["NAME=FILE"]);
    dir.npsim("run rest.uc --trace empty.pcap")
        .expect(0, &["the capture has no frames"]);
    assert!(!dir.files().contains(&"x.txt".to_owned()));
}

#[test]
fn similar_paths_are_suggested() {
    let dir = Dir::new().with("microcode/wire/npsim.toml", "");
    let meant = ["did you mean `microcode/wire`?"];
    dir.npsim("run microcode/wier").expect(1, &meant);
    let meant = ["did you mean `microcode/wire/npsim.toml`?"];
    dir.npsim("run microcoed/wire/npsim.toml").expect(1, &meant);
    let none = ["check the spelling of the path"];
    dir.npsim("run elsewhere/wire").expect(1, &none);
    dir.npsim("run microcode/wire --rate 3gbps")
        .expect(2, &["the prefix is a capital letter, as in 3Gbps"]);
    dir.npsim("run microcode/wire --rate 5")
        .expect(2, &["has a unit, as in 5Mpps or 3Gbps"]);
}
