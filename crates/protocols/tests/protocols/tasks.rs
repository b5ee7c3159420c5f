//! The tasks of congestion control on a chip without microengines: the test changes the shared
//! memory as these would.

use npsim_chip::Cycle;
use npsim_chip::gpp::boot::{BootPlan, LockSetup, MemoryImage, Space};
use npsim_chip::gpp::exceptions::Exceptions;
use npsim_chip::gpp::{LongwordAddress, Task};
use npsim_chip::kernel::unit::Unit;
use npsim_protocols::quick_start::pool::GrantPool;
use npsim_protocols::quick_start::task::{QuickStartGroup, QuickStartSetup, QuickStartTask};
use npsim_protocols::rcp::task::{RcpGroup, RcpSetup, RcpTask};
use npsim_protocols::rcp::{self, Counters, LinkRate};
use npsim_protocols::thread_counters::{ThreadCounters, ThreadRecord};
use npsim_protocols::xcp::task::{XcpGroup, XcpLayout, XcpSetup, XcpTask};
use npsim_protocols::xcp::{self, ControlTimer, Factor, Sums};
use npsim_testkit::slow_path::{Bench, load, plan};

const STATE: LongwordAddress = LongwordAddress {
    space: Space::Sram(1),
    address: 0x1000,
};
const COUNTERS: LongwordAddress = LongwordAddress {
    space: Space::Sram(1),
    address: 0x2000,
};
const QUEUES: LongwordAddress = LongwordAddress {
    space: Space::Sram(0),
    address: 0x8000,
};

fn bench(tasks: Vec<Box<dyn Task>>) -> Bench {
    load(&BootPlan { tasks, ..plan() }).unwrap()
}

// ---- Quick-Start ----

const WINDOW: Cycle = 100_000;
const GRACE: Cycle = 5_000;

fn quick_start(samples: u32, sample: Cycle) -> Box<dyn Task> {
    Box::new(QuickStartTask::new(QuickStartSetup {
        state: STATE,
        groups: vec![QuickStartGroup {
            capacity: 75_000,
            threshold: 25_000,
            counters: vec![COUNTERS, COUNTERS.after(32)],
        }],
        window: WINDOW,
        grace: GRACE,
        sample,
        samples,
    }))
}

#[test]
fn late_surplus_is_credited_to_its_own_window() {
    let mut bench = bench(vec![quick_start(3, WINDOW)]);
    assert_eq!(
        bench.words(STATE),
        [25_000, 0, 0, 0, 0],
        "granted from the start"
    );
    bench.set(STATE, 2, 300);
    bench.set(STATE, 3, 1);
    bench.set(STATE, 4, 7777);
    bench.run_until(WINDOW + 3000);
    // The bound is subtracted, and the counter of the new window was zeroed.
    assert_eq!(bench.words(STATE), [24_700, 8, 300, 1, 0]);
    bench.set(STATE, 4, 64);
    bench.add(STATE, 2, -44);
    bench.run_until(WINDOW + GRACE + 3000);
    assert_eq!(bench.words(STATE), [24_744, 8, 256, 1, 64]);
    let (_, state) = bench
        .gpp
        .task::<QuickStartTask>()
        .unwrap()
        .groups()
        .next()
        .unwrap();
    assert_eq!((state.grants, state.grants_total), (256, 256));
    bench.run_until(2 * WINDOW + GRACE + 3000);
    assert_eq!(bench.words(STATE), [25_000 - 64, 0, 0, 1, 64]);
    let task = bench.gpp.task::<QuickStartTask>().unwrap();
    let (_, state) = task.groups().next().unwrap();
    assert_eq!(
        (state.grants, state.grants_total, task.windows),
        (64, 320, 2)
    );
}

#[test]
fn windows_end_on_time_under_excessive_sampling() {
    let mut bench = bench(vec![quick_start(3, 10)]);
    bench.run_until(10 * WINDOW + 5000);
    assert_eq!(bench.gpp.task::<QuickStartTask>().unwrap().windows, 10);
}

