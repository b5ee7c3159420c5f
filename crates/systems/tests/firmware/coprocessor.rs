//! The feedback coprocessor under microcode: the answers to contexts of one to sixteen microengines
//! equal those of a sequential model that gets the requests in the device's order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use npsim::engine::ENGINE;
use npsim::links::Links;
use npsim::project::Project;
use npsim::simulation::{Ending, RunSettings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::gpp::boot::{MemoryImage, Space};
use npsim_chip::kernel::observer::{NoObserver, Observer};
use npsim_chip::kernel::trace_event::TraceEvent;
use npsim_chip::watch::{Sampler, Watcher};

use npsim_isa::CommandOp;
use npsim_protocols::feedback::{Coprocessor, MAILBOXES, REQUESTS};
use npsim_protocols::quick_start::{GrantPool, rate_units};
use npsim_protocols::xcp::{Factor, FeedbackPools};

use crate::remarks::assembled_without_messages;
use npsim_systems::names::value;
use npsim_systems::project::load;
use npsim_systems::sizes::on_microengines;

const SIZES: [u32; 3] = [1, 8, 16];
const CONTEXTS: u32 = 8;
const ROUNDS: usize = 32;
const GROUPS: usize = 2;
/// Rooms for grants: the first is soon used up, the second has two windows.
const LIMITS: [u32; GROUPS] = [25_000, 1_000_002];
const GRANTED_BEFORE: u32 = 2;

/// Pools that run out and pools that do not.
fn pools() -> [FeedbackPools; GROUPS] {
    let scale = |mantissa, shift| Factor { mantissa, shift };
    [
        FeedbackPools {
            residue_pos: 500_000,
            residue_neg: 20_000,
            cp: scale(1_599_987_688, 35),
            cn: scale(2_147_483_476, 31),
        },
        FeedbackPools {
            residue_pos: 1_500_000_000,
            residue_neg: 1_300_000_000,
            cp: scale(1_516_767_261, 36),
            cn: scale(2_147_483_491, 31),
        },
    ]
}

/// Requests in the order in which the device took them: reads and writes in its window, and their
/// context.
#[derive(Default)]
struct Order {
    window: u32,
    seen: Vec<(CommandOp, u32, u32)>,
}

impl Sampler for Order {}

impl Observer for Order {
    fn see(&mut self, _: Cycle, what: &TraceEvent) {
        let TraceEvent::Served { command, .. } = what else {
            return;
        };
        let offset = command.address.wrapping_sub(self.window);
        if matches!(command.op, CommandOp::SramRead | CommandOp::SramWrite) && offset < 0x2000 {
            let context = u32::from(command.me) * CONTEXTS + u32::from(command.context);
            self.seen.push((command.op, offset, context));
        }
    }
}

struct Run {
    project: Project,
    simulation: Simulation,
}

impl Run {
    fn new(microengines: u32, attached: bool) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/firmware/feedback.toml");
        let mut project = load(&path, &on_microengines(microengines, &[]));
        let own = project.boot.devices[0].attachment().clone();
        let registers = |offset: u32, words: &[u32]| MemoryImage {
            space: Space::Sram(own.channel),
            address: own.address + offset,
            words: words.to_vec(),
        };
        if attached {
            project.boot.memory.extend([
                registers(0, &[LIMITS[0]]),
                registers(32, &[LIMITS[1], 8, 77, 0, GRANTED_BEFORE]),
            ]);
            for (group, pools) in (0..).zip(pools()) {
                let shifts = u32::from(pools.cn.shift) << 8 | u32::from(pools.cp.shift);
                let words = [
                    pools.residue_pos,
                    pools.residue_neg,
                    pools.cp.mantissa,
                    pools.cn.mantissa,
                    shifts,
                ];
                let image = registers(0x400 + 64 * group, &words);
                project.boot.memory.push(image);
            }
        } else {
            project.boot.devices.clear();
        }
        let programs = assembled_without_messages(&project);
        let simulation = Simulation::new(&project, &programs, RunSettings::new(ENGINE)).unwrap();
        Self {
            project,
            simulation,
        }
    }

    fn name(&self, name: &str) -> u32 {
        value(&self.project, name)
    }

    fn word(&self, name: &str, offset: u32) -> u32 {
        let address = self.name(name) + offset;
        self.simulation
            .chip()
            .units()
            .sram
            .read_word(address)
            .unwrap()
    }

    /// Runs to the end, or to a pause.
    fn go(&mut self, pause: Cycle, probe: &mut dyn Watcher) -> Option<Ending> {
        let hertz = self.project.capacity.hertz;
        let mut links = Links::idle(hertz);
        let progress = &mut |_: Cycle, _: &_| ControlFlow::Continue(());
        self.simulation.run_to(pause, &mut links, probe, progress)
    }
}

