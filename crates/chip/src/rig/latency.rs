//! Idle latencies: each command on an idle chip takes exactly its target time.

use npsim_isa::CommandOp as Op;

use super::{Notice, Rig, SIGNAL, command};
use crate::Cycle;

const EVEN: u16 = 1 << SIGNAL;
const ODD: u16 = EVEN << 1;

fn push_at(notices: &[Notice]) -> Cycle {
    notices.iter().rfind(|n| !n.pull).expect("a push").cycle
}

fn pull_at(notices: &[Notice]) -> Cycle {
    notices.iter().find(|n| n.pull).expect("a pull").cycle
}

#[test]
fn idle_reads_match_their_target_latency() {
    let mut rig = Rig::new();
    let p = rig.fabric.profile.clone();
    let mut check = |op: Op, target: Cycle| {
        let notices = rig.run_command(command(op, 0, 1), &[]);
        assert_eq!(push_at(&notices), target, "{op:?}");
        assert_eq!(notices.len(), 1, "{op:?}");
    };
    check(Op::ScratchRead, p.scratch_read());
    check(Op::ScratchGet, p.scratch_ring_get());
    check(Op::ScratchTestAndIncr, p.scratch_atomic());
    check(Op::ScratchTestAndDecr, p.scratch_atomic());
    check(Op::SramRead, p.sram_read());
    check(Op::SramTestAndIncr, p.sram_atomic());
    check(Op::SramTestAndDecr, p.sram_atomic());
    check(Op::SramDequeue, p.sram_dequeue());
    check(Op::SramGet, p.sram_ring_get());
    check(Op::SramCsrRd, p.sram_csr());
    check(Op::DramRead, p.dram_read());
}

#[test]
fn idle_writes_match_their_target_latency() {
    let mut rig = Rig::new();
    let p = rig.fabric.profile.clone();
    let mut check = |op: Op, target: Cycle, signals: u16| {
        let notices = rig.run_command(command(op, 0, 1), &[7, 7]);
        assert_eq!(
            (notices.len(), pull_at(&notices), notices[0].signals),
            (1, target, signals),
            "{op:?}"
        );
    };
    for op in [
        Op::ScratchWrite,
        Op::ScratchSet,
        Op::ScratchClr,
        Op::ScratchAdd,
        Op::ScratchSub,
    ] {
        check(op, p.scratch_write(), EVEN);
    }
    check(Op::ScratchPut, p.scratch_ring_put(), EVEN);
    for op in [
        Op::SramWrite,
        Op::SramSet,
        Op::SramClr,
        Op::SramAdd,
        Op::SramJournal,
        Op::SramCsrWr,
    ] {
        check(op, p.sram_write(), EVEN);
    }
    check(Op::DramWrite, p.dram_write(), EVEN | ODD);
}

#[test]
fn idle_atomics_match_their_target_latencies() {
    let mut rig = Rig::new();
    let p = rig.fabric.profile.clone();
    let scratch = [
        Op::ScratchSwap,
        Op::ScratchTestAndSet,
        Op::ScratchTestAndClr,
        Op::ScratchTestAndAdd,
        Op::ScratchTestAndSub,
    ];
    let sram = [
        Op::SramSwap,
        Op::SramTestAndSet,
        Op::SramTestAndClr,
        Op::SramTestAndAdd,
    ];
    let scratch = scratch.map(|op| (op, p.scratch_write(), p.scratch_atomic()));
    let sram = sram.map(|op| (op, p.sram_write(), p.sram_atomic()));
    for (op, pull, push) in
        scratch
            .into_iter()
            .chain(sram)
            .chain([(Op::SramPut, p.sram_write(), p.sram_ring_put())])
    {
        let notices = rig.run_command(command(op, 0, 1), &[5]);
        assert_eq!(
            (pull_at(&notices), push_at(&notices)),
            (pull, push),
            "{op:?}"
        );
        assert_eq!(
            (notices[0].signals, notices[1].signals),
            (EVEN, ODD),
            "{op:?}"
        );
    }
    for op in [Op::ScratchTestAndAdd, Op::SramTestAndAdd] {
        let mut no_pull = command(op, 0, 1);
        (no_pull.immediate, no_pull.pull_signals) = (Some(3), 0);
        let notices = rig.run_command(no_pull, &[]);
        let target = if op == Op::SramTestAndAdd {
            p.sram_atomic()
        } else {
            p.scratch_atomic()
        };
        assert_eq!(
            (notices.len(), push_at(&notices)),
            (1, target),
            "{op:?} without pull"
        );
    }
}