#[test]
fn limit_and_phase_change_in_one_access() {
    let mut bench = bench(vec![quick_start(3, WINDOW)]);
    bench.set(STATE, 2, 1000);
    let mut seen = Vec::new();
    for cycle in (WINDOW - 10..WINDOW + 2000).step_by(10) {
        bench.run_until(cycle);
        let [limit, phase] = bench.words(STATE);
        if seen.last() != Some(&(limit, phase)) {
            seen.push((limit, phase));
        }
    }
    assert_eq!(seen, [(25_000, 0), (24_000, 8)]);
}

#[test]
fn peak_utilisation_survives_counter_wraparound() {
    let mut bench = bench(vec![quick_start(2, WINDOW)]);
    let bytes = |units: u32| (units * 5).div_ceil(6);
    // 100,000 cycles are 1/6000 s: a unit of 40 kbit/s is 5000/6000 bytes.
    bench.set(COUNTERS, 0, u32::MAX - 99);
    let expected = |bench: &Bench| {
        let (_, state) = bench
            .gpp
            .task::<QuickStartTask>()
            .unwrap()
            .groups()
            .next()
            .unwrap();
        (state.utilisation, state.peak_utilisation())
    };
    // From 0 to almost 2^32 is more than any line carries: a burst at the start.
    bench.run_until(WINDOW + 4000);
    let burst = expected(&bench);
    assert_eq!(burst.0, burst.1);
    for (units, port) in [(1200, 0), (600, 1), (0, 0)] {
        let time = bench.fabric.now - 4000 + WINDOW;
        bench.add(COUNTERS, 8 * port, bytes(units).cast_signed());
        bench.run_until(time + 4000);
    }
    // The samples of 1200 and the burst are forgotten, that of 600 is not.
    let (last, peak) = expected(&bench);
    assert_eq!(last, 0);
    assert!((598..=602).contains(&peak), "{peak}");
    let limit = bench.word(STATE, 0).cast_signed();
    assert_eq!(i64::from(limit), 25_000 - peak);
    assert!(bench.word(COUNTERS, 0) < 2000, "it has turned over");
}

/// Threads make requests as in the atomic variant, each with its own delay before it returns its
/// surplus.
#[test]
fn consecutive_windows_never_grant_more_than_the_threshold() {
    let mut bench = bench(vec![quick_start(3, WINDOW)]);
    let mut random = 12345_u32;
    let mut draw = |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % below
    };
    // Counter, surplus, when.
    let mut late: Vec<(u32, i32, Cycle)> = Vec::new();
    let mut granted: Vec<i64> = vec![0];
    let mut phase_before = 0;
    let mut any_bound = false;
    for now in (1_u64..20 * WINDOW).step_by(97) {
        bench.run_until(now);
        late.retain(|&(word, surplus, when)| {
            if when <= now {
                bench.add(STATE, word, -surplus);
            }
            when > now
        });
        let [limit, phase] = bench.words(STATE);
        if phase != phase_before {
            phase_before = phase;
            granted.push(0);
        }
        let word = 2 + phase / 4;
        let mut pool = GrantPool {
            limit: limit.cast_signed(),
            granted: bench.word(STATE, word).cast_signed(),
        };
        let code = draw(14) as u8 + 1;
        let request = pool.add(code);
        bench.set(STATE, word, pool.granted.cast_unsigned());
        let before = pool.granted;
        let got = pool.settle(request);
        late.push((word, before - pool.granted, now + u64::from(draw(1900))));
        any_bound |= got != code;
        if got > 0 {
            *granted.last_mut().unwrap() += 1_i64 << got;
        }
    }
    assert!(granted.len() > 18 && any_bound);
    for pair in granted.windows(2) {
        assert!(pair[0] + pair[1] <= 25_000, "{granted:?}");
    }
    let used: i64 = granted.iter().sum();
    assert!(used > 25_000 * 5, "the room is used: {granted:?}");
}