#[test]
fn answers_match_a_sequential_model_in_device_order() {
    for microengines in SIZES {
        let mut run = Run::new(microengines, true);
        let mut order = Order {
            window: run.name("FEEDBACK"),
            ..Order::default()
        };
        assert_eq!(run.go(Cycle::MAX, &mut order), Some(Ending::NoEvents));
        let contexts = microengines * CONTEXTS;
        let total = contexts as usize * ROUNDS;

        let mut rates = [
            GrantPool {
                limit: LIMITS[0] as i32,
                granted: 0,
            },
            GrantPool {
                limit: LIMITS[1] as i32,
                granted: GRANTED_BEFORE as i32,
            },
        ];
        let mut changes = pools();
        let mut rounds: BTreeMap<(bool, u32), u32> = BTreeMap::new();
        let (mut asked_rates, mut asked_changes, mut answers_read) = (0, 0, 0);
        let mut grants = [0; GROUPS];
        for &(op, offset, context) in &order.seen {
            let changing = op == CommandOp::SramWrite;
            if offset >= MAILBOXES && !changing {
                answers_read += 1;
                continue;
            }
            let round = rounds.entry((changing, context)).or_default();
            let place = context * ROUNDS as u32 + *round;
            *round += 1;
            if changing {
                asked_changes += 1;
                assert_eq!(offset, MAILBOXES + 16 * context);
                let log = |word: u32| run.word("CHANGES", 16 * place + 4 * word);
                let (group, size) = (log(0) >> 16, log(0) as u16);
                let pool = &mut changes[group as usize];
                let expected = pool.depart(log(1), size, log(2) as i32);
                assert_eq!(log(3), expected.delta as u32, "{context}, {place}");
            } else {
                asked_rates += 1;
                let log = run.word("RATES", 4 * place);
                let (group, code) = ((log >> 20) as usize, (log >> 16 & 15) as u8);
                assert_eq!(offset, REQUESTS + 64 * group as u32 + 4 * u32::from(code));
                let grant = rates[group].grant(code);
                assert_eq!(log & 0xffff, u32::from(grant), "{context}, {place}");
                grants[group] += rate_units(grant);
            }
        }
        assert_eq!(
            (asked_rates, asked_changes, answers_read),
            (total, total, total)
        );

        // The rooms are used up to the last unit, and the registers show it.
        assert_eq!(grants[0], LIMITS[0] as i32);
        assert_eq!(run.word("FEEDBACK", 8), LIMITS[0]);
        assert_eq!(run.word("FEEDBACK", 16), 0);
        assert_eq!(grants[1] + GRANTED_BEFORE as i32, rates[1].granted);
        assert_eq!(run.word("FEEDBACK", 32 + 8), 77, "the other window");
        assert_eq!(run.word("FEEDBACK", 32 + 16), rates[1].granted as u32);
        if microengines > 1 {
            assert_eq!(rates[1].granted, LIMITS[1] as i32);
        }
        for (group, pool) in (0..).zip(changes) {
            let words: Vec<_> = (0..5)
                .map(|word| run.word("FEEDBACK_XCP", 64 * group + 4 * word))
                .collect();
            let shifts = u32::from(pool.cn.shift) << 8 | u32::from(pool.cp.shift);
            let expected = [
                pool.residue_pos,
                pool.residue_neg,
                pool.cp.mantissa,
                pool.cn.mantissa,
                shifts,
            ];
            assert_eq!(words, expected);
        }
        assert_eq!(changes[0].residue_neg, 0, "a pool ran out");

        let stats = run.simulation.stats();
        let device = stats.devices.of("coprocessor").unwrap();
        let busy = |module: &str| device.module(module).unwrap().get("busy").unwrap();
        let device = run
            .simulation
            .chip()
            .units()
            .sram
            .device::<Coprocessor>()
            .unwrap();
        let (quick_start, xcp) = (&device.quick_start.counts, &device.xcp.counts);
        assert_eq!(
            (quick_start.requests, xcp.requests),
            (total as u64, total as u64)
        );
        assert_eq!(
            quick_start.granted + quick_start.reduced + quick_start.denied,
            quick_start.requests
        );
        assert_eq!(
            quick_start.granted_units,
            u64::from(grants[0].unsigned_abs() + grants[1].unsigned_abs())
        );
        assert_eq!(xcp.passed + xcp.reduced, xcp.requests);
        let mhz = stats.mhz;
        let clocks = |period: u64| i128::from(total as u64 * period * mhz / 1_000_000);
        assert_eq!(busy("quick_start"), clocks(6000));
        assert_eq!(busy("xcp"), clocks(20_000));
    }
}

#[test]
fn restored_run_continues_identically() {
    let mut whole = Run::new(8, true);
    assert_eq!(
        whole.go(Cycle::MAX, &mut NoObserver),
        Some(Ending::NoEvents)
    );
    let mut first = Run::new(8, true);
    let half = whole.simulation.now() / 2;
    assert_eq!(first.go(half, &mut NoObserver), None);
    let state = first.simulation.save().unwrap();
    let mut second = Run::new(8, true);
    second.simulation.restore(&state).unwrap();
    assert_eq!(
        second.go(Cycle::MAX, &mut NoObserver),
        Some(Ending::NoEvents)
    );
    assert_eq!(second.simulation.stats(), whole.simulation.stats());
    assert!(second.simulation.save().unwrap() == whole.simulation.save().unwrap());

    // Not beside another device, nor without one.
    let mut without = Run::new(8, false);
    let refusal = without.simulation.restore(&state).unwrap_err();
    assert!(
        refusal.to_string().contains("devices beside SRAM"),
        "{refusal}"
    );
}
