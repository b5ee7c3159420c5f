//! Many commands in flight: atomicity, order, bandwidth, back-pressure.

use npsim_isa::CommandOp as Op;
use proptest::prelude::*;

use super::{Rig, command};
use crate::Cycle;
use crate::kernel::fabric::{BusCommand, Issue};
use crate::kernel::unit::{HasTarget, Unit};
use crate::kernel::unit_counters::UnitCounters;
use crate::units::scratch::Scratch;
use crate::units::sram::Sram;
use npsim_profile::Profile;

fn from(me: u8, mut command: BusCommand, id: u16) -> BusCommand {
    command.me = me;
    command.transfer_me = me;
    command.pc = id;
    command
}

#[test]
fn read_sees_earlier_write_whose_data_is_still_being_pulled() {
    let mut rig = Rig::new();
    for (write, read) in [
        (Op::SramWrite, Op::SramRead),
        (Op::ScratchWrite, Op::ScratchRead),
        (Op::DramWrite, Op::DramRead),
    ] {
        rig.run();
        rig.out[0] = [[77; 128]; 2];
        let now = rig.fabric.now + 10;
        rig.issue(now, command(write, 0x800, 1));
        let mut read = command(read, 0x800, 1);
        read.me = 5;
        read.transfer_me = 5;
        rig.issue(now + 1, read);
        rig.run();
        assert_eq!(rig.notices.last().unwrap().data[0], 77, "{write:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn concurrent_test_and_add_returns_each_value_once(
        per_me in prop::collection::vec(1usize..40, 8), scratch: bool, pull: bool
    ) {
        let mut rig = Rig::new();
        let op = if scratch { Op::ScratchTestAndAdd } else { Op::SramTestAndAdd };
        let mut total = 0;
        for (me, &count) in per_me.iter().enumerate() {
            for _ in 0..count {
                let mut add = from(me as u8, command(op, 0x40, 1), 0);
                if !pull { add.immediate = Some(1); }
                rig.work[me].push_back((add, vec![1]));
                total += 1;
            }
        }
        rig.start_work();
        rig.run();
        let mut seen: Vec<u32> = rig.notices.iter().filter(|n| !n.pull).map(|n| n.data[0]).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..total).collect::<Vec<_>>());
        prop_assert_eq!(rig.fabric.in_flight(), 0);
    }

    #[test]
    fn queues_keep_every_buffer_in_enqueue_order(counts in prop::collection::vec(1u32..20, 8), extra in 0usize..10) {
        let mut rig = Rig::new();
        let mut next = 0x100;
        let mut enqueued = vec![Vec::new(); 8];
        for (me, &count) in counts.iter().enumerate() {
            for _ in 0..count {
                let enqueue = command(Op::SramEnqueue, 5 << 24 | next, 1);
                rig.work[me].push_back((from(me as u8, enqueue, 0), vec![]));
                enqueued[me].push(next);
                next += 4;
            }
        }
        rig.start_work();
        rig.run();
        let total: usize = enqueued.iter().map(Vec::len).sum();
        prop_assert_eq!(rig.units.sram.entry(0, 5).unwrap().count() as usize, total);
        for _ in 0..total + extra {
            rig.work[3].push_back((from(3, command(Op::SramDequeue, 5 << 24, 1), 0), vec![]));
        }
        rig.start_work();
        rig.run();
        let got: Vec<u32> = rig.notices.iter().map(|n| n.data[0]).collect();
        prop_assert_eq!(&got[total..], &vec![0; extra][..]);
        for list in enqueued {
            let mine: Vec<u32> = got.iter().copied().filter(|b| list.contains(b)).collect();
            prop_assert_eq!(mine, list);
        }
    }

    #[test]
    fn rings_return_exactly_the_words_put(puts in prop::collection::vec(1u8..=8, 1..14), sram: bool) {
        let mut rig = Rig::new();
        let (put, get, address) = if sram { (Op::SramPut, Op::SramGet, 9 << 24) } else { (Op::ScratchPut, Op::ScratchGet, 3 << 2) };
        rig.units.sram.set_entry(0, 9, [0x1000, 0x1000, 0]);
        rig.units.scratch.set_ring_register(3, crate::units::scratch::RingRegister::Base, 0x0000_0200, &mut rig.fabric);
        let mut next = 1;
        for (number, &count) in puts.iter().enumerate() {
            let words: Vec<u32> = (next..next + u32::from(count)).collect();
            next += u32::from(count);
            rig.work[0].push_back((from(0, command(put, address, count), number as u16), words.clone()));
            // A get of the same count by a microengine of the other cluster.
            rig.work[4].push_back((from(4, command(get, address, count), number as u16), vec![]));
            // The rig overwrites OUT registers at issue: one put at a time.
            rig.start_work();
            rig.run();
        }
        let mut taken: Vec<u32> = rig.notices.iter().filter(|n| n.me == 4).flat_map(|n| n.data.clone()).filter(|w| *w != 0).collect();
        while taken.len() < next as usize - 1 {
            let word = rig.fetch(command(get, address, 1), &[])[0];
            prop_assert_ne!(word, 0, "a word is lost");
            taken.push(word);
        }
        prop_assert_eq!(rig.fetch(command(get, address, 1), &[]), vec![0]);
        prop_assert_eq!(taken, (1..next).collect::<Vec<_>>());
        prop_assert_eq!(rig.fabric.checks.fault(), None);
    }
}

