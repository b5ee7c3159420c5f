//! The effect of each command on memory, queues and rings, and the commands that are rejected.

use npsim_isa::CommandOp as Op;

use super::{Rig, command};
use crate::kernel::check::Check;
use crate::kernel::unit::Unit;
use npsim_profile::Profile;

#[test]
fn memories_return_what_was_written() {
    let mut rig = Rig::new();
    let words: Vec<u32> = (1..=16).collect();
    for (write, read, address) in [
        (Op::ScratchWrite, Op::ScratchRead, 0x100),
        (Op::SramWrite, Op::SramRead, 0x4000_1000),
    ] {
        rig.run_command(command(write, address, 16), &words);
        assert_eq!(rig.fetch(command(read, address, 16), &[]), words);
        assert_eq!(rig.fetch(command(read, address + 8, 2), &[]), [3, 4]);
    }
    rig.run_command(command(Op::DramWrite, 0x2000, 8), &words);
    assert_eq!(rig.fetch(command(Op::DramRead, 0x2008, 7), &[]), words[2..]);
    assert_eq!(rig.units.dram.read_bytes(0x2003, 2), Some(vec![1, 0]));
    assert!(rig.units.dram.write_bytes(0x2003, &[9]));
    assert_eq!(rig.fetch(command(Op::DramRead, 0x2000, 1), &[]), [9, 2]);
    let mut masked = command(Op::DramWrite, 0x2000, 1);
    masked.byte_mask = 0b1000_0001;
    rig.run_command(masked, &[0xaabb_ccdd, 0x1122_3344]);
    assert_eq!(
        rig.fetch(command(Op::DramRead, 0x2000, 1), &[]),
        [0xdd, 0x1100_0002]
    );
}

#[test]
fn queue_descriptors_load_and_store_as_documented() {
    let mut rig = Rig::new();
    let at = 0x200;
    // Four packets A to D, each of one buffer with its mark, queued in memory.
    for (address, word) in [
        (at, 0x8000_0010),
        (at + 1, 0x40),
        (at + 2, 4),
        (0x10, 0x8000_0020),
        (0x20, 0x8000_0030),
        (0x30, 0x8000_0040),
    ] {
        assert!(rig.units.sram.write_word(address * 4, word));
    }
    let entry = 7 << 24;
    assert_eq!(
        rig.fetch(command(Op::SramRdQdescHead, entry | at, 2), &[]),
        [0x8000_0010, 4]
    );
    rig.run_command(command(Op::SramRdQdescOther, entry | at, 1), &[]);
    // A packet of buffers T to W linked by software: link T, tail W.
    rig.units.sram.write_word(0x50 * 4, 0x8000_0060);
    let mut link = command(Op::SramEnqueue, entry | 0x50, 1);
    (link.indirect, link.byte_mask) = (Some(1 << 20), 0);
    rig.run_command(link, &[]);
    assert_eq!(rig.units.sram.entry(0, 7).unwrap().count(), 5);
    rig.run_command(command(Op::SramEnqueueTail, entry | 0x60, 1), &[]);
    assert_eq!(rig.units.sram.entry(0, 7).unwrap().count(), 5);
    rig.run_command(command(Op::SramWrQdesc, entry | (at + 8), 1), &[]);
    let stored: Vec<_> = (0..3)
        .map(|w| rig.units.sram.read_word((at + 8 + w) * 4).unwrap())
        .collect();
    assert_eq!(stored, [0x8000_0010, 0x60, 5]);
    let taken: Vec<u32> = (0..7)
        .map(|_| rig.fetch(command(Op::SramDequeue, entry, 1), &[])[0])
        .collect();
    assert_eq!(
        taken,
        [
            0x8000_0010,
            0x8000_0020,
            0x8000_0030,
            0x8000_0040,
            0x50,
            0x8000_0060,
            0
        ]
    );
}

#[test]
fn enqueue_works_with_only_the_tail_loaded() {
    let mut rig = Rig::new();
    for (word, value) in [0x10, 0x10, 1].into_iter().enumerate() {
        rig.units.sram.write_word(0x800 + 4 * word as u32, value);
    }
    assert_eq!(
        rig.fetch(command(Op::SramRdQdescTail, 0x200, 2), &[]),
        [0x10, 1]
    );
    rig.run_command(command(Op::SramEnqueue, 0x20, 1), &[]);
    rig.run_command(command(Op::SramWrQdescCount, 0x200, 1), &[]);
    let words: Vec<_> = (0..3)
        .map(|w| rig.units.sram.read_word(0x800 + 4 * w).unwrap())
        .collect();
    assert_eq!(words, [0x10, 0x20, 2]);
    assert_eq!(rig.units.sram.read_word(0x40), Some(0x20));
    rig.run_command(command(Op::SramRdQdescOther, 0x200, 1), &[]);
    assert_eq!(
        (
            rig.units.sram.dequeue(0, 0),
            rig.units.sram.dequeue(0, 0),
            rig.units.sram.dequeue(0, 0)
        ),
        (Some(0x10), Some(0x20), Some(0))
    );
}