// ---- XCP ----

const CAPACITY: u64 = 125_000_000;
const TENTH: u32 = 26_843_546;
const INTERVAL: Cycle = 60_000_000;

fn xcp_group(initial_interval: u32) -> XcpGroup {
    let parameters = xcp::XcpSettings {
        initial_interval,
        ..xcp::XcpSettings::for_capacity(CAPACITY)
    };
    XcpGroup {
        control: ControlTimer::new(parameters).unwrap(),
        queues: vec![QUEUES],
    }
}

fn xcp_task(layout: XcpLayout, threads: Option<Vec<u16>>, initial_interval: u32) -> Box<dyn Task> {
    Box::new(XcpTask::new(XcpSetup {
        state: STATE,
        layout,
        sums: threads.map(|threads| ThreadCounters {
            place: COUNTERS,
            threads,
        }),
        groups: vec![xcp_group(initial_interval)],
    }))
}

/// Bytes, sum of X and queue of a vector; its residues, Cp and Cn.
type Vector = ((u32, u64, u32), [u32; 2], Factor, Factor);

const fn scale(mantissa: u32, shift: u8) -> Factor {
    Factor { mantissa, shift }
}

const VECTORS: [Vector; 3] = [
    (
        (6_250_000, 268_437_500, 0),
        [25_000_000, 0],
        scale(1_599_987_816, 34),
        Factor::ZERO,
    ),
    (
        (12_500_000, 268_437_500, 0),
        [12_499_999, 12_499_999],
        scale(1_599_987_688, 35),
        scale(2_147_483_476, 31),
    ),
    (
        (13_750_000, 268_441_250, 1_250_000),
        [5_925_000, 13_749_999],
        scale(1_516_767_261, 36),
        scale(2_147_483_491, 31),
    ),
];

fn shifts(cp: Factor, cn: Factor) -> u32 {
    u32::from(cn.shift) << 8 | u32::from(cp.shift)
}

const LOCKED: XcpLayout = XcpLayout::Locked { lock: true };

#[test]
fn control_timer_writes_the_expected_pools() {
    for ((bytes, sum_x, queue), residues, cp, cn) in VECTORS {
        let mut bench = bench(vec![xcp_task(LOCKED, None, TENTH)]);
        // The queue exists from the start: the second sample finds that it does not drain.
        bench.set(QUEUES, 3, queue);
        bench.set(STATE, 8, bytes);
        bench.set(STATE, 9, sum_x as u32);
        bench.run_until(INTERVAL + 10_000);
        let [pos, neg, cp_mantissa, cn_mantissa, both, lock] = bench.words(STATE);
        assert_eq!([pos, neg], residues);
        assert_eq!([cp_mantissa, cn_mantissa], [cp.mantissa, cn.mantissa]);
        assert_eq!((both, lock), (shifts(cp, cn), 0));
        assert_eq!(bench.words(STATE.after(32)), [0; 5], "the sums begin anew");
        let state = bench
            .gpp
            .task::<XcpTask>()
            .unwrap()
            .groups()
            .next()
            .unwrap();
        assert_eq!((state.intervals, state.queue.queue()), (1, queue));
    }
}

/// I4, with the default interval.
#[test]
fn idle_interval_sets_pools_and_zero_factors() {
    let setup = xcp_task(XcpLayout::Locked { lock: false }, None, xcp::SECOND / 20);
    let mut bench = bench(vec![setup]);
    bench.run_until(INTERVAL / 2 + 10_000);
    assert_eq!(bench.words(STATE), [50_000_000, 0, 0, 0, 0, 0]);
}