/// Runs `count` commands of every microengine. Returns the cycles from start to end.
fn saturate(rig: &mut Rig, count: u32, make: impl Fn(u8, u32) -> BusCommand) -> Cycle {
    for me in 0..8 {
        for number in 0..count {
            rig.work[me as usize].push_back((from(me, make(me, number), 0), vec![]));
        }
    }
    rig.start_work();
    rig.run();
    assert_eq!(rig.fabric.in_flight(), 0);
    assert!(rig.work.iter().all(std::collections::VecDeque::is_empty));
    rig.fabric.now
}

#[test]
fn scratch_saturates_at_one_longword_per_bus_clock() {
    let mut rig = Rig::new();
    let cycles = saturate(&mut rig, 100, |_, _| command(Op::ScratchRead, 0, 8));
    let least = 800 * 8 * 2;
    assert!(
        cycles >= least && cycles < least + least / 20,
        "{cycles} for at least {least}"
    );
    assert!(rig.held > 0, "a saturated unit stalls microengines");
}

#[test]
fn sram_channel_saturates_at_one_longword_per_qdr_clock_and_direction() {
    let mut rig = Rig::new();
    let cycles = saturate(&mut rig, 100, |_, _| command(Op::SramRead, 0, 8));
    let least = 800 * 8 * 3;
    assert!(
        cycles >= least && cycles < least + least / 20,
        "{cycles} for at least {least}"
    );
    let mut rig = Rig::new();
    let both = saturate(&mut rig, 100, |me, n| {
        command(
            if n % 2 == 0 {
                Op::SramRead
            } else {
                Op::SramWrite
            },
            0x1000 * (u32::from(me) + 1),
            8,
        )
    });
    assert!(
        both >= least / 2 && both < cycles * 3 / 4,
        "reads and writes have their own ports: {both} of {cycles}"
    );
    let mut rig = Rig::new();
    let two = saturate(&mut rig, 100, |_, n| {
        command(Op::SramRead, n << 30 >> 1 & 0x4000_0000, 8)
    });
    assert!(two < cycles * 3 / 5, "two channels: {two} of {cycles}");
}

#[test]
fn dram_bandwidth_stays_below_peak_and_benefits_from_banks() {
    let peak = |bytes: u64| bytes * 8 / 32;
    let mut rig = Rig::new();
    let spread = saturate(&mut rig, 100, |me, n| {
        command(
            Op::DramRead,
            (n + u32::from(me) * 3) % 4 * 2048 + n * 8192,
            8,
        )
    });
    assert!(spread >= peak(800 * 64), "{spread}");
    // The D push bus carries a longword per bus clock to microengines: at 64 bytes in 32 cycles it
    // is the limit here, taking twice as long as the pins.
    assert!((800 * 32..800 * 32 * 21 / 20).contains(&spread), "{spread}");
    let mut rig = Rig::new();
    let spread = saturate(&mut rig, 100, |me, n| {
        command(
            Op::DramRead,
            (n + u32::from(me) * 3) % 4 * 2048 + n * 8192,
            1,
        )
    });
    let mut rig = Rig::new();
    let one_bank = saturate(&mut rig, 100, |_, n| command(Op::DramRead, n * 8192, 1));
    assert!(one_bank >= 800 * 40, "a row cycle each: {one_bank}");
    assert!(
        spread < one_bank * 2 / 5 && spread >= 800 * 8,
        "{spread} of {one_bank}"
    );
    assert!(rig.held > 0);
}

