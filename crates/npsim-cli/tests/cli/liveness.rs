//! Contexts that sleep forever while others poll, frames that stay inside, and contexts that never
//! yield.

use serde_json::Value;

use crate::harness::{Dir, pcap, root};

/// Takes frames in turn, but does not pass the turn on if a frame is short.
const WORKER: &str = "\
#include \"turn.uc\"
#include \"rbuf.uc\"

.num_contexts 8

.reg read $status $checksum
.xfer_order $status $checksum
.sig volatile police
.sig volatile arrived
.reg ticket status element bytes counter

    immed[counter, SHORT]
    receive_ticket(ticket, arrived, $status)
    br!=ctx[0, next#]
    turn_start(police)
next#:
    receive_request(ticket, arrived)
    ctx_arb[arrived]
    .set $status $checksum
    alu[status, --, B, $status]
    alu_shf[element, 0x7f, AND, status, >>24]
    alu_shf[bytes, 0xff, AND, status, >>16]
    ctx_arb[police]
    receive_free(element)
    scratch[incr, --, counter, 0]
    alu[--, bytes, -, 64]
    beq[next#]                          ; the turn is lost here
    turn_pass(police)
    br[next#]
";

/// The worker with the turn passed on in both cases.
fn fixed_worker() -> String {
    WORKER.replace(
        "    beq[next#]                          ; the turn is lost here\n",
        "",
    )
}

/// Polls a ring that is always empty.
const POLLER: &str = "\
.num_contexts 8
.reg read $word
.reg ring
.sig got
    immed[ring, IDLE]
poll#:
    scratch[get, $word, ring, 0, 1], ctx_swap[got]
    br[poll#]
";

const PROJECT: &str = "\
name = \"lost-turn\"
include = [\"LIB\"]
[chip]
profile = \"ixp2400\"
[[me]]
id = \"0\"
source = \"worker.uc\"
[[me]]
id = \"1\"
source = \"poller.uc\"
[[port]]
rate = \"1Gbps\"
mac = \"02:00:5e:00:00:00\"
[media]
element_size = 64
[[ring]]
name = \"IDLE\"
size = 128
[[counter]]
name = \"SHORT\"
COUNTED
text = \"seen\"
";

fn folder(worker: &str, drop: bool) -> Dir {
    let library = root()
        .join("microcode/lib")
        .canonicalize()
        .expect("a folder");
    let frames: Vec<_> = (0..40)
        .map(|n| (n * 5, if n == 30 { 64 } else { 60 }))
        .collect();
    let counted = if drop { "drop = true" } else { "drop = false" };
    let project = PROJECT
        .replace("LIB", &library.display().to_string())
        .replace("COUNTED", counted);
    Dir::new()
        .with("npsim.toml", project)
        .with("worker.uc", worker)
        .with("poller.uc", POLLER)
        .with("in.pcap", pcap(1, &frames))
}

fn stats(dir: &Dir) -> Value {
    serde_json::from_slice(&dir.read("out.json")).expect("JSON")
}

/// A project that loses a turn when `in.pcap` is played.
pub fn lost_turn() -> Dir {
    folder(WORKER, true)
}

#[test]
fn lost_turn_is_detected_while_another_microengine_polls() {
    let dir = folder(WORKER, true);
    let done = dir.npsim("run . --trace in.pcap --stats out.json").expect(
        3,
        &[
            "error[never-woken]: 8 contexts of microengine 0 have been waiting since cycle",
            "(`police`), which nothing raises any more",
            "worker.uc:23:5",
            "turn.uc:21 (in turn_pass, worker.uc:28)",
            "contexts 0 to 7 of microengine 0",
            "--allow never-woken",
        ],
    );
    let headline = done.out.lines().next().expect("a summary");
    assert!(
        headline.contains("9 of 40 frames came in and neither left nor were counted as dropped"),
        "{headline}"
    );
    let stats = stats(&dir);
    let fault = &stats["nodes"][0]["fault"];
    assert_eq!(
        (&stats["ending"], &fault["check"]),
        (&"fault".into(), &"never-woken".into())
    );
    assert_eq!((&fault["me"], &fault["context"]), (&0.into(), &0.into()));
    assert_eq!(stats["packets"]["lost"], 9);
}

#[test]
fn program_that_passes_its_turn_has_no_fault() {
    let dir = folder(&fixed_worker(), true);
    let done = dir
        .npsim("run . --trace in.pcap --stats out.json")
        .expect(0, &["all traffic is handled"]);
    assert!(!done.out.contains("neither left"), "{}", done.out);
    assert_eq!(stats(&dir)["packets"]["lost"], 0);
}

#[test]
fn lost_turn_is_reported_when_the_time_is_up() {
    let dir = folder(WORKER, true);
    dir.npsim("run . --trace in.pcap --until 250us")
        .expect(3, &["error[never-woken]: 8 contexts of microengine 0"]);
    dir.npsim("run . --trace in.pcap --until 250us --stats out.json")
        .expect(3, &[]);
    // Frames that have not left are in flight: the time is up, and nothing has come to rest.
    assert_eq!(stats(&dir)["packets"]["lost"], 0);
    // Before the frame that causes it, nothing is wrong.
    dir.npsim("run . --trace in.pcap --until 100us")
        .expect(0, &["the time is up"]);
    dir.npsim("run . --trace in.pcap --until 250us --allow never-woken")
        .expect(
            0,
            &[
                "the time is up",
                "allowed      never-woken would have stopped the run 1 times",
            ],
        );
}

#[test]
fn both_cores_report_the_same_fault() {
    let dir = folder(WORKER, true);
    let text = |core: &str| {
        let done = dir.npsim(&format!("run . --trace in.pcap --quiet --core {core}"));
        (done.code, done.err)
    };
    assert_eq!(text("engine"), text("reference"));
}

#[test]
fn frames_left_inside_are_reported_in_the_headline() {
    let dir = folder(&fixed_worker(), false);
    let done = dir
        .npsim("run . --trace in.pcap --stats out.json")
        .expect(0, &["unaccounted 40"]);
    assert!(
        done.out
            .starts_with("lost-turn on ixp2400: 40 of 40 frames came in and neither left"),
        "{}",
        done.out
    );
    let stats = stats(&dir);
    assert_eq!(
        (&stats["packets"]["lost"], &stats["ending"]),
        (&40.into(), &"drained".into())
    );
}

/// Contexts 1 to 7 wait for a signal that context 0, which polls, passes on in a branch that is
/// never taken here; the check cannot detect that.
#[test]
fn signal_that_may_still_be_raised_is_no_fault() {
    let may = POLLER
        .replace(".sig got", ".sig got\n.sig volatile go\n.reg bit")
        .replace("    immed[ring, IDLE]\n", "    immed[ring, IDLE]\n    br=ctx[0, poll#]\n    ctx_arb[go]\n")
        .replace(
            "    br[poll#]\n",
            "    alu[bit, --, B, $word]\n    beq[poll#]\n    local_csr_wr[SAME_ME_SIGNAL, (1 | (&go << 3))]\n    .set_sig go\n    br[poll#]\n",
        );
    let dir = folder(&fixed_worker(), true).with("poller.uc", &may);
    // Context 0 may raise a signal only of context 1; contexts 2 to 7 wait forever.
    dir.npsim("run . --trace in.pcap").expect(
        3,
        &[
            "error[never-woken]: 6 contexts of microengine 1 have been waiting",
            "contexts 2 to 7 of microengine 1",
        ],
    );
    let to_the_next = may.replace("(1 | (&go << 3))", "(0x80 | (&go << 3))");
    let dir = folder(&fixed_worker(), true).with("poller.uc", &to_the_next);
    dir.npsim("run . --trace in.pcap")
        .expect(0, &["all traffic is handled"]);
}

/// Counts forever without raising a signal that is waited for.
pub const ENDLESS: &str = "\
.num_contexts 8
.reg count
    immed[count, 0]
    br!=ctx[2, rest#]
round#:
    alu[count, count, +, 1]
    br[round#]
rest#:
    ctx_arb[voluntary], br[rest#]
";

#[test]
fn context_that_never_yields_stops_the_run() {
    let dir = Dir::new().with("a.uc", ENDLESS);
    for core in ["engine", "reference"] {
        let done = dir.npsim(&format!(
            "run a.uc --until 1s --stats {core}.json --core {core}"
        ));
        assert_eq!(done.code, 3, "{}", done.err);
    }
    dir.npsim("run a.uc --until 1s").expect(
        3,
        &[
            "error[never-yields]: context 2 has run for 1048576 cycles without yielding",
            "ME 0, context 2",
            "it loops among the addresses 2 to 3, a.uc:6 to a.uc:7",
            "meanwhile contexts 0, 1, 3, 4, 5, 6 and 7 could have run",
            "ctx_arb[voluntary]",
        ],
    );
    let fault = |core: &str| {
        let stats: Value =
            serde_json::from_slice(&dir.read(&format!("{core}.json"))).expect("JSON");
        let fault = &stats["nodes"][0]["fault"];
        ["check", "cycle", "me", "context", "pc"].map(|field| fault[field].clone())
    };
    assert_eq!(fault("engine"), fault("reference"));
}

#[test]
fn endless_loop_report_is_independent_of_skipping_and_profiling() {
    let dir = Dir::new()
        .with("a.uc", ENDLESS)
        .with("b.uc", "here#:\n    br[here#]\n");
    for source in ["a.uc", "b.uc"] {
        let text = |options: &str| {
            let done = dir.npsim(&format!("run {source} --until 1s --quiet {options}"));
            (done.code, done.err)
        };
        let plain = text("");
        assert_eq!(plain.0, 3);
        assert_eq!(plain, text("--no-skip"));
        assert_eq!(plain, text("--profile"));
    }
}

#[test]
fn allowed_never_yields_counts_once_per_watchdog_period() {
    let dir = Dir::new().with("b.uc", "here#:\n    br[here#]\n");
    // 6,000,000 cycles contain five periods of 1,048,576.
    dir.npsim("run b.uc --until 10ms --allow never-yields")
        .expect(0, &["never-yields would have stopped the run 5 times"]);
}

#[test]
fn polling_shared_state_is_not_an_endless_loop() {
    let polls = |what: &str| format!(".sig volatile s\n.reg a\nhere#:\n{what}\n    br[here#]\n");
    for what in [
        "    br_signal[s, here#]",
        "    br_inp_state[SCR_Ring0_Status, here#]",
        "    local_csr_rd[TIMESTAMP_LOW]\n    immed[a, 0]",
        "    local_csr_rd[PROFILE_COUNT]\n    immed[a, 0]",
    ] {
        let dir = Dir::new().with("a.uc", polls(what));
        for core in ["engine", "reference"] {
            // The other contexts of the microengine never run, which a note reports.
            dir.npsim(&format!("run a.uc --until 4ms --core {core}"))
                .expect(
                    0,
                    &[
                        "microengine 0 context 0 has not given up the pipeline since cycle",
                        "7 other contexts could have run",
                    ],
                );
        }
    }
}

/// The loop that it is in, not the enclosing one, which it would have left by its swap.
#[test]
fn inner_of_two_nested_loops_is_reported() {
    let source = "\
.reg count
next#:
    ctx_arb[voluntary]
    immed[count, 1]
    br!=ctx[2, next#]
round#:
    alu[count, count, OR, 1]
    bne[round#]
    br[next#]
";
    let dir = Dir::new().with("a.uc", source);
    for core in ["engine", "reference"] {
        let done = dir.npsim(&format!("run a.uc --until 1s --core {core}"));
        assert_eq!(done.code, 3, "{}", done.err);
    }
    let names = "it loops among the addresses 3 to 4, a.uc:7 to a.uc:8";
    dir.npsim("run a.uc --until 1s").expect(3, &[names]);
}

/// A register's initial value differs from the value that the only instruction writing it gives.
#[test]
fn signal_raised_through_an_initial_value_is_no_fault() {
    let source = "\
.sig volatile go
.addr go 5
.reg sel again
.init sel 41                            ; signal 5 to context 1
    br=ctx[0, first#]
    br!=ctx[1, others#]
    ctx_arb[go]
others#:
    ctx_arb[kill]
first#:
    immed[again, 1000]
wait#:
    ctx_arb[voluntary]
    alu[again, again, -, 1]
    bne[wait#]
    local_csr_wr[SAME_ME_SIGNAL, sel]
    .set_sig go
    immed[sel, 2]
    br[first#]
";
    let dir = Dir::new().with("a.uc", source);
    dir.npsim("run a.uc --until 5us")
        .expect(0, &["the time is up"]);
}

/// Context 1 is disabled for now, and would raise the signal that context 2 waits for.
#[test]
fn disabled_context_may_still_raise_a_signal() {
    let source = "\
.sig volatile go
.reg enable again
    br=ctx[0, first#]
    br=ctx[1, second#]
    br!=ctx[2, others#]
    ctx_arb[go]
others#:
    ctx_arb[kill]
second#:
    ctx_arb[voluntary]
    local_csr_wr[SAME_ME_SIGNAL, (2 | (&go << 3))]
    .set_sig go
    br[second#]
first#:
    immed[enable, 0xfd00]
    local_csr_wr[CTX_ENABLES, enable]
    immed[again, 1000]
wait#:
    ctx_arb[voluntary]
    alu[again, again, -, 1]
    bne[wait#]
    immed[enable, 0xff00]
    local_csr_wr[CTX_ENABLES, enable]
    br[first#]
";
    let dir = Dir::new().with("a.uc", source);
    dir.npsim("run a.uc --until 5us")
        .expect(0, &["the time is up"]);
}
