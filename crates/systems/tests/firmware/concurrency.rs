//! Atomicity and order: contexts of one to sixteen microengines hammer atomic operations, queues,
//! rings and signals, and nothing is lost, duplicated or out of order. Where correctness depends on
//! a protocol, a run without it shows that the test would detect that.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use npsim::engine::ENGINE;
use npsim::project::{Overrides, Project};
use npsim::simulation::{Ending, RunSettings, Simulation};
use npsim_chip::chip::Chip;
use npsim_chip::kernel::check::Check;

use crate::remarks::assembled_without_messages;
use npsim_systems::names::value;
use npsim_systems::project::load;
use npsim_systems::quiet::run_to_end;
use npsim_systems::sizes::on_microengines;

/// Microengines that run the firmware; all eight contexts of each do. More than
/// eight are on an IXP2800.
const SIZES: [u32; 4] = [1, 2, 8, 16];
const CONTEXTS: u32 = 8;

/// Cycles after which a run is stopped: no program here needs half of them; the longest has 128
/// contexts at one lock.
const LATEST: u64 = 200_000_000;

/// A run that has ended.
struct Outcome {
    ending: Ending,
    chip: Chip,
    project: Box<Project>,
}

impl Outcome {
    /// The value of this name in sources.
    fn define(&self, name: &str) -> u32 {
        value(&self.project, name)
    }

    fn scratch(&self, name: &str, word: u32) -> u32 {
        self.chip
            .units()
            .scratch
            .read(self.define(name) + 4 * word)
            .unwrap()
    }

    fn sram(&self, name: &str, word: u32) -> u32 {
        self.chip
            .units()
            .sram
            .read_word(self.define(name) + 4 * word)
            .unwrap()
    }

    fn sram_words(&self, name: &str, words: u32) -> Vec<u32> {
        (0..words).map(|word| self.sram(name, word)).collect()
    }

    /// Buffers on a queue, in order.
    fn queue(&self, name: &str) -> Vec<u32> {
        let mut chip = self.chip.clone();
        let channel = self.define(&format!("{name}_CHANNEL")) as u8;
        let entry = self.define(&format!("{name}_ENTRY")) as u8;
        let count = chip.units().sram.entry(channel, entry).unwrap().count();
        (0..count)
            .map(|_| chip.units_mut().sram.dequeue(channel, entry).unwrap())
            .collect()
    }

    fn check(&self) -> Option<Check> {
        match &self.ending {
            Ending::Fault(fault) => fault.check,
            _ => None,
        }
    }
}

/// All memory answers late, and two contexts that stall for a while.
const DISTURBED: [&str; 3] = [
    "disturb.scratch=900",
    "disturb.sram=900",
    "disturb.dram=900",
];

/// Runs `tests/firmware/NAME.uc` on microengines 0 to `microengines` - 1.
fn run_with(name: &str, microengines: u32, defines: &[(&str, u32)]) -> Outcome {
    run_with_overrides(name, microengines, defines, Overrides::default())
}

fn run_with_overrides(
    name: &str,
    microengines: u32,
    defines: &[(&str, u32)],
    overrides: Overrides,
) -> Outcome {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/firmware/{name}.toml"));
    let overrides = Overrides {
        set: overrides.set,
        stalls: overrides.stalls,
        ..on_microengines(microengines, defines)
    };
    let project = load(&path, &overrides);
    let programs = assembled_without_messages(&project);
    let settings = RunSettings {
        until: Some(LATEST),
        ..RunSettings::new(ENGINE)
    };
    let mut simulation = Simulation::new(&project, &programs, settings).unwrap();
    let ending = run_to_end(&project, &mut simulation);
    Outcome {
        ending,
        chip: simulation.chip().clone(),
        project: Box::new(project),
    }
}

/// Runs to the end, which every context must reach.
fn run(name: &str, microengines: u32, defines: &[(&str, u32)]) -> Outcome {
    expect_ended(name, microengines, run_with(name, microengines, defines))
}

/// Runs a program while the run is disturbed.
fn run_disturbed(name: &str, microengines: u32) -> Outcome {
    let overrides = Overrides {
        set: DISTURBED.map(|text| text.parse().unwrap()).to_vec(),
        stalls: vec![
            "0.1@1us+300us".parse().unwrap(),
            "1.6@9us+200us".parse().unwrap(),
        ],
        ..Overrides::default()
    };
    expect_ended(
        name,
        microengines,
        run_with_overrides(name, microengines, &[], overrides),
    )
}

