//! A context that stalls for a millisecond under 3 Gb/s: the throughput meanwhile, the losses, and that everything
//! continues in order afterwards.

use npsim_chip::Cycle;
use rayon::prelude::*;

use crate::bench::{Bench, Setup};
use crate::order::three_gigabits;
use crate::verdict::Verdict;

/// Times in microseconds: of the whole run, of the start of the stall, and its length.
const TIME: u64 = 2200;
const FROM: u64 = 500;
const FOR: u64 = 1000;

/// Microseconds in which departures are counted together.
const WINDOW: u64 = 10;

/// A run with the departures of each window.
struct Run {
    verdict: Verdict,
    lost: u64,
    windows: Vec<u64>,
}

impl Run {
    fn of(project: &str, stall: Option<&str>) -> Self {
        let hangs = stall.map(|who| format!("{who}@{FROM}us+{FOR}us"));
        let bench = Bench::new(&Setup {
            project: project.into(),
            set: Vec::new(),
            stalls: hangs.into_iter().collect(),
            edits: Vec::new(),
        });
        let window: Cycle = bench.project.capacity.hertz / 1_000_000 * WINDOW;
        let (verdict, departures) = bench.run_timed(&three_gigabits(TIME));
        let mut windows = vec![0; (TIME / WINDOW) as usize + 1];
        let last = windows.len() - 1;
        for departure in departures {
            windows[usize::try_from(departure / window).unwrap().min(last)] += 1;
        }
        Self {
            lost: verdict.came - verdict.left,
            verdict,
            windows,
        }
    }

    fn sent(&self, from: u64, time: u64) -> u64 {
        let range = (from / WINDOW) as usize..((from + time) / WINDOW) as usize;
        self.windows[range].iter().sum()
    }
}

/// The effect of a stall.
struct Stalled {
    /// Packets that left in the last nine tenths of it, in thousandths of those that normally leave
    /// in that time.
    permille: u64,
    /// Windows after its end until as many packets leave as before.
    back: u64,
    text: String,
}

fn stalled(plain: &Run, project: &str, who: &str) -> Stalled {
    let hung = Run::of(project, Some(who));
    for run in [plain, &hung] {
        // The schemes with slots do not keep the order, and the global one does only while no
        // context is stalled.
        let slots = [
            "contiguous.toml",
            "strided.toml",
            "local.toml",
            "global.toml",
        ];
        let keeps = !slots.contains(&project);
        assert!(
            !keeps || run.verdict.reordered.is_none(),
            "{project}, {who}"
        );
        assert_eq!(run.verdict.loss(), None, "{project}, {who}");
    }
    let (begun, rest) = (FROM + FOR / 10, FOR - FOR / 10);
    let permille = hung.sent(begun, rest) * 1000 / plain.sent(begun, rest);
    let usual = plain.sent(FROM, FOR) / (FOR / WINDOW);
    let after = &hung.windows[((FROM + FOR) / WINDOW) as usize..];
    let back = after.iter().position(|&sent| sent * 100 >= usual * 95);
    let back = back.unwrap_or_else(|| panic!("{project}, {who}: never back")) as u64 + 1;
    let text = format!(
        "| {project} | {who} | {} | {} | {} | {} | {} us |",
        plain.sent(FROM, FOR),
        hung.sent(FROM, FOR),
        plain.lost,
        hung.lost,
        back * WINDOW
    );
    Stalled {
        permille,
        back,
        text,
    }
}

/// The contexts that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// All contexts.
    All,
    /// All if the context is stalled while it holds a packet, a slot or a lane; none if it looks for work.
    Depends,
}

use Waits::{All, Depends};

/// Contexts that stall, and the contexts that wait for them.
const CASES: [(&str, &str, Waits); 16] = [
    ("contiguous.toml", "2.3", All),
    ("strided.toml", "2.3", All),
    ("local.toml", "2.3", Depends),
    ("global.toml", "2.3", All),
    ("its.toml", "2.3", All),
    ("in-order.toml", "2.3", All),
    ("aisr.toml", "0.3", All),
    ("aisr.toml", "2.3", Depends),
    ("aisr.toml", "5.0", All),
    ("aisr.toml", "5.3", Depends),
    ("aisr.toml", "6.3", Depends),
    ("aisr-16.toml", "0.3", All),
    ("aisr-16.toml", "2.3", Depends),
    ("packet-sort.toml", "2.3", All),
    ("packet-sort.toml", "4.3", Depends),
    ("packet-sort.toml", "6.3", Depends),
];

#[test]
fn stalled_context_blocks_others_as_listed() {
    // All cases of a project, which are adjacent, are compared with the same run.
    let projects: Vec<_> = CASES.chunk_by(|a, b| a.0 == b.0).collect();
    let seen: Vec<Stalled> = projects
        .par_iter()
        .flat_map(|cases| {
            let plain = Run::of(cases[0].0, None);
            let each = cases.par_iter();
            each.map(|(project, who, _)| stalled(&plain, project, who))
                .collect::<Vec<_>>()
        })
        .collect();
    for stalled in &seen {
        println!("{} {}", stalled.text, stalled.permille);
    }
    for (stalled, (project, who, waits)) in seen.iter().zip(CASES) {
        let text = &stalled.text;
        match waits {
            All => assert!(stalled.permille < 10, "{project}, {who}: {text}"),
            // If one of many contexts does not look for work, that has no effect.
            Depends => assert!(
                stalled.permille < 400 || stalled.permille > 950,
                "{project}, {who}: {text}"
            ),
        }
        assert!(stalled.back * WINDOW <= 300, "{project}, {who}: {text}");
    }
    // In every scheme there is a context for which all wait.
    let stopped = seen.iter().zip(CASES).filter(|(it, _)| it.permille < 10);
    let mut stopped: Vec<&str> = stopped.map(|(_, (project, ..))| project).collect();
    stopped.dedup();
    assert!(stopped.len() >= 7, "{stopped:?}");
}