#[test]
fn command_behind_a_held_command_waits_in_fifo_order() {
    let mut rig = Rig::new();
    let profile = rig.fabric.profile.clone();
    // Fill the scratch inlet with writes whose data comes late.
    for number in 0..u64::from(profile.scratch_inlet_depth()) {
        assert_eq!(
            rig.issue(
                2 * number,
                from(number as u8 % 4, command(Op::ScratchWrite, 0, 1), 1)
            ),
            Issue::Accepted(Scratch::FIRST)
        );
    }
    assert_eq!(rig.fabric.buses.waiting_at(Scratch::FIRST), 8);
    assert_eq!(
        rig.issue(20, from(0, command(Op::ScratchRead, 0, 1), 2)),
        Issue::Accepted(Scratch::FIRST)
    );
    assert_eq!(
        rig.issue(22, from(0, command(Op::SramRead, 0, 1), 3)),
        Issue::Accepted(Sram::target(0))
    );
    assert_eq!(
        rig.issue(22, from(7, command(Op::SramRead, 0, 1), 4)),
        Issue::Accepted(Sram::target(0))
    );
    rig.run();
    let end = |id| rig.notices.iter().rfind(|n| n.id == id).unwrap().cycle;
    let alone = 22 + profile.sram_read();
    assert_eq!(end(4), alone, "another microengine passes");
    assert!(end(3) > alone, "the same microengine's FIFO is in order");
    assert_eq!(rig.fabric.buses.waits, 2);
}

#[test]
fn full_command_fifo_stalls_its_microengine_until_space_frees() {
    let profile = Profile::load("ixp2400")
        .unwrap()
        .with("scratch", "inlet_depth", 1)
        .unwrap();
    let mut rig = Rig::with(profile);
    for number in 0..5 {
        assert_eq!(
            rig.issue(100 + 4 * number, command(Op::ScratchWrite, 0, 1)),
            Issue::Accepted(Scratch::FIRST)
        );
    }
    assert_eq!(rig.issue(122, command(Op::ScratchWrite, 0, 1)), Issue::Held);
    rig.work[0].push_back((command(Op::ScratchWrite, 0, 1), vec![]));
    rig.run();
    assert_eq!(
        rig.notices.len(),
        6,
        "the microengine was woken and issued again"
    );
}

#[test]
fn atomics_on_one_address_are_serialised_by_their_turnaround() {
    let mut rig = Rig::new();
    let same = saturate(&mut rig, 20, |_, _| command(Op::SramIncr, 0x40, 1));
    let mut rig = Rig::new();
    let apart = saturate(&mut rig, 20, |me, n| {
        command(Op::SramIncr, 0x40 + 4 * (u32::from(me) * 20 + n), 1)
    });
    assert!(same >= 159 * 30, "{same}");
    assert!(apart < same / 4, "{apart} of {same}");
}

#[test]
fn operations_on_one_queue_are_spaced_by_the_entry_gap() {
    let mut rig = Rig::new();
    let same = saturate(&mut rig, 10, |_, _| command(Op::SramDequeue, 0, 1));
    assert!(same >= 79 * rig.fabric.profile.same_entry_gap(), "{same}");
}

#[test]
fn refresh_delays_a_read_by_the_refresh_time() {
    let mut rig = Rig::new();
    let interval = rig.fabric.profile.dram_refresh_interval();
    let start = interval - 12;
    rig.issue(start, command(Op::DramRead, 0, 1));
    rig.run();
    assert_eq!(
        rig.notices[0].cycle,
        start + rig.fabric.profile.dram_read() + rig.fabric.profile.dram_refresh_cycles()
    );
}

