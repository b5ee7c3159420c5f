//! Many commands in flight: atomicity, order, bandwidth, back-pressure.

use npsim_isa::CommandOp as Op;
use proptest::prelude::*;

use super::{Rig, command};
use crate::Cycle;
use crate::bus::Target;
use crate::fabric::{BusCommand, Issue};
use crate::profile::Profile;

fn from(me: u8, mut command: BusCommand, id: u16) -> BusCommand {
    command.me = me;
    command.transfer_me = me;
    command.pc = id;
    command
}

#[test]
fn a_read_sees_an_earlier_write_that_is_still_being_pulled() {
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
    fn concurrent_test_and_add_gives_every_value_once(
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
    fn queues_keep_every_buffer_in_the_order_of_enqueue(counts in prop::collection::vec(1u32..20, 8), extra in 0usize..10) {
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
        prop_assert_eq!(rig.sram.entry(0, 5).unwrap().count() as usize, total);
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
    fn rings_lose_and_invent_nothing(puts in prop::collection::vec(1u8..=8, 1..14), sram: bool) {
        let mut rig = Rig::new();
        let (put, get, address) = if sram { (Op::SramPut, Op::SramGet, 9 << 24) } else { (Op::ScratchPut, Op::ScratchGet, 3 << 2) };
        rig.sram.set_entry(0, 9, [0x1000, 0x1000, 0]);
        rig.scratch.set_ring_register(3, crate::scratch::RingRegister::Base, 0x0000_0200, &mut rig.fabric);
        let mut next = 1;
        for (number, &count) in puts.iter().enumerate() {
            let words: Vec<u32> = (next..next + u32::from(count)).collect();
            next += u32::from(count);
            rig.work[0].push_back((from(0, command(put, address, count), number as u16), words.clone()));
            // A get of the same count by another microengine of the other cluster.
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

/// Runs `count` commands of every microengine; gives cycles from start to end.
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
fn scratch_saturates_at_one_longword_a_bus_clock() {
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
fn an_sram_channel_saturates_at_one_longword_a_qdr_clock_and_direction() {
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
fn dram_stays_under_its_peak_and_spreads_over_banks() {
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
    // The D push bus carries a longword per bus clock to microengines: with 64
    // bytes in 32 cycles it is the limit here, twice what the pins take.
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
fn a_command_behind_a_held_one_waits_too() {
    let mut rig = Rig::new();
    let profile = rig.fabric.profile.clone();
    // Fill the scratch inlet with writes whose data comes late.
    for number in 0..u64::from(profile.scratch_inlet_depth()) {
        assert_eq!(
            rig.issue(
                2 * number,
                from(number as u8 % 4, command(Op::ScratchWrite, 0, 1), 1)
            ),
            Issue::Accepted
        );
    }
    assert_eq!(rig.fabric.buses.waiting_at(Target::SCRATCH), 8);
    assert_eq!(
        rig.issue(20, from(0, command(Op::ScratchRead, 0, 1), 2)),
        Issue::Accepted
    );
    assert_eq!(
        rig.issue(22, from(0, command(Op::SramRead, 0, 1), 3)),
        Issue::Accepted
    );
    assert_eq!(
        rig.issue(22, from(7, command(Op::SramRead, 0, 1), 4)),
        Issue::Accepted
    );
    rig.run();
    let end = |id| rig.notices.iter().rfind(|n| n.id == id).unwrap().cycle;
    assert_eq!(end(4), 22 + 90, "another microengine passes");
    assert!(end(3) > 22 + 90, "the same microengine's FIFO is in order");
    assert_eq!(rig.fabric.buses.waits, 2);
}

#[test]
fn a_full_fifo_holds_its_microengine_until_the_unit_takes_a_command() {
    let profile = Profile::load("ixp2400")
        .unwrap()
        .with("scratch", "inlet_depth", 1)
        .unwrap();
    let mut rig = Rig::with(profile);
    for number in 0..5 {
        assert_eq!(
            rig.issue(100 + 4 * number, command(Op::ScratchWrite, 0, 1)),
            Issue::Accepted
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
fn atomics_on_one_address_wait_for_their_turnaround() {
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
fn operations_on_one_queue_keep_their_gap() {
    let mut rig = Rig::new();
    let same = saturate(&mut rig, 10, |_, _| command(Op::SramDequeue, 0, 1));
    assert!(same >= 79 * rig.fabric.profile.same_entry_gap(), "{same}");
}

#[test]
fn refresh_delays_but_loses_nothing() {
    let mut rig = Rig::new();
    let interval = rig.fabric.profile.dram_refresh_interval();
    let start = interval - 12;
    rig.issue(start, command(Op::DramRead, 0, 1));
    rig.run();
    assert_eq!(
        rig.notices[0].cycle,
        start + 120 + rig.fabric.profile.dram_refresh_cycles()
    );
}

#[test]
fn the_same_work_gives_the_same_notices() {
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