#[test]
fn commands_without_completion_send_no_notice() {
    let mut rig = Rig::new();
    let silent = [
        Op::ScratchIncr,
        Op::ScratchDecr,
        Op::SramIncr,
        Op::SramDecr,
        Op::SramEnqueue,
        Op::SramEnqueueTail,
        Op::SramFastJournal,
        Op::SramWrQdesc,
        Op::SramWrQdescCount,
        Op::SramRdQdescOther,
    ];
    for op in silent {
        assert_eq!(rig.run_command(command(op, 0x40, 1), &[]), [], "{op:?}");
        assert_eq!(rig.fabric.in_flight(), 0, "{op:?}");
    }
}

#[test]
fn burst_latency_adds_slower_of_bus_and_memory() {
    let mut rig = Rig::new();
    let (sram, dram) = (
        rig.fabric.profile.sram_read(),
        rig.fabric.profile.dram_read(),
    );
    assert_eq!(
        push_at(&rig.run_command(command(Op::ScratchRead, 0, 16), &[])),
        60 + 15 * 2
    );
    assert_eq!(
        push_at(&rig.run_command(command(Op::SramRead, 0, 16), &[])),
        sram + 15 * 3
    );
    assert_eq!(
        push_at(&rig.run_command(command(Op::DramRead, 0, 8), &[])),
        dram + 14 * 2
    );
    assert_eq!(
        pull_at(&rig.run_command(command(Op::SramWrite, 0, 16), &[0; 16])),
        55 + 15 * 2
    );
}

#[test]
fn hash_latency_grows_with_width() {
    let mut rig = Rig::new();
    let notices = rig.run_command(command(Op::Hash48, 0, 1), &[1, 0]);
    assert_eq!(
        (push_at(&notices), notices[1].data.len()),
        (rig.fabric.profile.hash_one(), 2)
    );
    assert_eq!(
        push_at(&rig.run_command(command(Op::Hash64, 0, 1), &[1, 0])),
        72
    );
    // Two more clocks each way in buffers, five in the array, and two more longwords each way.
    assert_eq!(
        push_at(&rig.run_command(command(Op::Hash128, 0, 1), &[1, 0, 0, 0])),
        70 + 8 + 10 + 8
    );
    let three = rig.run_command(command(Op::Hash48, 0, 3), &[1, 0, 2, 0, 1, 0]);
    let data = &three[1].data;
    assert_eq!((data.len(), &data[..2]), (6, &data[4..]));
    let multiplier = rig
        .units
        .hash
        .multiplier(crate::units::hash::HashWidth::Bits48);
    assert_eq!(u128::from(data[1]) << 32 | u128::from(data[0]), multiplier);
}

#[test]
fn media_transfers_match_target_latency_and_raise_both_signals() {
    let mut rig = Rig::new();
    let (stored, filled) = (
        rig.fabric.profile.dram_rbuf_rd(),
        rig.fabric.profile.dram_tbuf_wr(),
    );
    for (op, target) in [(Op::DramRbufRd, stored), (Op::DramTbufWr, filled)] {
        let mut transfer = command(op, 0x1000, 8);
        transfer.indirect = Some(1 << 18 | 1 << 11);
        let notices = rig.run_command(transfer, &[]);
        assert!(
            notices.iter().all(|n| n.cycle == target),
            "{op:?}: {notices:?}"
        );
        assert_eq!(
            notices.iter().fold(0, |all, n| all | n.signals),
            EVEN | ODD,
            "{op:?}"
        );
        assert_eq!(rig.fabric.in_flight(), 0);
        assert_eq!(rig.fabric.checks.fault(), None);
    }
}