fn expect_ended(name: &str, microengines: u32, outcome: Outcome) -> Outcome {
    assert_eq!(
        outcome.ending,
        Ending::NoEvents,
        "{name} on {microengines} microengines"
    );
    let now = outcome.chip.now();
    for me in &outcome.chip.microengines()[..microengines as usize] {
        assert!(me.stats_at(now).instructions > 0);
        for context in 0..CONTEXTS as u8 {
            assert!(
                me.waiting(context).is_none_or(|wait| wait.is_killed()),
                "{name}: a context waits"
            );
        }
    }
    outcome
}

fn set(values: impl IntoIterator<Item = u32>) -> BTreeSet<u32> {
    values.into_iter().collect()
}

#[test]
fn atomic_counters_lose_nothing_and_return_each_old_value_once() {
    const ROUNDS: u32 = 64;
    for (microengines, outcome) in SIZES
        .map(|microengines| (microengines, run("counters", microengines, &[])))
        .into_iter()
        .chain([(8, run_disturbed("counters", 8))])
    {
        let operations = microengines * CONTEXTS * ROUNDS;
        for unit in ["SCRATCH", "SRAM"] {
            let words: Vec<u32> = (0..4)
                .map(|word| match unit {
                    "SCRATCH" => outcome.scratch("COUNTERS_SCRATCH", word),
                    _ => outcome.sram("COUNTERS_SRAM", word),
                })
                .collect();
            let expected = [
                3 * operations,
                operations,
                operations.wrapping_neg(),
                6 * operations,
            ];
            assert_eq!(words, expected, "{unit}, {microengines} microengines");
            let old = outcome.sram_words(&format!("OLD_{unit}"), 3 * operations);
            let column = |n: usize| set(old.iter().skip(n).step_by(3).copied());
            assert_eq!(
                column(0),
                set((0..operations).map(|n| 3 * n)),
                "{unit} test_and_add"
            );
            assert_eq!(column(1), set(0..operations), "{unit} test_and_incr");
            assert_eq!(
                column(2),
                set((0..operations).map(u32::wrapping_neg)),
                "{unit} test_and_decr"
            );
        }
    }
}

/// A context's own old values rise: its operations take effect in the order in
/// which it issued them.
#[test]
fn operations_of_one_context_on_a_longword_stay_in_order() {
    const ROUNDS: usize = 64;
    for disturbed in [false, true] {
        let outcome = if disturbed {
            run_disturbed("counters", 8)
        } else {
            run("counters", 8, &[])
        };
        for records in ["OLD_SCRATCH", "OLD_SRAM"] {
            let old = outcome.sram_words(records, 8 * CONTEXTS * 3 * ROUNDS as u32);
            for (context, log) in old.chunks(3 * ROUNDS).enumerate() {
                let tickets: Vec<u32> = log.iter().skip(1).step_by(3).copied().collect();
                assert!(
                    tickets.is_sorted(),
                    "{records}, context {context}, disturbed {disturbed}: {tickets:?}"
                );
            }
        }
    }
}

#[test]
fn test_and_set_lock_protects_non_atomic_additions() {
    const ROUNDS: u32 = 16;
    for microengines in SIZES {
        let additions = microengines * CONTEXTS * ROUNDS;
        let locked = run("lock", microengines, &[]);
        assert_eq!(
            locked.sram("COUNT", 0),
            additions,
            "{microengines} microengines"
        );
        assert_eq!(locked.sram("LOCK", 0), 0);
        assert_eq!(locked.scratch("NOT_HELD", 0), 0);
        let open = run("lock", microengines, &[("LOCKED", 0)]).sram("COUNT", 0);
        assert!(
            open < additions,
            "without the lock additions get lost: {open} of {additions}"
        );
    }
}