#[test]
fn per_thread_sums_survive_wraparound() {
    let threads = vec![2_u16, 5];
    let earlier = |thread: u16| Sums {
        input_traffic: u32::MAX - u32::from(thread),
        sum_x: u64::MAX - 1000,
        sum_xrtt: u64::MAX - 7,
    };
    let words = |sums: &Sums| {
        vec![
            sums.input_traffic,
            sums.sum_x as u32,
            (sums.sum_x >> 32) as u32,
            sums.sum_xrtt as u32,
            (sums.sum_xrtt >> 32) as u32,
        ]
    };
    let place = |thread: u16| COUNTERS.after(u32::from(thread) * 32);
    for layout in [LOCKED, XcpLayout::Split] {
        let images = threads.iter().map(|&thread| MemoryImage {
            space: Space::Sram(1),
            address: place(thread).address,
            words: words(&earlier(thread)),
        });
        let boot = BootPlan {
            tasks: vec![xcp_task(layout, Some(threads.clone()), TENTH)],
            memory: images.collect(),
            ..plan()
        };
        let mut bench = load(&boot).unwrap();
        let mut control = xcp_group(TENTH).control;
        let mut total = Sums::default();
        for (thread, bytes) in [(2_u16, 4_000_000), (5, 2_250_000)] {
            let mut now = earlier(thread);
            let more = Sums {
                input_traffic: bytes,
                sum_x: 134_218_750,
                sum_xrtt: 134_218_750 * u64::from(TENTH >> 12),
            };
            now.add(&more);
            total.add(&more);
            for (word, value) in (0..).zip(words(&now)) {
                bench.set(place(thread), word, value);
            }
        }
        bench.run_until(INTERVAL + 10_000);
        let pools = control.fire(&total, 0).pools;
        let residues = [pools.residue_pos, pools.residue_neg];
        let scales = [
            pools.cp.mantissa,
            pools.cn.mantissa,
            shifts(pools.cp, pools.cn),
        ];
        if layout == LOCKED {
            assert_eq!(bench.words(STATE), residues);
            assert_eq!(bench.words(STATE.after(8)), scales);
        } else {
            assert_eq!(bench.word(STATE, 0), 1, "the second bank");
            assert_eq!(bench.words(STATE.after(4)), [0; 3], "the first as it was");
            assert_eq!(bench.words(STATE.after(16)), scales);
            assert_eq!(bench.words(STATE.after(40)), residues);
            // The next interval goes to the first bank again.
            let after = INTERVAL + u64::from(control.length()) * 600_000_000 / (1 << 28);
            bench.run_until(after + 20_000);
            assert_eq!(bench.word(STATE, 0), 0);
            assert_eq!(
                bench.words(STATE.after(40)),
                residues,
                "in flight lands here"
            );
            assert_eq!(bench.words(STATE.after(32)), [50_000_000, 0]);
        }
    }
}

#[test]
fn core_writes_nothing_until_it_holds_the_lock() {
    let mut boot = plan();
    boot.tasks = vec![xcp_task(LOCKED, None, TENTH)];
    boot.locks = vec![LockSetup {
        name: "XCP_LOCK".into(),
        space: Space::Sram(1),
        address: STATE.address + 20,
    }];
    let mut bench = load(&boot).unwrap();
    bench.set(STATE, 5, 1);
    bench.set(STATE, 8, 6_250_000);
    bench.run_until(INTERVAL + 10_000);
    assert_eq!(bench.words(STATE), [0, 0, 0, 0, 0, 1]);
    assert_eq!(bench.word(STATE, 8), 6_250_000);
    let failed = bench.gpp.task::<XcpTask>().unwrap().failed_tries;
    assert!(
        (60..=70).contains(&failed),
        "a try every 144 cycles: {failed}"
    );
    bench.set(STATE, 5, 0);
    bench.run_until(INTERVAL + 20_000);
    assert_eq!(bench.word(STATE, 0), 25_000_000);
    assert_eq!((bench.word(STATE, 5), bench.word(STATE, 8)), (0, 0));
    let lock = bench.units.sram.locks().next().unwrap();
    assert_eq!(lock.counts.tries, failed + 1);
    assert_eq!((lock.counts.acquired, lock.counts.released), (1, 1));
    // Three accesses and the law are under the lock.
    assert_eq!(lock.counts.held, 4 * 144 + 1800);
}

