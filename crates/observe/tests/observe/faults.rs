//! A fault ends a run wherever microengines are: work that they have done ahead of it is counted
//! neither by the chip nor by profile and timeline, whichever core runs them.

use std::fmt::Write as _;

use npsim_engine::ENGINE;
use npsim_reference::REFERENCE;
use npsim_session::simulation::Ending;
use proptest::prelude::*;

use crate::profiles::{assert_accounted, profile};
use crate::runs::Run;
use crate::timelines::Timeline;

/// An action in a loop of a random program.
#[derive(Clone, Debug)]
enum Piece {
    Arithmetic(u8),
    /// Skips one instruction if a bit of the counter has the given value.
    Skip {
        bit: u8,
        set: bool,
        deferred: bool,
    },
    /// Aborts slots, all or some.
    Jump {
        deferred: u8,
    },
    Yield,
    Read,
}

fn piece() -> impl Strategy<Value = Piece> {
    let skip = (0..4_u8, any::<bool>(), any::<bool>());
    prop_oneof![
        4 => (1..6_u8).prop_map(Piece::Arithmetic),
        4 => skip.prop_map(|(bit, set, deferred)| Piece::Skip { bit, set, deferred }),
        2 => (0..3_u8).prop_map(|deferred| Piece::Jump { deferred }),
        1 => Just(Piece::Yield),
        1 => Just(Piece::Read),
    ]
}

/// Contexts count at different speeds and from different numbers; the first to reach
/// the limit reads a register that was never written.
fn source(pieces: &[Piece], contexts: u8, step: u8, limit: u16) -> String {
    let mut text = format!(
        "\
.num_contexts {contexts}
.reg n x me never $a
.sig s
    immed[x, 0]
    local_csr_rd[active_ctx_sts]
    immed[me, 0]
    alu_shf[n, 0xf, AND, me, >>3]
    alu_shf[x, --, B, n, <<{step}]
    alu[n, n, +, x]
    alu[me, me, AND, 4]
    alu[n, n, +, me]
loop#:
"
    );
    for (place, piece) in pieces.iter().enumerate() {
        match *piece {
            Piece::Arithmetic(count) => {
                for _ in 0..count {
                    text.push_str("    alu[x, x, +, n]\n");
                }
            }
            Piece::Skip { bit, set, deferred } => {
                let branch = if set { "br_bset" } else { "br_bclr" };
                let defer = if deferred { ", defer[1]" } else { "" };
                let _ = writeln!(text, "    {branch}[n, {bit}, skip{place}#]{defer}");
                text.push_str("    alu[x, x, +, 1]\n    alu[x, x, XOR, n]\n");
                let _ = writeln!(text, "skip{place}#:");
            }
            Piece::Jump { deferred } => {
                let defer = match deferred {
                    0 => String::new(),
                    slots => format!(", defer[{slots}]"),
                };
                let _ = writeln!(text, "    br[skip{place}#]{defer}");
                text.push_str("    alu[x, x, +, 2]\n    alu[x, x, +, 3]\n    nop\n");
                let _ = writeln!(text, "skip{place}#:");
            }
            Piece::Yield => text.push_str("    ctx_arb[voluntary]\n"),
            Piece::Read => text.push_str("    scratch[read, $a, me, 0, 1], ctx_swap[s]\n"),
        }
    }
    let _ = write!(
        text,
        "    alu[n, n, +, 1]
    immed[me, {limit}]
    alu[--, n, -, me]
    blt[loop#]
    alu[n, n, +, never]
    ctx_arb[kill]
"
    );
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: npsim_strategy::cases(8), ..ProptestConfig::default() })]

    #[test]
    fn counts_profile_and_timeline_end_at_the_fault(
        pieces in proptest::collection::vec(piece(), 1..10),
        contexts in prop_oneof![Just(4_u8), Just(8)],
        step in 1..5_u8,
        limit in 100..600_u16,
    ) {
        let text = source(&pieces, contexts, step, limit);
        let (run, _folder) = Run::source(&text, "0-3");
        let mut ends = Vec::new();
        let mut run = run;
        for core in [ENGINE, REFERENCE] {
            run = run.on(core);
            let (seen, stats, ending) = profile(&run, Some(1 << 20));
            prop_assert!(matches!(ending, Ending::Fault(_)), "{ending:?} of\n{text}");
            assert_accounted(&seen, &stats);
            let timeline = Timeline::of(&run, Some(1 << 20), (0, 1 << 20));
            let counted: u64 = stats.microengines.iter().map(|it| it.instructions).sum();
            prop_assert_eq!(timeline.instructions(), counted, "of\n{}", text);
            ends.push((stats.cycles, stats.microengines));
        }
        prop_assert_eq!(&ends[0], &ends[1], "of\n{}", text);
    }
}