/// All tokens of a unit, in slots and in hand.
fn tokens(outcome: &Outcome, unit: &str, microengines: u32) -> Vec<u32> {
    let slots = format!("SLOTS_{unit}");
    let slot = |word| match unit {
        "SCRATCH" => outcome.scratch(&slots, word),
        _ => outcome.sram(&slots, word),
    };
    let mut tokens: Vec<u32> = (0..16).map(slot).collect();
    tokens.extend(outcome.sram_words(&format!("KEPT_{unit}"), microengines * CONTEXTS));
    tokens.sort_unstable();
    tokens
}

#[test]
fn swap_neither_loses_nor_duplicates_a_token() {
    for microengines in SIZES {
        let expected: Vec<u32> = (1..=microengines * CONTEXTS).chain(200..216).collect();
        let whole = run("swap", microengines, &[]);
        let torn = run("swap", microengines, &[("TORN", 1)]);
        for unit in ["SCRATCH", "SRAM"] {
            assert_eq!(
                tokens(&whole, unit, microengines),
                expected,
                "{unit}, {microengines} microengines"
            );
            assert_ne!(
                tokens(&torn, unit, microengines),
                expected,
                "{unit}: a read and a write are no swap"
            );
        }
        let own: Vec<u32> = (1..=microengines * CONTEXTS).collect();
        let kept = |unit| whole.sram_words(&format!("KEPT_{unit}"), microengines * CONTEXTS);
        assert!(
            kept("SCRATCH") != own || kept("SRAM") != own,
            "tokens did change hands"
        );
    }
}

#[test]
fn no_buffer_is_held_by_two_contexts() {
    for microengines in SIZES {
        let outcome = run("queue", microengines, &[]);
        assert_eq!(
            outcome.scratch("VIOLATIONS", 0),
            0,
            "{microengines} microengines"
        );
        let buffers = outcome.queue("FREE_BUFFERS");
        assert_eq!(buffers.len() as u32, outcome.define("BUFFER_COUNT"));
        assert_eq!(
            set(buffers.iter().copied()).len(),
            buffers.len(),
            "each buffer once"
        );
        assert!(!buffers.contains(&0));
        if microengines == 8 {
            assert!(
                outcome.scratch("EMPTY", 0) > 0,
                "64 contexts find 24 buffers gone"
            );
        }
    }
}

#[test]
fn buffer_freed_twice_is_held_by_two_contexts() {
    let outcome = run("queue", 8, &[("TWICE", 1)]);
    assert!(outcome.scratch("VIOLATIONS", 0) > 0);
}

#[test]
fn queue_with_one_producer_and_consumer_is_fifo() {
    for microengines in SIZES {
        let outcome = run("fifo", microengines, &[]);
        let count = outcome.define("BUFFER_COUNT");
        let put = outcome.sram_words("PUT_ORDER", count);
        assert_eq!(set(put.iter().copied()).len() as u32, count);
        assert!(!put.is_sorted(), "an order of its own");
        assert_eq!(
            outcome.sram_words("GOT_ORDER", count),
            put,
            "{microengines} microengines"
        );
        assert!(outcome.queue("FREE_BUFFERS").is_empty() && outcome.queue("PIPE").is_empty());
    }
}

/// Entries of the ring programs.
const ENTRIES: u32 = 2048;

/// Values by producer in the order in which they were recorded, after checking each entry's
/// complement.
fn by_producer(outcome: &Outcome) -> BTreeMap<u32, Vec<u32>> {
    let mut values: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in outcome.sram_words("LOG", 2 * ENTRIES).chunks(2) {
        assert_eq!(entry[1], !entry[0], "an entry was torn");
        values
            .entry(entry[0] >> 16)
            .or_default()
            .push(entry[0] & 0xffff);
    }
    values
}

/// Every producer's values once: in order, or in any.
fn expect_each_once(outcome: &Outcome, microengines: u32, in_order: bool) {
    assert_eq!(outcome.scratch("TAKEN", 0), ENTRIES);
    let values = by_producer(outcome);
    let producers = microengines * CONTEXTS / 2;
    assert_eq!(
        set(values.keys().copied()),
        set((0..producers).map(|n| 2 * n + 1))
    );
    for (producer, mut values) in values {
        if !in_order {
            values.sort_unstable();
        }
        let expected: Vec<u32> = (0..ENTRIES / producers).collect();
        assert_eq!(values, expected, "producer {producer} of {producers}");
    }
}