#[test]
fn dequeue_keeps_buffer_until_its_cell_count_is_exhausted() {
    let mut rig = Rig::new();
    for buffer in [0x10, 0x20] {
        let mut enqueue = command(Op::SramEnqueue, buffer, 1);
        (enqueue.indirect, enqueue.byte_mask) = (Some(1 << 20), 0x80 | 2);
        rig.run_command(enqueue, &[]);
    }
    let taken: Vec<u32> = (0..7)
        .map(|_| rig.fetch(command(Op::SramDequeue, 0, 1), &[])[0])
        .collect();
    let cells = |buffer: u32| [2, 1, 0].map(|left| 1 << 31 | left << 24 | buffer);
    assert_eq!(taken, [&cells(0x10)[..], &cells(0x20), &[0]].concat());
}

#[test]
fn sram_ring_puts_and_gets_are_all_or_nothing() {
    let mut rig = Rig::new();
    rig.units.sram.set_entry(0, 1, [0x1200, 0x1200, 0]);
    let (put, get) = (1 << 24, 1 << 24);
    for round in 0..32 {
        assert_eq!(
            rig.fetch(command(Op::SramPut, put, 16), &[round; 16]),
            [0x8000_0000 + round * 16]
        );
    }
    assert_eq!(rig.fetch(command(Op::SramPut, put, 1), &[9]), [512]);
    assert_eq!(rig.fetch(command(Op::SramGet, get, 16), &[]), [0; 16]);
    assert_eq!(
        rig.fetch(command(Op::SramPut, put, 1), &[9]),
        [0x8000_0000 + 496]
    );
    assert_eq!(rig.fetch(command(Op::SramGet, get, 2), &[]), [1, 1]);
    rig.units.sram.set_entry(0, 2, [0x1400, 0x1400, 0]);
    rig.fetch(command(Op::SramPut, 2 << 24, 1), &[9]);
    assert_eq!(rig.fetch(command(Op::SramGet, 2 << 24, 2), &[]), [0, 0]);
    assert_eq!(rig.fetch(command(Op::SramGet, 2 << 24, 1), &[]), [9]);
}

#[test]
fn journals_overwrite_oldest_and_fast_ones_record_the_writer() {
    let mut rig = Rig::new();
    rig.units.sram.set_entry(1, 4, [0x2000, 0x2000, 0]);
    let address = 0x4000_0000 | 4 << 24;
    for round in 0..33 {
        rig.run_command(command(Op::SramJournal, address, 16), &[round; 16]);
    }
    assert_eq!(rig.units.sram.read_word(0x4000_8000), Some(32));
    assert_eq!(rig.units.sram.read_word(0x4000_8040), Some(1));
    assert_eq!(rig.units.sram.entry(1, 4).unwrap().count(), 512);
    let mut fast = command(Op::SramFastJournal, address | 0x1234, 1);
    (fast.me, fast.context) = (5, 3);
    rig.run_command(fast, &[]);
    assert_eq!(
        rig.units.sram.read_word(0x4000_8040),
        Some(0x11 << 27 | 3 << 24 | 0x1234)
    );
}

#[test]
fn scratch_ring_status_lags_and_short_gets_return_zeros() {
    let mut rig = Rig::new();
    // Ring 1: 128 longwords at 0x400, full status; ring 2: empty status.
    rig.units.scratch.set_ring_register(
        1,
        crate::units::scratch::RingRegister::Base,
        0x400,
        &mut rig.fabric,
    );
    rig.units.scratch.set_ring_register(
        2,
        crate::units::scratch::RingRegister::Base,
        1 << 26 | 0x600,
        &mut rig.fabric,
    );
    assert!(!rig.fabric.ring_status(1, 0) && rig.fabric.ring_status(2, 0));
    for _ in 0..6 {
        rig.run_command(command(Op::ScratchPut, 4, 16), &[3; 16]);
    }
    let now = rig.fabric.now;
    assert!(
        !rig.fabric.ring_status(1, now + 11) && rig.fabric.ring_status(1, now + 12),
        "96 of 128 is three quarters"
    );
    rig.run_command(command(Op::ScratchPut, 8, 1), &[8]);
    assert_eq!(rig.fetch(command(Op::ScratchGet, 8, 3), &[]), [8, 0, 0]);
    assert_eq!(rig.fetch(command(Op::ScratchGet, 8, 1), &[]), [0]);
    assert_eq!(
        rig.units.scratch.read(0x600),
        Some(8),
        "ring words stand in scratch"
    );
    assert_eq!(
        rig.units
            .scratch
            .ring_register(1, crate::units::scratch::RingRegister::Tail),
        96 * 4
    );
    assert_eq!(rig.fabric.checks.fault(), None);
}

