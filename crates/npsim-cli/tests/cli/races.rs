//! `--look-for races`: memory that two contexts update without synchronisation.

use crate::harness::{Dir, root};

/// Every context of two microengines adds 1 to a longword a few times.
fn program(update: &str) -> String {
    format!(
        "\
.num_contexts 8
.reg read $old
.reg write $new
.reg lock_word sum place left one
.reg $held
.sig done
    immed[place, SUM]
    immed[lock_word, LOCK]
    immed[left, 5]
    immed[one, 1]
again#:
{update}
    alu[left, left, -, 1]
    bne[again#]
    ctx_arb[kill]
"
    )
}

const UPDATE: &str = "\
    scratch[read, $old, place, 0, 1], ctx_swap[done]
    alu[sum, $old, +, 1]
    alu[$new, --, B, sum]
    scratch[write, $new, place, 0, 1], ctx_swap[done]";

fn project(source: &str) -> Dir {
    let library = root()
        .join("microcode/lib")
        .canonicalize()
        .expect("a folder");
    Dir::new().with("sum.uc", source).with(
        "npsim.toml",
        format!(
            "name = \"sum\"\ninclude = [\"{}\"]\n[chip]\nprofile = \"ixp2400\"\n[[me]]\nid = \"0-1\"\nsource = \"sum.uc\"\n[[memory]]\nname = \"SUM\"\nspace = \"scratch\"\nsize = 4\n[[memory]]\nname = \"LOCK\"\nspace = \"scratch\"\nsize = 4\n",
            library.display()
        ),
    )
}

/// A project in which contexts add to a longword without a lock.
pub fn unguarded() -> Dir {
    project(&program(UPDATE))
}

#[test]
fn unlocked_read_modify_write_is_a_race() {
    let dir = project(&program(UPDATE));
    // No other check stops the run.
    dir.npsim("run .").expect(0, &["no events pending"]);
    let done = dir.npsim("run . --look-for races").expect(
        3,
        &[
            "error[lost-update]: the longword 0x",
            "of scratch (`SUM`) is updated by two contexts, and no lock, signal or ring keeps them apart",
            "sum.uc:15:5",
            "read by ME 0 context",
            "sum.uc:12",
            "written by ME 0 context",
            "one update is lost",
            "make it one atomic operation",
            "--allow lost-update",
        ],
    );
    assert!(done.out.contains("no events pending"), "{}", done.out);
    dir.npsim("run . --look-for races --allow lost-update")
        .expect(0, &[]);
}

#[test]
fn an_atomic_operation_or_a_lock_is_no_race() {
    let locked = format!(
        "\
try#:
    immed[$held, 1]
    scratch[test_and_set, $held, lock_word, 0], ctx_swap[done]
    alu[--, --, B, $held]
    bne[try#]
{UPDATE}
    alu[$held, --, B, one]
    scratch[clr, $held, lock_word, 0], ctx_swap[done]"
    );
    let increment = "    scratch[incr, --, place, 0]";
    for update in [locked.as_str(), increment] {
        let dir = project(&program(update));
        dir.npsim("run . --look-for races")
            .expect(0, &["no events pending"]);
    }
}

/// Contexts of two microengines that never overlap: the second begins much later.
#[test]
fn race_is_reported_even_if_contexts_did_not_overlap() {
    let late = program(UPDATE)
        .replace("    immed[one, 1]\n", "    immed[one, 1]\n    br!=ctx[0, rest#]\n    late()\n")
        .replace(".num_contexts 8\n", ".num_contexts 8\n#macro late\n#if (ME_INDEX == 1)\n    immed[sum, 20000]\nlater#:\n    alu[sum, sum, -, 1]\n    bne[later#]\n#endif\n#endm\n")
        .replace("    ctx_arb[kill]\n", "rest#:\n    ctx_arb[kill]\n");
    let dir = project(&late);
    dir.npsim("run . --look-for races").expect(
        3,
        &["error[lost-update]", "these two did not meet in this run"],
    );
}

/// Contexts of one microengine add to a longword of its local memory, and yield the
/// pipeline between read and write, or before them.
fn local(update: &str) -> String {
    format!(
        "\
.num_contexts 8
.reg sum value place left
.reg read $word
.sig done
    immed[place, 0x40]
    immed[sum, 64]
    immed[left, 5]
    local_csr_wr[ACTIVE_LM_ADDR_0, sum]
    nop
    nop
    nop
again#:
{update}
    alu[left, left, -, 1]
    bne[again#]
    ctx_arb[kill]
"
    )
}

const READ: &str = "    scratch[read, $word, place, 0, 1], ctx_swap[done]\n";

#[test]
fn local_memory_update_across_a_swap_is_a_race() {
    let update =
        format!("    alu[value, --, B, *l$index0[0]]\n{READ}    alu[*l$index0[0], value, +, 1]");
    let dir = Dir::new().with("a.uc", local(&update));
    dir.npsim("run a.uc").expect(0, &["no events pending"]);
    for core in ["engine", "reference"] {
        dir.npsim(&format!("run a.uc --look-for races --core {core}"))
            .expect(
                3,
                &[
                    "error[lost-update]: the longword 0x40 of the local memory of ME 0 is updated by two contexts",
                    "a.uc:15:5",
                    "a.uc:13",
                    "read by ME 0 context 1 at cycle 18",
                    "read and write it with no `ctx_arb` or `ctx_swap` between",
                ],
            );
    }
}

#[test]
fn local_memory_update_between_swaps_is_no_race() {
    for update in [
        format!("{READ}    alu[*l$index0[0], 1, +, *l$index0[0]]"),
        format!(
            "{READ}    alu[value, 1, +, *l$index0[0]]\n    nop\n    alu[*l$index0[0], --, B, value]"
        ),
        // A word of which each context updates its own byte in one command.
        format!(
            "    alu[value, --, B, *l$index0[0]]\n{READ}    ld_field[*l$index0[0], 0001, value]"
        ),
    ] {
        let dir = Dir::new().with("a.uc", local(&update));
        dir.npsim("run a.uc --look-for races")
            .expect(0, &["no events pending"]);
    }
}

/// One context passes a turn to another at some distance from the other's write.
fn turn_handover(distance: usize) -> String {
    let nops = "    nop\n".repeat(distance);
    format!(
        "\
.num_contexts 8
.reg x y p
.reg to0 to1
.sig a b
.addr a 1
.addr b 2
    immed[p, 64]
    local_csr_wr[ACTIVE_LM_ADDR_0, p]
    immed[to1, ((2 << 3) | 1)]
    immed[to0, ((1 << 3) | 0)]
    nop
    nop
    br=ctx[0, zero#]
    br=ctx[1, one#]
    ctx_arb[kill]
zero#:
    ctx_arb[voluntary]
    alu[x, --, B, *l$index0]
    local_csr_wr[SAME_ME_SIGNAL, to1]
{}    ctx_arb[voluntary]
{nops}    alu[*l$index0, --, B, x]
    .set_sig a
    ctx_arb[a]
    ctx_arb[kill]
one#:
    .set_sig b
    ctx_arb[b]
    alu[y, --, B, *l$index0]
    alu[y, y, +, 1]
    alu[*l$index0, --, B, y]
    ctx_arb[voluntary], defer[2]
    nop
    local_csr_wr[SAME_ME_SIGNAL, to0]
    ctx_arb[kill]
",
        "    nop\n".repeat(18)
    )
}

/// An engine runs ahead of the signals of its own cycle; the findings do not depend on that, nor on
/// how a run is split.
#[test]
fn both_cores_find_the_same_races_at_every_distance() {
    for distance in 0..6 {
        let dir = Dir::new().with("a.uc", turn_handover(distance));
        let run = "run a.uc --until 2000 --look-for races --allow uninitialised-read --quiet";
        let code = |more: &str| dir.npsim(&format!("{run} {more}")).code;
        let engine = code("");
        assert_eq!(engine, code("--core reference"), "{distance}");
        assert_eq!(engine, code("--report page"), "{distance}");
    }
}

/// Contexts of a microengine that search a table for room, in turn, and claim an empty entry. `claim` is executed by a
/// context that has found room while it holds the turn. The table is in one memory, and the slow accesses are in the
/// other.
fn table(claim: &str, sram: bool) -> Dir {
    let source = format!(
        "\
#include \"turn.uc\"
.num_contexts 8
.reg read $entry $other
.reg write $own
.reg place
.sig volatile table
.sig done
    immed[place, SUM]
    br!=ctx[0, look#]
    turn_start(table)
look#:
    ctx_arb[table]
probe#:
    scratch[read, $entry, place, 0, 1], ctx_swap[done]
    alu[--, --, B, $entry]
    beq[empty#]
    alu[place, place, +, 4]
    br[probe#]
empty#:
    alu[$own, 1, +, place]
{claim}
    ctx_arb[kill]
"
    );
    let source = if sram {
        let swapped = source.replace("scratch[", "other[");
        swapped
            .replace("sram[", "scratch[")
            .replace("other[", "sram[")
    } else {
        source
    };
    let dir = project(&source);
    let text = String::from_utf8(dir.read("npsim.toml")).expect("UTF-8");
    let one = text.replace("id = \"0-1\"", "id = \"0\"");
    let space = if sram { "sram0" } else { "scratch" };
    let one = one
        .replace("size = 4", "size = 64")
        .replace("scratch", space);
    dir.with("npsim.toml", one)
}

const CLAIM: &str = "    scratch[write, $own, place, 0, 1], ctx_swap[done]\n";
const PASS: &str = "    turn_pass(table)\n";
/// Takes a while.
const PAUSE: &str = "    sram[read, $other, place, 0, 1], ctx_swap[done]\n";

/// The read is in a loop with no other command, which walks along the table and waits for no entry.
#[test]
fn claiming_an_entry_after_passing_the_turn_is_a_race() {
    for (core, sram) in [("engine", false), ("engine", true), ("reference", true)] {
        table(&[PASS, PAUSE, CLAIM].concat(), sram)
            .npsim(&format!("run . --look-for races --core {core}"))
            .expect(
                3,
                &[
                    "error[lost-update]: the longword 0x",
                    "(`SUM`) is updated by two contexts",
                    "read by ME 0 context 1",
                    "read by ME 0 context 0",
                    "written by ME 0 context 0",
                    "both contexts had read the longword before either wrote it",
                ],
            );
    }
    for sram in [false, true] {
        table(&[PAUSE, CLAIM, PASS].concat(), sram)
            .npsim("run . --look-for races")
            .expect(0, &["no events pending"]);
    }
}

/// One microengine updates a longword and signals the next one, which also updates it.
fn signalled(first: &str, second: &str) -> Dir {
    let program = |own: &str| {
        format!(
            "\
.num_contexts 8
.reg read $old
.reg write $new
.reg place word
.sig volatile go
.sig done
.addr go 5
    immed[place, SUM]
    br!=ctx[0, end#]
{own}
end#:
    ctx_arb[kill]
"
        )
    };
    let library = root().join("microcode/lib");
    let library = library.canonicalize().expect("a folder");
    let me = |id: u8, name: &str| format!("[[me]]\nid = \"{id}\"\nsource = \"{name}.uc\"\n");
    Dir::new()
        .with("first.uc", program(first))
        .with("second.uc", program(second))
        .with(
            "npsim.toml",
            format!(
                "name = \"sum\"\ninclude = [\"{}\"]\n[chip]\nprofile = \"ixp2400\"\n{}{}[[memory]]\nname = \"SUM\"\nspace = \"scratch\"\nsize = 4\n",
                library.display(),
                me(0, "first"),
                me(1, "second")
            ),
        )
}

const ADD: &str = "\
    scratch[read, $old, place, 0, 1], ctx_swap[done]
    alu[$new, 1, +, $old]
";
const STORE: &str = "    scratch[write, $new, place, 0, 1], ctx_swap[done]\n";
const SEND: &str = "    local_csr_wr[NEXT_NEIGHBOR_SIGNAL, (5 << 3)]\n";
const TAKE: &str = "    ctx_arb[go]\n";
/// Consumes the signal with a branch.
const TEST: &str = "wait#:\n    br_!signal[go, wait#]\n";
/// Longer than the latency of a signal.
const WAIT: &str = "\
    sram[read, $old, place, 0, 1], ctx_swap[done]
    sram[read, $old, place, 0, 1], ctx_swap[done]
    sram[read, $old, place, 0, 1], ctx_swap[done]
";

#[test]
fn write_after_a_signal_is_not_ordered_by_it() {
    let taken = [TAKE, ADD, STORE].concat();
    let race = [ADD, SEND, STORE].concat();
    signalled(&race, &taken)
        .npsim("run . --look-for races")
        .expect(3, &["error[lost-update]", "by ME 0 context 0"]);
    // Issued before, and still in flight.
    let on_its_way = "    scratch[write, $new, place, 0, 1], sig_done[done]\n";
    let race = [ADD, on_its_way, SEND, "    ctx_arb[done]\n"].concat();
    signalled(&race, &taken)
        .npsim("run . --look-for races")
        .expect(3, &["error[lost-update]", "by ME 0 context 0"]);
    signalled(&[ADD, STORE, SEND].concat(), &taken)
        .npsim("run . --look-for races")
        .expect(0, &["no events pending"]);
}

#[test]
fn read_before_consuming_the_signal_is_not_ordered() {
    let first = [ADD, STORE, SEND].concat();
    // The signal has arrived long before the read.
    let early = [WAIT, WAIT, ADD, TAKE, STORE].concat();
    signalled(&first, &early)
        .npsim("run . --look-for races")
        .expect(3, &["error[lost-update]", "these two did not meet"]);
    for second in [
        [WAIT, WAIT, TAKE, ADD, STORE].concat(),
        [TEST, ADD, STORE].concat(),
    ] {
        signalled(&first, &second)
            .npsim("run . --look-for races")
            .expect(0, &["no events pending"]);
    }
}

/// A command whose data and signal go to context 0 of microengine 1, given by an override word.
const SIGNAL_BY_COMMAND: &str = "\
    immed[word, (1 << 3)]
    immed_w1[word, 0x8400]
    alu[--, --, B, word]
    scratch[read, $old, place, 0, 1], sig_done[go], indirect_ref
";

#[test]
fn command_signal_to_another_context_orders_earlier_accesses() {
    let taken = [TAKE, ADD, STORE].concat();
    for core in ["engine", "reference"] {
        signalled(&[ADD, STORE, SIGNAL_BY_COMMAND].concat(), &taken)
            .npsim(&format!("run . --look-for races --core {core}"))
            .expect(0, &["no events pending"]);
    }
    // The command is at its unit before the write.
    signalled(&[ADD, SIGNAL_BY_COMMAND, WAIT, STORE].concat(), &taken)
        .npsim("run . --look-for races")
        .expect(3, &["error[lost-update]", "by ME 0 context 0"]);
    // Its data are used after the read.
    let early = [WAIT, WAIT, ADD, TAKE, STORE].concat();
    signalled(&[ADD, STORE, SIGNAL_BY_COMMAND].concat(), &early)
        .npsim("run . --look-for races")
        .expect(3, &["error[lost-update]", "these two did not meet"]);
}

/// Consumes the signal by reading the CSR of arrived signals.
const POLL: &str = "\
poll#:
    local_csr_rd[ACTIVE_CTX_SIG_EVENTS]
    immed[word, 0]
    br_bclr[word, 5, poll#]
";

#[test]
fn signal_read_from_a_csr_orders_later_accesses() {
    let first = [ADD, STORE, SEND].concat();
    for core in ["engine", "reference"] {
        signalled(&first, &[POLL, ADD, STORE].concat())
            .npsim(&format!("run . --look-for races --core {core}"))
            .expect(0, &["no events pending"]);
    }
    signalled(&first, &[WAIT, WAIT, ADD, POLL, STORE].concat())
        .npsim("run . --look-for races")
        .expect(3, &["error[lost-update]", "these two did not meet"]);
}

/// A register selects the context whose signals the CSR shows, so the race reports that this is not
/// followed.
#[test]
fn race_report_notes_indirect_csr_signals_are_not_followed() {
    let first = [ADD, STORE, SEND].concat();
    let through = "    local_csr_wr[CSR_CTX_POINTER, 0]\n    nop\n    nop\n    nop\n";
    let indirect = POLL.replace("ACTIVE_CTX", "INDIRECT_CTX");
    let note = "signals that are read from INDIRECT_CTX_SIG_EVENTS are not followed";
    signalled(&first, &[through, indirect.as_str(), ADD, STORE].concat())
        .npsim("run . --look-for races")
        .expect(3, &["error[lost-update]", note]);
    let told = signalled(&[ADD, SEND, STORE].concat(), &[TAKE, ADD, STORE].concat())
        .npsim("run . --look-for races")
        .expect(3, &["error[lost-update]"]);
    assert!(!told.err.contains("INDIRECT"), "{}", told.err);
}

#[test]
fn shipped_systems_have_no_races() {
    let dir = Dir::new();
    for run in [
        "microcode/forward --rate 2Mpps --time 200us",
        "microcode/router --rate 2Mpps --time 200us",
        "microcode/ordering/its.toml --rate 2Mpps --time 200us",
        "microcode/ordering/in-order.toml --rate 4Mpps --time 200us",
        "microcode/ordering/packet-sort.toml --rate 4Mpps --time 200us",
        "microcode/ordering/global.toml --rate 4Mpps --time 200us",
        "microcode/ordering/aisr.toml --rate 4Mpps --time 200us",
        "microcode/quick-start/lock.toml --rate 2Mpps --time 200us",
        "microcode/quick-start/atomic.toml --rate 2Mpps --time 200us",
        "microcode/xcp/lock.toml --rate 2Mpps --time 200us",
        "microcode/xcp/split.toml --rate 2Mpps --time 200us",
        "microcode/rcp --rate 2Mpps --time 200us",
        "microcode/pacing --rate 1Mpps --time 200us",
    ] {
        let run = run.replacen(
            "microcode",
            &root().join("microcode").display().to_string(),
            1,
        );
        dir.npsim(&format!("run {run} --look-for races"))
            .expect(0, &[]);
    }
}