// ---- RCP ----

fn rcp_group() -> RcpGroup {
    let parameters = rcp::RcpSettings::for_capacity(CAPACITY);
    RcpGroup {
        rate: LinkRate::new(parameters).unwrap(),
        queues: vec![QUEUES, QUEUES.after(64)],
    }
}

fn rcp_at(counters: LongwordAddress, threads: std::ops::Range<u16>) -> Box<dyn Task> {
    Box::new(RcpTask::new(RcpSetup {
        rate: STATE,
        counters: ThreadCounters {
            place: counters,
            threads: threads.collect(),
        },
        groups: vec![rcp_group()],
    }))
}

fn rcp(threads: std::ops::Range<u16>) -> Box<dyn Task> {
    rcp_at(COUNTERS, threads)
}

#[test]
fn rate_follows_the_law_for_exact_counter_differences() {
    let boot = BootPlan {
        tasks: vec![rcp(0..3)],
        memory: vec![MemoryImage {
            space: Space::Sram(1),
            address: COUNTERS.address,
            words: vec![u32::MAX - 9, u32::MAX, u32::MAX, u32::MAX],
        }],
        ..plan()
    };
    let mut bench = load(&boot).unwrap();
    let mut law = rcp_group().rate;
    assert_eq!(bench.word(STATE, 0), law.rate());
    let mut total = 0;
    let mut began = 0;
    for round in 1_u32..=4 {
        let mut all = Counters::default();
        for thread in 0..3_u32 {
            let place = COUNTERS.after(16 * thread);
            let words = bench.words::<4>(place);
            let mut counters = Counters {
                bytes: words[0],
                rtt_bytes: words[1],
                rtt_sum: u64::from(words[3]) << 32 | u64::from(words[2]),
            };
            let mut more = Counters::default();
            for _ in 0..300 * round {
                more.arrive(1500, 1638 + thread as u16);
            }
            more.arrive(40, 0);
            counters.add(&more);
            all.add(&more);
            for (word, value) in [
                (0, counters.bytes),
                (1, counters.rtt_bytes),
                (2, counters.rtt_sum as u32),
                (3, (counters.rtt_sum >> 32) as u32),
            ] {
                bench.set(place, word, value);
            }
        }
        bench.set(QUEUES, 3, (u32::MAX - 10).wrapping_add(5000 * round));
        bench.set(QUEUES, 7, u32::MAX - 10);
        let now = u64::from(round) * 6_000_000;
        bench.run_until(now + 10_000);
        law.fire((now - began) * 1000 / 600, &all, 5000 * round);
        began = now;
        total += u64::from(all.bytes);
        assert_eq!(bench.word(STATE, 0), law.rate(), "round {round}");
        let state = bench
            .gpp
            .task::<RcpTask>()
            .unwrap()
            .groups()
            .next()
            .unwrap();
        assert_eq!((state.updates, state.bytes), (round.into(), total));
        assert_eq!((state.rate.rtt(), state.queue), (law.rtt(), 5000 * round));
    }
}

// ---- one core ----