#[test]
fn identical_runs_give_identical_notices() {
    let run = || {
        let mut rig = Rig::new();
        saturate(&mut rig, 40, |me, n| match (u32::from(me) + n) % 5 {
            0 => command(Op::DramRead, n * 0x840, 4),
            1 => command(Op::SramTestAndIncr, 0x80, 1),
            2 => command(Op::ScratchWrite, 4 * n, 2),
            3 => command(Op::DramWrite, n * 0x1240, 3),
            _ => command(Op::SramEnqueue, 0x0300_0000 + (n + 1) * 4, 1),
        });
        rig.notices
    };
    assert_eq!(run(), run());
}

/// Gives microengines `0..n` the same endless work and runs for a number of cycles. Returns the
/// number of commands served for each.
fn served_in(cycles: Cycle, count: u8, make: impl Fn(u8, u32) -> BusCommand) -> Vec<usize> {
    let mut rig = Rig::new();
    for me in 0..count {
        for number in 0..2000 {
            rig.work[me as usize].push_back((from(me, make(me, number), 0), vec![]));
        }
    }
    rig.start_work();
    rig.run_until(cycles);
    (0..count)
        .map(|me| 2000 - rig.work[me as usize].len())
        .collect()
}

#[test]
fn microengines_share_every_saturated_unit_evenly() {
    let kinds: [fn(u8, u32) -> BusCommand; 6] = [
        |_, _| command(Op::ScratchRead, 0, 1),
        |_, _| command(Op::ScratchRead, 0, 8),
        |_, _| command(Op::SramRead, 0, 4),
        |me, n| command(Op::SramWrite, 64 * (8 * n + u32::from(me)), 4),
        |me, n| command(Op::DramRead, (u32::from(me) + n) % 4 * 2048, 2),
        |_, _| command(Op::Hash48, 0, 1),
    ];
    for (kind, make) in kinds.into_iter().enumerate() {
        let served = served_in(12_000, 8, make);
        let (least, most) = (served.iter().min().unwrap(), served.iter().max().unwrap());
        assert!(*least > 50, "kind {kind}: {served:?}");
        // A microengine has four commands in its FIFO; the rest are served in turn.
        assert!(most - least <= 4 + most / 50, "kind {kind}: {served:?}");
    }
}

#[test]
fn microengines_on_one_command_bus_alternate() {
    // Both are in the first cluster and want different units that have room.
    let served = served_in(4000, 2, |me, _| {
        if me == 0 {
            command(Op::SramRead, 0, 1)
        } else {
            command(Op::SramRead, 0x4000_0000, 1)
        }
    });
    assert!(served[0].abs_diff(served[1]) <= 4, "{served:?}");
}

#[test]
fn command_rate_is_limited_per_cluster_and_per_shared_unit() {
    // Reads of one longword: the scratchpad takes one per bus clock from both clusters together.
    let scratch: usize = served_in(8000, 8, |_, _| command(Op::ScratchRead, 0, 1))
        .iter()
        .sum();
    assert!((3950..=4060).contains(&scratch), "{scratch} in 4000 clocks");
    // Enqueue-tail uses no pins: the channel takes everything that both buses bring, but never
    // more.
    let fast = |me: u8, n: u32| {
        command(
            Op::SramEnqueueTail,
            u32::from(me % 2) << 30 | ((u32::from(me) * 7 + n) % 64) << 24,
            1,
        )
    };
    let first = served_in(4000, 4, fast).iter().sum::<usize>();
    assert!((1900..=2020).contains(&first), "{first} in 2000 clocks");
}

#[test]
fn rare_command_is_not_starved_by_saturating_traffic() {
    // Seven microengines saturate the scratchpad; one of the first cluster also keeps its bus busy
    // with other work.
    let mut rig = Rig::new();
    for number in 0..3000 {
        for me in 1..8 {
            let op = if me < 4 && number % 2 == 0 {
                command(Op::SramRead, u32::from(me % 2) << 30, 1)
            } else {
                command(Op::ScratchRead, 0, 1)
            };
            rig.work[me as usize].push_back((from(me, op, 1), vec![]));
        }
    }
    rig.start_work();
    let mut slowest = 0;
    for round in 0..20 {
        let at = 1000 + 400 * round;
        rig.issue(at, from(0, command(Op::ScratchRead, 0, 1), 100));
        rig.run_until(at + 400);
        let answer = rig.notices.iter().rfind(|n| n.id == 100).expect("served");
        slowest = slowest.max(answer.cycle - at);
    }
    // 60 idle, eight commands in the inlet, and one turn of all others.
    assert!(slowest <= 60 + 8 * 2 + 8 * 2 * 4, "{slowest}");
}

