//! Mistakes of a new author: each is reported with its name, its place and a remedy.

use crate::harness::{Dir, root};
use crate::{liveness, races};

/// A mistake, how it is run, and the required report.
fn assert_fault_reported(dir: &Dir, run: &str, name: &str, place: &str, remedy: &str) {
    let done = dir.npsim(run);
    let err = &done.err;
    assert_eq!(done.code, 3, "{err}");
    assert!(err.contains(&format!("error[{name}]: ")), "{err}");
    assert!(err.contains(place), "no `{place}` in\n{err}");
    assert!(err.contains(remedy), "no `{remedy}` in\n{err}");
}

#[test]
fn lost_turn_is_reported() {
    let dir = liveness::lost_turn();
    assert_fault_reported(
        &dir,
        "run . --trace in.pcap",
        "never-woken",
        "worker.uc:23:5",
        "a turn has to be passed on even where a packet is dropped",
    );
}

/// The forwarder with a change in its transmit stage.
fn forwarder(from: &str, to: &str) -> Dir {
    let folder = root().join("microcode/forward");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file");
    let library = root()
        .join("microcode/lib")
        .canonicalize()
        .expect("a folder");
    let project = read("npsim.toml").replace("../lib", &library.display().to_string());
    let transmit = read("transmit.uc");
    assert!(transmit.contains(from));
    Dir::new()
        .with("npsim.toml", project)
        .with("forward.uc", read("forward.uc"))
        .with("transmit.uc", transmit.replace(from, to))
}