/// The exception ring is full of packets while a rate is computed from 64 threads.
#[test]
fn jobs_run_in_sequence_and_waits_are_accounted() {
    let mut tasks = plan().tasks;
    tasks.push(rcp(0..64));
    tasks.push(quick_start(3, WINDOW));
    let mut bench = bench(tasks);
    // The computation begins at 6,000,000 and reads for 64 x 144 cycles.
    bench.run_until(6_000_400);
    let entry = bench.units.sram.dequeue(0, 3).unwrap() & 0xff_ffff;
    let scratch = &mut bench.units.scratch;
    scratch.ring_put(2, 1 << 24 | entry, &mut bench.fabric);
    bench.gpp.wake_pollers(scratch, &mut bench.fabric);
    bench.run_until(6_005_000);
    assert_eq!(bench.gpp.task::<Exceptions>().unwrap().packets(), 0);
    let count = |bench: &Bench, task: usize| bench.gpp.counts(task, bench.fabric.now);
    bench.run_until(6_040_000);
    assert_eq!(bench.gpp.task::<Exceptions>().unwrap().packets(), 1);
    let last = bench
        .gpp
        .task::<Exceptions>()
        .unwrap()
        .last()
        .unwrap()
        .cycle;
    // 64 counters, 2 queues, the law and the rate; the samples and the window
    // that were due at the same time come before or after it.
    assert!(last >= 6_000_000 + 67 * 144 + 1800, "{last}");
    let waited = count(&bench, 0);
    assert!(
        waited.waits >= 1 && waited.waited_longest > 8000,
        "{waited:?}"
    );
    assert!(count(&bench, 2).waits >= 1, "{:?}", count(&bench, 2));
    let busy: Cycle = (0..3).map(|task| count(&bench, task).busy).sum();
    assert!(busy < bench.fabric.now);
}

#[test]
fn polls_are_not_counted_while_the_core_is_busy() {
    let mut tasks = plan().tasks;
    tasks.push(rcp(0..64));
    let mut bench = bench(tasks);
    bench.run_until(6_000_000);
    let looks = |bench: &Bench, now| bench.gpp.counts(0, now).jobs;
    // Every 1200 cycles from 1200 on.
    assert_eq!(looks(&bench, 6_000_000), 4999);
    bench.run_until(6_011_000);
    assert_eq!(looks(&bench, 6_011_000), 4999, "the rate is being computed");
    bench.run_until(6_020_000);
    let [exceptions, rcp] = [0, 1].map(|task| bench.gpp.counts(task, bench.fabric.now));
    // The sample of 6,000,000 was taken after the rate was published.
    let end = 6_000_000 + rcp.busy;
    assert_eq!(exceptions.waits, 1);
    assert_eq!(exceptions.waited, end - 6_000_000);
    assert_eq!(exceptions.jobs, 4999 + (6_020_000 - end).div_ceil(1200));
}

#[test]
fn restored_core_runs_identically() {
    let tasks = || {
        let mut tasks = plan().tasks;
        tasks.push(quick_start(3, WINDOW));
        tasks.push(xcp_task(LOCKED, None, TENTH / 400));
        tasks
    };
    let mut whole = bench(tasks());
    let (mut saved, fresh) = (bench(tasks()), bench(tasks()));
    let mut at = 0;
    while at < 900_000 {
        at += 40_003;
        for chip in [&mut whole, &mut saved] {
            chip.add(STATE, 2, 3);
            chip.add(COUNTERS, 0, 700);
            chip.run_until(at);
        }
        let states = saved.gpp.save_tasks().unwrap();
        let bytes = postcard::to_allocvec(&(&saved.gpp, &saved.fabric.events)).unwrap();
        (saved.gpp, saved.fabric.events) = postcard::from_bytes(&bytes).unwrap();
        saved.gpp.restore_tasks(&fresh.gpp, &states).unwrap();
    }
    let state = |bench: &Bench| {
        let core = postcard::to_allocvec(&bench.gpp).unwrap();
        (core, bench.gpp.save_tasks().unwrap())
    };
    assert!(state(&whole) == state(&saved));
    assert_eq!(whole.words::<16>(STATE), saved.words::<16>(STATE));
}

#[test]
fn nonexistent_memory_is_refused() {
    let mut boot = plan();
    let last = LongwordAddress {
        address: (64 << 20) - 16,
        ..COUNTERS
    };
    boot.tasks = vec![rcp_at(last, 0..64)];
    let message = load(&boot).err().unwrap().to_string();
    assert!(message.contains("task rcp"), "{message}");
}
