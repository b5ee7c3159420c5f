//! Schemes with a mistake: the checks of order and conservation find each of them.

use npsim_net::load::{Load, Special};
use rayon::prelude::*;

use crate::bench::{Bench, Setup};
use crate::order::three_gigabits;
use crate::verdict::Verdict;
use npsim_testkit::microcode::Edit;

/// The effect of a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    /// Packets leave out of order.
    Reordered,
    /// Packets are lost, changed, duplicated, or stay inside; or a check stops the run.
    Lost,
}

use Finding::{Lost, Reordered};

/// A mistake.
struct Mutant {
    what: &'static str,
    project: &'static str,
    set: &'static [&'static str],
    edits: &'static [Edit],
    finding: Finding,
}

const fn edit(file: &'static str, from: &'static str, to: &'static str) -> Edit {
    Edit { file, from, to }
}

const LONG: [&str; 2] = ["me.forward.define.ONE_MPACKET=0", "media.element_size=256"];

const NUMBERED: &str =
    "    scratch[test_and_incr, $sequence, count_place, 0], ctx_swap[numbered]\n";

const MUTANTS: [Mutant; 19] = [
    Mutant {
        what: "packets are taken before it is the context's turn",
        project: "its.toml",
        set: &[],
        edits: &[edit(
            "ordering/its.uc",
            "    ctx_arb[start]\n    packet_take(count, status)\n",
            "    packet_take(count, status)\n    ctx_arb[start]\n",
        )],
        finding: Reordered,
    },
    Mutant {
        what: "the turn to claim goes on before the claim",
        project: "its.toml",
        set: &[],
        edits: &[
            edit(
                "ordering/its.uc",
                "    ctx_arb[finish]\n    scratch[read,",
                "    ctx_arb[finish]\n    turns_pass(finish)\n    scratch[read,",
            ),
            edit(
                "ordering/its.uc",
                "    ctx_arb[claimed]\n    turns_pass(finish)\n",
                "    ctx_arb[claimed]\n",
            ),
        ],
        finding: Lost,
    },
    Mutant {
        what: "a dropped packet does not take its turn",
        project: "its.toml",
        set: &[],
        edits: &[edit(
            "ordering/its.uc",
            "    ctx_arb[finish]\n    turns_pass(finish)\n#endif\n    br[next#]",
            "#endif\n    br[next#]",
        )],
        finding: Lost,
    },
    Mutant {
        what: "a drop is not counted",
        project: "its.toml",
        set: &[],
        edits: &[edit(
            "ordering/its.uc",
            "    scratch[incr, --, verdict, 0]\n",
            "",
        )],
        finding: Lost,
    },
    Mutant {
        what: "the header may not be back in memory",
        project: "its.toml",
        set: &[],
        edits: &[edit("ordering/its.uc", "    ipv4_written()\n", "")],
        finding: Lost,
    },
    Mutant {
        what: "elements are claimed in any order",
        project: "in-order.toml",
        set: &[],
        edits: &[edit("ordering/its.uc", "    ctx_arb[finish]\n", "")],
        finding: Lost,
    },
    Mutant {
        what: "claims are without bounds",
        project: "in-order.toml",
        set: &LONG,
        edits: &[edit("ordering/its.uc", "    claim_bound(end)\n", "")],
        finding: Lost,
    },
    Mutant {
        what: "elements are filled without a look",
        project: "in-order.toml",
        set: &LONG,
        edits: &[edit(
            "ordering/its.uc",
            "    claim_wait(end)\n    ipv4_w",
            "    ipv4_w",
        )],
        finding: Lost,
    },
    Mutant {
        what: "elements of a dropped packet are not skipped",
        project: "in-order.toml",
        set: &[],
        edits: &[edit(
            "ordering/its.uc",
            "    transmit_skip(place, end)\n",
            "",
        )],
        finding: Lost,
    },
    Mutant {
        what: "the checksum is one off",
        project: "in-order.toml",
        set: &[],
        edits: &[edit(
            "ordering/ipv4.uc",
            "immed[step, 0xfeff]",
            "immed[step, 0xfefe]",
        )],
        finding: Lost,
    },
    Mutant {
        what: "packets are taken out of turn and numbered in turn",
        project: "aisr.toml",
        set: &[],
        edits: &[
            edit(
                "ordering/aisr_buffer.uc",
                "#endif\n    packet_take(count, status)\n    scratch[",
                "#endif\n    scratch[",
            ),
            edit(
                "ordering/aisr_buffer.uc",
                "#if (BUFFERING_COUNT == 1)\n    ctx_arb[take]",
                "    packet_take(count, status)\n#if (BUFFERING_COUNT == 1)\n    ctx_arb[take]",
            ),
        ],
        finding: Reordered,
    },
    Mutant {
        what: "packets are numbered after the lock",
        project: "aisr-16.toml",
        set: &[],
        edits: &[
            edit("ordering/aisr_buffer.uc", NUMBERED, ""),
            edit(
                "ordering/aisr_buffer.uc",
                "    alu[sequence, --, B, $sequence]\n",
                "",
            ),
            edit(
                "ordering/aisr_buffer.uc",
                "verdict, bad#)\n",
                "verdict, bad#)
    scratch[test_and_incr, $sequence, count_place, 0], ctx_swap[numbered]
    alu[sequence, --, B, $sequence]
",
            ),
        ],
        finding: Reordered,
    },
    Mutant {
        what: "packets are inserted without a mark",
        project: "aisr.toml",
        set: &[],
        edits: &[edit(
            "ordering/aisr_reorder.uc",
            "alu[$out0, mark, OR, $in0]",
            "alu[$out0, --, B, $in0]",
        )],
        finding: Lost,
    },
    Mutant {
        what: "a place is not emptied",
        project: "aisr.toml",
        set: &[],
        edits: &[edit(
            "ordering/aisr_reorder.uc",
            "    scratch[write, $out0, base, place, 1], ctx_swap[written]\n    alu[sequence",
            "    alu[sequence",
        )],
        finding: Lost,
    },
    Mutant {
        what: "buffers are not given back",
        project: "aisr.toml",
        set: &[],
        edits: &[edit(
            "ordering/send.uc",
            "    buffer_return(handle, free_queue)\n",
            "",
        )],
        finding: Lost,
    },
    Mutant {
        what: "packets go on before they are due",
        project: "packet-sort.toml",
        set: &[],
        edits: &[edit("ordering/packet_sort.uc", "    bne[early#]\n", "")],
        finding: Reordered,
    },
    Mutant {
        what: "packets that wait are sorted the wrong way round",
        project: "packet-sort.toml",
        set: &["me.processing.define.LANES=1", "me.sort.define.LANES=1"],
        edits: &[edit(
            "ordering/packet_sort.uc",
            "br_bset[place, 15, found#]",
            "br_bclr[place, 15, found#]",
        )],
        finding: Lost,
    },
    Mutant {
        what: "a lane is not closed to others",
        project: "packet-sort.toml",
        set: &["me.processing.define.LANES=1", "me.sort.define.LANES=1"],
        edits: &[edit(
            "ordering/packet_sort.uc",
            "immed[*l$index1, 1]",
            "immed[*l$index1, 0]",
        )],
        finding: Lost,
    },
    Mutant {
        what: "packets are numbered out of turn",
        project: "packet-sort.toml",
        set: &[],
        edits: &[
            edit(
                "ordering/packet_sort_process.uc",
                "ctx_swap[numbered]\n    turns_pass(order)\n",
                "ctx_swap[numbered]\n",
            ),
            edit(
                "ordering/packet_sort_process.uc",
                "    ctx_arb[order]\n    scratch",
                "    ctx_arb[order]
    turns_pass(order)
    dram[read, $$h0, buffer, 0, 5], ctx_swap[fetched]
    scratch",
            ),
        ],
        finding: Reordered,
    },
];