/// Context 0 of four takes a buffer for each mpacket and keeps the handle of the last one in
/// register 20, which a program with eight contexts does not have, until it uses it for the next.
const KEEPS_LAST_HANDLE: &str = "
.num_contexts 4
#include \"constant.uc\"
#include \"rbuf.uc\"
#include \"buffer.uc\"
.reg read $status $checksum
.xfer_order $status $checksum
.reg read $link
.reg ticket queue element handle
.addr handle 20 A
.addr $link 20
.sig volatile arrived
.sig taken
    br!=ctx[0, end#]
    immed[handle, 0]
    load_constant(queue, FREE_BUFFERS)
    receive_ticket(ticket, arrived, $status)
next#:
    receive_request(ticket, arrived)
    ctx_arb[arrived]
    alu_shf[element, 0x7f, AND, $status, >>24]
    receive_free(element)
    local_csr_wr[CRC_REMAINDER, handle]
    buffer_take(handle, queue, $link, taken)
    br[next#]
end#:
    ctx_arb[kill]
";

#[test]
fn handle_in_a_high_register_is_no_leak() {
    let system = |source: &str| {
        format!(
            "[[me]]\nid = 0\n{source}\n[[port]]\nrate = \"1Gbps\"\n\
             [[queue]]\nname = \"FREE_BUFFERS\"\nchannel = 0\n\
             [buffers]\ncount = 8\nsize = 2048\nchannel = 0\nqueue = \"FREE_BUFFERS\"\n"
        )
    };
    let library = root().join("microcode/lib");
    let dir = Dir::new()
        .with("a.uc", KEEPS_LAST_HANDLE)
        .with("made/npsim.toml", system("source = \"../a.uc\""))
        .with("p/npsim.toml", system("source = \"a.hex\"\ncontexts = 4"));
    dir.npsim(&format!("asm made -I {} -o p/a.hex", library.display()))
        .expect(0, &[]);
    for (frames, leaks) in [(1, None), (2, Some("1 of 8 packet buffers"))] {
        let run = format!("run p --rate 1Mpps --time {frames}us");
        match leaks {
            None => dir.npsim(&run).expect(0, &[]),
            Some(said) => dir.npsim(&run).expect(3, &["buffer-leak", said]),
        };
    }
}

const RETURN: &str = "    buffer_return(handle, free_queue)\n";

#[test]
fn buffer_leak_is_reported() {
    let dir = forwarder(RETURN, "");
    assert_fault_reported(
        &dir,
        "run . --rate 1Mpps --time 200us",
        "buffer-leak",
        "(in buffer_take, forward.uc:",
        "give the buffer back on every path on which its packet ends",
    );
    let done = dir
        .npsim("run . --rate 1Mpps --time 200us --stats out.json")
        .expect(
            3,
            &[
                " of 1024 packet buffers never came back to their freelist",
                "their handles were last seen in the command of microengine 1 at transmit.uc:73",
            ],
        );
    let count = { done.err.split("error[buffer-leak]: ").nth(1) }
        .and_then(|text| text.split_whitespace().next()?.parse::<u32>().ok());
    // A constant in a register may look like an address in a buffer, which then counts as kept.
    assert!(
        count.is_some_and(|count| (150..=200).contains(&count)),
        "{}",
        done.err
    );
    let stats: serde_json::Value = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
    let chip = &stats["nodes"][0]["chip"];
    // The receiving contexts hold eight more, as each takes one in advance.
    assert_eq!(
        (&chip["buffers"]["count"], &chip["buffers"]["free"]),
        (&1024.into(), &816.into())
    );
    let rings = chip["rings"].as_array().expect("a list");
    let ring = rings
        .iter()
        .find(|ring| ring["name"] == "TX_RING")
        .expect("it is there");
    assert_eq!((&ring["level"], &ring["size"]), (&0.into(), &512.into()));
    let queues = chip["queues"].as_array().expect("a list");
    assert!(
        queues
            .iter()
            .any(|it| it["name"] == "FREE_BUFFERS" && it["level"] == 816)
    );
}

/// The number of buffers lost by the forwarder that does not return them, with a change in its
/// transmit stage before the next packet is taken.
fn buffers_lost(taken: &str, before: &str) -> u32 {
    let dir = forwarder(RETURN, "");
    let transmit = String::from_utf8(dir.read("transmit.uc")).expect("UTF-8");
    let edits = [
        (".reg handle port", ".reg port"),
        (".reg free_queue tx", ".reg handle free_queue tx"),
        (
            "    immed[tx_ring, TX_RING]\n",
            "    immed[tx_ring, TX_RING]\n    immed[handle, 0]\n",
        ),
        ("    ctx_arb[claim]\n    br[poll#]\n", before),
        (
            "    ld_field_w_clr[handle, 0111, $descriptor0], load_cc\n",
            taken,
        ),
    ];
    let edited = edits.iter().fold(transmit, |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    let dir = dir.with("transmit.uc", edited);
    let done = dir.npsim("run . --rate 1Mpps --time 200us");
    let count = { done.err.split("error[buffer-leak]: ").nth(1) }
        .and_then(|text| text.split_whitespace().next()?.parse().ok());
    count.unwrap_or(0)
}

const CLEAR: &str = "    ld_field_w_clr[handle, 0111, $descriptor0], load_cc\n";
const CLAIM: &str = "    ctx_arb[claim]\n    br[poll#]\n";

/// Data that a context keeps of its last packet does not count as use of a buffer.
#[test]
fn overwritten_tested_or_copied_handles_still_leak() {
    let all = buffers_lost(CLEAR, CLAIM);
    // A constant in a register may look like an address in a buffer.
    assert!(all >= 180, "{all}");
    let in_parts = "    ld_field[handle, 0111, $descriptor0], load_cc\n";
    assert_eq!(buffers_lost(in_parts, CLAIM), all);
    let tested = "    ctx_arb[claim]\n    alu[--, --, B, handle]\n    beq[poll#]\n    br[poll#]\n";
    assert_eq!(buffers_lost(CLEAR, tested), all);
    let copied = "    ctx_arb[claim]\n    alu[port, 1, +, handle]\n    br[poll#]\n";
    assert_eq!(buffers_lost(CLEAR, copied), all);
}

#[test]
fn handle_returned_with_the_next_packet_is_no_leak() {
    let later = "\
    ctx_arb[claim]
    alu[--, --, B, handle]
    beq[poll#]
    buffer_return(handle, free_queue)
    immed[handle, 0]
    br[poll#]
";
    assert_eq!(buffers_lost(CLEAR, later), 0);
}

#[test]
fn without_the_leak_all_buffers_are_accounted_for() {
    let dir = forwarder(RETURN, RETURN);
    dir.npsim("run . --rate 1Mpps --time 200us")
        .expect(0, &["all traffic is handled"]);
}

#[test]
fn endless_loop_is_reported() {
    let dir = Dir::new().with("a.uc", liveness::ENDLESS);
    assert_fault_reported(
        &dir,
        "run a.uc --until 10ms",
        "never-yields",
        "a.uc:6",
        "let the loop come to an end",
    );
}

#[test]
fn lost_update_is_reported() {
    let dir = races::unguarded();
    assert_fault_reported(
        &dir,
        "run . --look-for races",
        "lost-update",
        "sum.uc:15:5",
        "make it one atomic operation",
    );
}

/// A register is written again while the command that sends it is in flight.
const EARLY_REUSE: &str = "\
.num_contexts 8
.reg write $word
.reg base
.sig sent
    br=ctx[0, start#]
    ctx_arb[kill]
start#:
    immed[base, 0x40]
    immed[$word, 1]
    scratch[write, $word, base, 0, 1], sig_done[sent]
    immed[$word, 2]
    ctx_arb[sent]
    scratch[write, $word, base, 4, 1], ctx_swap[sent]
    ctx_arb[kill]
";

#[test]
fn early_register_reuse_is_reported() {
    let dir = Dir::new().with("a.uc", EARLY_REUSE);
    assert_fault_reported(
        &dir,
        "run a.uc",
        "transfer-in-flight",
        "a.uc:11:5",
        "wait for the command's signal before the register is written again",
    );
}