#[test]
fn scratch_ring_delivers_every_value_once() {
    for microengines in SIZES {
        let outcome = run("scratch_ring", microengines, &[]);
        expect_each_once(&outcome, microengines, false);
        let ring = outcome
            .chip
            .units()
            .scratch
            .ring(outcome.define("RING_NUMBER") as u8);
        assert_eq!(ring.count(), 0);
        assert!(ring.peak() <= ring.size());
    }
}

#[test]
fn scratch_ring_with_one_consumer_keeps_producer_order() {
    for microengines in SIZES {
        let outcome = run("scratch_ring", microengines, &[("ONE_CONSUMER", 1)]);
        expect_each_once(&outcome, microengines, true);
        let ring = outcome
            .chip
            .units()
            .scratch
            .ring(outcome.define("RING_NUMBER") as u8);
        assert!(
            ring.peak() >= ring.size() * 3 / 4,
            "the status held producers back: {}",
            ring.peak()
        );
    }
}

#[test]
fn scratch_ring_overflows_when_its_status_is_ignored() {
    let outcome = run_with("scratch_ring", 8, &[("ONE_CONSUMER", 1), ("CHECKED", 0)]);
    assert_eq!(outcome.check(), Some(Check::RingOverflow));
}

#[test]
fn sram_ring_delivers_every_value_once() {
    for microengines in SIZES {
        let outcome = run("sram_ring", microengines, &[]);
        expect_each_once(&outcome, microengines, false);
        assert_eq!(
            outcome
                .chip
                .units()
                .sram
                .entry(0, outcome.define("RING_ENTRY") as u8)
                .unwrap()
                .count(),
            0
        );
    }
}

#[test]
fn sram_ring_keeps_producer_order_and_refuses_when_full() {
    for microengines in SIZES {
        let outcome = run("sram_ring", microengines, &[("ONE_CONSUMER", 1)]);
        expect_each_once(&outcome, microengines, true);
        assert!(
            outcome.scratch("REFUSED", 0) > 0,
            "the ring was full at times"
        );
    }
}

#[test]
fn next_neighbour_rings_pass_values_in_order() {
    const VALUES: u32 = 512;
    // Nine span both clusters of the IXP2800; sixteen are all that it has.
    for microengines in [2, 3, 8, 9, 16] {
        let outcome = run("neighbours", microengines, &[]);
        let log = outcome.sram_words("LOG", VALUES);
        for context in 1..=CONTEXTS {
            let own: Vec<u32> = log
                .iter()
                .filter(|v| *v >> 16 == context)
                .map(|v| v & 0xffff)
                .collect();
            assert_eq!(
                own,
                (0..VALUES / CONTEXTS).collect::<Vec<_>>(),
                "context {context} of {microengines}"
            );
        }
    }
    let unchecked = run_with("neighbours", 2, &[("CHECKED", 0)]);
    let lost = VALUES - set(unchecked.sram_words("LOG", VALUES)).len() as u32;
    assert!(lost > 0, "without a look at the ring values get lost");
}

#[test]
fn turns_within_a_microengine_rotate_in_order() {
    const ROUNDS: u32 = 8;
    for microengines in SIZES {
        let outcome = run("turns", microengines, &[]);
        let log = outcome.sram_words("LOG", microengines * CONTEXTS * ROUNDS);
        for (me, log) in (0..).zip(log.chunks((CONTEXTS * ROUNDS) as usize)) {
            let expected: Vec<u32> = (0..ROUNDS)
                .flat_map(|_| (0..CONTEXTS).map(|context| CONTEXTS * me + context))
                .collect();
            assert_eq!(log, expected, "microengine {me} of {microengines}");
        }
    }
}

#[test]
fn turns_across_all_microengines_rotate_in_order() {
    const ROUNDS: u32 = 4;
    for microengines in SIZES {
        let outcome = run("signals", microengines, &[]);
        let contexts = microengines * CONTEXTS;
        let expected: Vec<u32> = (0..ROUNDS).flat_map(|_| 0..contexts).collect();
        assert_eq!(
            outcome.sram_words("LOG", ROUNDS * contexts),
            expected,
            "{microengines} microengines"
        );
        assert_eq!(outcome.sram("POSITION", 0), ROUNDS * contexts);
    }
}