/// Runs under the same load with the same disturbances, one seed after the other.
fn runs(mutant: &Mutant, edits: &'static [Edit]) -> impl Iterator<Item = Verdict> {
    let long = mutant.set == LONG;
    let load = Load {
        rate: Some(if long { "0.9" } else { "0.98" }.parse().unwrap()),
        size: if long { "1518" } else { "64" }.parse().unwrap(),
        special: Special {
            ttl: "2%".parse().unwrap(),
            ..Special::default()
        },
        ..three_gigabits(if long { 1000 } else { 200 })
    };
    let late = ["dram=900", "sram=400", "scratch=100"].map(|it| format!("disturb.{it}"));
    let set: Vec<String> = mutant
        .set
        .iter()
        .map(ToString::to_string)
        .chain(late)
        .collect();
    let project = mutant.project.to_owned();
    (1..=3).map(move |seed| {
        let mut set = set.clone();
        set.push(format!("disturb.seed={seed}"));
        let setup = Setup {
            project: project.clone(),
            set,
            stalls: Vec::new(),
            edits: edits.to_vec(),
        };
        Bench::new(&setup).run(&load)
    })
}

#[test]
fn every_mutant_is_detected() {
    let unseen: Vec<String> = MUTANTS
        .par_iter()
        .filter_map(|mutant| {
            let mut seen = Vec::new();
            for verdict in runs(mutant, mutant.edits) {
                let found = match mutant.finding {
                    Reordered => verdict.reordered.clone(),
                    Lost => verdict.loss().cloned(),
                };
                if let Some(found) = found {
                    println!("{}: {}: {found:.200}", mutant.project, mutant.what);
                    return None;
                }
                seen.push(verdict.first_error().cloned());
            }
            Some(format!("{}: {}: {seen:?}", mutant.project, mutant.what))
        })
        .collect();
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}

/// Without the mistakes, nothing is found.
#[test]
fn unmodified_schemes_pass_under_the_same_load() {
    let mut seen: Vec<(&str, &[&str])> = Vec::new();
    for mutant in &MUTANTS {
        if !seen.contains(&(mutant.project, mutant.set)) {
            seen.push((mutant.project, mutant.set));
            let verdict = runs(mutant, &[]).next().unwrap();
            assert_eq!(verdict.first_error(), None, "{}", mutant.project);
        }
    }
}
