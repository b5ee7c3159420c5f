//! DRAM rows that stay open, and the banks that a refresh blocks.

use npsim_isa::CommandOp as Op;
use npsim_profile::Profile;

use super::{Rig, command};
use crate::Cycle;
use crate::kernel::unit::Unit;

/// Distance between banks of the IXP2400 in bytes; rows of a bank are four times as far apart.
const BANK: u32 = 2048;
const ROW: u32 = 4 * BANK;

/// An IXP2400 with these policies and this refresh interval, refreshed one bank at a time if sets
/// of banks take turns.
fn rig(rows: &'static str, refresh: &'static str, interval: u64) -> Rig {
    let profile = Profile::load("ixp2400").unwrap();
    let profile = { profile.with("dram", "rows", rows) }
        .and_then(|it| it.with("dram", "refresh", refresh))
        .and_then(|it| it.with("dram", "refresh_banks", 1))
        .and_then(|it| it.with("dram", "refresh_interval", interval));
    Rig::with(profile.unwrap())
}

const NEVER: u64 = 1_000_000_000;

/// Latencies of successive reads of one quadword each.
fn read_alone(rig: &mut Rig, addresses: &[u32]) -> Vec<Cycle> {
    let one = |at: &u32| rig.run_command(command(Op::DramRead, *at, 1), &[])[0].cycle;
    addresses.iter().map(one).collect()
}

/// The time between the ends of two reads.
fn read_after(rig: &mut Rig, first: u32, second: u32) -> Cycle {
    rig.issue(1000, command(Op::DramRead, first, 1));
    rig.issue(1002, command(Op::DramRead, second, 1));
    rig.run();
    rig.notices[1].cycle - rig.notices[0].cycle
}

/// For each bank, how much longer than on an idle chip a read takes that is issued when a refresh
/// is due.
fn delays(rig: impl Fn() -> Rig, due: Cycle) -> Vec<Cycle> {
    let one = |bank: u32| {
        let mut rig = rig();
        rig.issue(due, command(Op::DramRead, bank * BANK, 1));
        rig.run();
        rig.notices[0].cycle - due - rig.fabric.profile.dram_read()
    };
    (0..4).map(one).collect()
}

#[test]
fn row_hit_skips_activate_and_row_miss_adds_precharge() {
    let mut open = rig("open", "in-turn", NEVER);
    let addresses = [0, 8, BANK - 8, ROW, 0, BANK, ROW + BANK, 8];
    // 180 for an idle bank; 12 less if the row is already open, 12 more if another one has to be
    // closed.
    assert_eq!(
        read_alone(&mut open, &addresses),
        [180, 168, 168, 192, 192, 180, 192, 168]
    );
    let hits = open.units.dram.own_counters(0).get("row_hits");
    assert_eq!(hits, Some(3));
    let mut closed = rig("closed", "in-turn", NEVER);
    assert_eq!(read_alone(&mut closed, &addresses), [180; 8]);
    assert_eq!(closed.units.dram.own_counters(0).get("row_hits"), None);
}

#[test]
fn row_hits_pipeline_and_row_misses_wait_a_row_cycle() {
    let behind = |rows, second| read_after(&mut rig(rows, "in-turn", NEVER), 0, second);
    assert_eq!(behind("open", 8), 8);
    assert_eq!(behind("open", ROW), 40);
    assert_eq!(behind("closed", 8), 40);
    assert_eq!(behind("closed", ROW), 40);
}

#[test]
fn refresh_blocks_banks_according_to_its_policy() {
    let inlet = rig("closed", "in-turn", NEVER)
        .fabric
        .profile
        .issue_to_inlet();
    let blocked = 48 - inlet;
    let in_turn = || rig("closed", "in-turn", 2000);
    assert_eq!(delays(in_turn, 2000), [blocked, 0, 0, 0]);
    assert_eq!(delays(in_turn, 4000), [0, blocked, 0, 0]);
    let all_bank = || rig("closed", "all-bank", 2000);
    assert_eq!(delays(all_bank, 2000), [blocked; 4]);
    assert_eq!(delays(all_bank, 4000), [blocked; 4]);
}

#[test]
fn refresh_closes_open_rows_of_its_banks() {
    for (policy, expected) in [
        ("in-turn", [180, 180, 180, 168]),
        ("all-bank", [180, 180, 180, 180]),
    ] {
        let mut rig = rig("open", policy, 3000);
        // Two banks are read before and after the first refresh.
        assert_eq!(
            read_alone(&mut rig, &[0, BANK, 0, BANK]),
            expected,
            "{policy}"
        );
    }
    // The refresh waits for the precharge of an open row.
    let mut rig = rig("open", "all-bank", 2000);
    rig.issue(1000, command(Op::DramRead, 0, 1));
    rig.issue(2000, command(Op::DramRead, 0, 1));
    rig.run();
    let inlet = rig.fabric.profile.issue_to_inlet();
    assert_eq!(rig.notices[1].cycle - 2000, 180 + 12 + 48 - inlet);
}