#[test]
fn put_to_full_scratch_ring_faults_and_overwrites_the_oldest() {
    let mut rig = Rig::new();
    rig.units.scratch.set_ring_register(
        0,
        crate::units::scratch::RingRegister::Base,
        0x800,
        &mut rig.fabric,
    );
    for round in 0..9 {
        rig.run_command(command(Op::ScratchPut, 0, 15), &[round; 15]);
    }
    let fault = rig.fabric.checks.fault().expect("135 words on 128");
    assert_eq!(fault.check, Some(Check::RingOverflow));
    assert!(
        fault.message.contains("ring 0") && fault.message.contains("7 oldest"),
        "{}",
        fault.message
    );
    assert_eq!(rig.units.scratch.ring(0).count(), 128);
    assert_eq!(
        rig.fetch(command(Op::ScratchGet, 0, 9), &[]),
        [0, 0, 0, 0, 0, 0, 0, 0, 1]
    );
}

#[test]
fn scratch_atomics_compute_as_documented() {
    let mut rig = Rig::new();
    rig.units.scratch.write(0x40, 0b1100);
    let mut step = |op: Op, data: u32, old: u32, new: u32| {
        assert_eq!(rig.fetch(command(op, 0x40, 1), &[data]), [old], "{op:?}");
        assert_eq!(rig.units.scratch.read(0x40), Some(new), "{op:?}");
    };
    step(Op::ScratchTestAndSet, 0b0011, 0b1100, 0b1111);
    step(Op::ScratchTestAndClr, 0b0101, 0b1111, 0b1010);
    step(Op::ScratchTestAndAdd, 6, 10, 16);
    step(Op::ScratchTestAndSub, 17, 16, u32::MAX);
    step(Op::ScratchTestAndIncr, 0, u32::MAX, 0);
    step(Op::ScratchTestAndDecr, 0, 0, u32::MAX);
    step(Op::ScratchSwap, 5, u32::MAX, 5);
}

#[test]
fn sram_atomics_compute_as_documented() {
    let mut rig = Rig::new();
    rig.units.sram.write_word(0x4000_0040, 0b1100);
    let mut step = |op: Op, data: u32, old: u32, new: u32| {
        assert_eq!(
            rig.fetch(command(op, 0x4000_0040, 1), &[data]),
            [old],
            "{op:?}"
        );
        assert_eq!(rig.units.sram.read_word(0x4000_0040), Some(new), "{op:?}");
    };
    step(Op::SramTestAndSet, 0b0011, 0b1100, 0b1111);
    step(Op::SramTestAndClr, 0b0101, 0b1111, 0b1010);
    step(Op::SramTestAndAdd, 6, 10, 16);
    step(Op::SramTestAndDecr, 0, 16, 15);
    step(Op::SramTestAndIncr, 0, 15, 16);
    step(Op::SramSwap, 5, 16, 5);
}

#[test]
fn out_of_range_addresses_fault_with_their_location() {
    let mut transfer = command(Op::DramRbufRd, 0, 8);
    transfer.indirect = None;
    let cases = [
        (command(Op::ScratchRead, 0x3ffc, 2), "0x3ffc"),
        (command(Op::ScratchIncr, 0x4000, 1), "0x4000"),
        (command(Op::SramRead, 0x8000_0000, 1), "no SRAM channel 2"),
        (command(Op::SramWrite, 0x43ff_fffc, 2), "channel 1"),
        (command(Op::SramIncr, 0x0400_0000, 1), "channel 0"),
        (command(Op::DramRead, 0x0fff_fff8, 2), "0xffffff8"),
        (command(Op::DramWrite, 0xffff_fff8, 16), "DRAM ends"),
        (transfer, "indirect_ref"),
        (command(Op::SramRdQdescHead, 0x00ff_ffff, 2), "descriptor"),
    ];
    for (number, (mut bad, text)) in cases.into_iter().enumerate() {
        let mut rig = Rig::new();
        bad.pc = number as u16;
        rig.run_command(bad, &[0; 32]);
        let fault = rig
            .fabric
            .checks
            .fault()
            .unwrap_or_else(|| panic!("{bad:?}"));
        assert_eq!((fault.check, fault.pc), (None, Some(number as u16)));
        assert!(fault.message.contains(text), "{}", fault.message);
        assert!(fault.help.is_some());
    }
}

#[test]
fn commands_crossing_dram_channels_use_both_channels() {
    let profile = Profile::load("ixp2400")
        .unwrap()
        .with("dram", "channels", 3)
        .unwrap();
    let mut rig = Rig::with(profile);
    let words: Vec<u32> = (100..132).collect();
    let write = command(Op::DramWrite, 0x1c0, 16);
    let notices = rig.run_command(write, &words);
    assert_eq!(notices.len(), 1);
    assert_eq!(rig.fetch(command(Op::DramRead, 0x1c0, 16), &[]), words);
    assert_eq!(
        rig.units
            .dram
            .counters()
            .map(crate::kernel::unit_counters::UnitCounters::total)
            .collect::<Vec<_>>(),
        [2, 0, 0]
    );
    assert!(
        rig.units.dram.counters().filter(|c| c.busy() > 0).count() == 2,
        "both channels moved data"
    );
    assert_eq!(rig.fabric.in_flight(), 0);
}