#[test]
fn full_unit_stalls_only_microengines_that_send_to_it() {
    let mut rig = Rig::new();
    for number in 0..400 {
        rig.work[0].push_back((from(0, command(Op::SramIncr, 0x40, 1), 0), vec![]));
        let other = command(Op::ScratchRead, 0, 1);
        rig.work[1].push_back((from(1, other, number), vec![]));
        rig.work[5].push_back((from(5, other, number), vec![]));
    }
    rig.start_work();
    rig.run_until(2400);
    // 80 started in 2400 cycles, and 28 waiting.
    assert!(rig.work[0].len() > 280, "{}", rig.work[0].len());
    assert!(rig.work[1].len() < 50 && rig.work[5].len() < 50);
    let sram = rig.fabric.buses.pressure(Sram::target(0));
    assert!(sram.stalled > 2000, "{sram:?}");
    assert_eq!(
        rig.fabric.buses.pressure(Sram::target(1)),
        crate::kernel::bus::BackPressure::default()
    );
}

#[test]
fn dram_bus_turnaround_costs_match_the_profile() {
    let alternate = |me: u8, n: u32| {
        let address = (n + u32::from(me)) % 4 * 2048 + n * 8192;
        let op = if n.is_multiple_of(2) {
            Op::DramRead
        } else {
            Op::DramWrite
        };
        command(op, address, 1)
    };
    let with = |read_to_write, write_to_read| {
        let profile = Profile::load("ixp2400")
            .unwrap()
            .with("dram", "read_to_write", read_to_write)
            .and_then(|p| p.with("dram", "write_to_read", write_to_read))
            .unwrap();
        let mut rig = Rig::with(profile);
        let cycles = saturate(&mut rig, 100, alternate);
        let turning = rig.units.dram.own_counters(0).get("turning").unwrap();
        (cycles, turning as Cycle)
    };
    let (free, none) = with(0, 0);
    let (slow, turning) = with(60, 60);
    assert_eq!(none, 0);
    assert!(turning > 0 && slow > free, "{turning}: {slow} and {free}");
    assert!(slow - free <= turning, "{slow} - {free} of {turning}");
    // No bank is passed over more than twice: with four banks there is a turnaround at least every
    // dozen commands.
    assert!(turning / 60 >= 800 / 12, "{turning}");
}

#[test]
fn half_cycle_bursts_are_counted_exactly() {
    let profile = Profile::load("ixp2400")
        .unwrap()
        .with("dram", "burst_bytes", 16)
        .and_then(|p| p.with("dram", "burst_half_cycles", 21))
        .unwrap();
    let mut rig = Rig::with(profile);
    let alone = rig.run_command(command(Op::DramRead, 0, 1), &[])[0].cycle;
    assert_eq!(alone, rig.fabric.profile.dram_read());
    let mut rig = Rig::with(rig.fabric.profile);
    let end = saturate(&mut rig, 100, |me, n| {
        command(Op::DramRead, (n + u32::from(me)) % 4 * 2048, 2)
    });
    let busy = rig
        .units
        .dram
        .counters()
        .map(UnitCounters::busy)
        .sum::<Cycle>();
    assert_eq!(busy, 800 * 21 / 2);
    assert!(end >= busy, "{end} of {busy}");
}

#[test]
fn saturated_push_bus_throttles_readers() {
    // Both channels and the scratchpad push to one cluster, more than its bus can carry. Units stop
    // reading instead of accumulating data.
    let mut rig = Rig::new();
    for n in 0..200u32 {
        for me in 0..4 {
            let read = match me {
                0 | 1 => command(Op::SramRead, u32::from(me) << 30, 8),
                _ => command(Op::ScratchRead, 0, 8),
            };
            rig.work[me as usize].push_back((from(me, read, n as u16), vec![]));
        }
    }
    rig.start_work();
    rig.run();
    let [_, push, _] = rig
        .fabric
        .buses
        .cluster_uses(rig.fabric.now)
        .next()
        .unwrap();
    let ahead = rig.fabric.profile.s_push_fifo() * rig.fabric.profile.bus_cycle();
    assert!(push.queue_peak <= ahead, "{}", push.queue_peak);
    assert_eq!(push.transfers, 800);
    assert!(rig.fabric.now >= 800 * 16, "{}", rig.fabric.now);
}

#[test]
fn queue_cycles_equal_the_sum_of_waiting_times() {
    let mut rig = Rig::new();
    let profile = rig.fabric.profile.clone();
    // A write waits in the pipe for its data, and a read behind it for its turn.
    rig.issue(100, command(Op::ScratchWrite, 0, 1));
    rig.issue(102, command(Op::ScratchRead, 0, 1));
    rig.run();
    let inlet = profile.issue_to_inlet();
    let (wrote, read) = (
        100 + profile.scratch_write(),
        100 + profile.scratch_write() + 2,
    );
    let stays = (wrote - 100 - inlet) + (read - 102 - inlet);
    let counters = rig.units.scratch.counters().next().unwrap();
    assert_eq!(counters.queue_cycles_at(5000), stays);
    assert_eq!(counters.queue_peak, 2);
}

#[test]
fn core_accesses_occupy_bus_and_memory() {
    let mut rig = Rig::new();
    rig.run_until(100);
    rig.fabric.now = 100;
    assert_eq!(rig.units.scratch.core_read(1, &mut rig.fabric), 0);
    // The next one finds both the bus and the scratchpad occupied for a bus clock.
    let waited = rig.units.scratch.core_read(1, &mut rig.fabric);
    assert_eq!(waited, rig.fabric.profile.bus_cycle());
    assert_eq!(rig.units.dram.core_read(0, 64, &mut rig.fabric), 4);
    assert!(rig.units.dram.core_read(0, 64, &mut rig.fabric) >= 40 - 6);
    let [command, push, _] = rig.fabric.buses.cluster_uses(10_000).next().unwrap();
    assert_eq!((command.transfers, push.busy), (4, 4));
    assert_eq!(rig.fabric.buses.d_uses(10_000)[0].busy, 2 * 16 * 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the mix of commands, every command is served once, and commands of a microengine to
    /// one address keep the order that the units guarantee.
    #[test]
    fn random_commands_complete_once_and_in_order(
        mix in prop::collection::vec((0u8..6, 0u8..8, 1u8..=8, 0u32..4), 20..160),
    ) {
        let mut rig = Rig::new();
        let mut expected = 0;
        let mut writes = std::collections::BTreeMap::new();
        for (id, &(kind, me, count, place)) in mix.iter().enumerate() {
            let at = 0x800 * place;
            let (op, address) = match kind {
                0 => (Op::ScratchRead, at),
                1 => (Op::ScratchWrite, at),
                2 => (Op::SramRead, at | (place % 2) << 30),
                3 => (Op::SramWrite, at | (place % 2) << 30),
                4 => (Op::DramRead, at),
                _ => (Op::DramWrite, at),
            };
            rig.work[me as usize].push_back((from(me, command(op, address, count), id as u16), vec![]));
            expected += 1;
            if kind % 2 == 1 {
                writes.entry((kind, me)).or_insert_with(Vec::new).push(id as u16);
            }
        }
        rig.start_work();
        rig.run();
        prop_assert_eq!(rig.notices.len(), expected);
        prop_assert_eq!(rig.fabric.in_flight(), 0);
        prop_assert!(rig.fabric.events.is_empty());
        let mut ids: Vec<_> = rig.notices.iter().map(|n| n.id).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..expected as u16).collect::<Vec<_>>());
        // Data is pulled in the order in which commands entered a unit's inlet.
        for ((kind, _), sent) in writes {
            if kind == 1 {
                let pulled: Vec<_> = rig.notices.iter().map(|n| n.id).filter(|id| sent.contains(id)).collect();
                prop_assert_eq!(pulled, sent);
            }
        }
    }
}
