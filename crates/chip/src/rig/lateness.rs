//! Deliberately delayed completions, and memory that is unaffected by them.

use npsim_isa::CommandOp as Op;

use super::{Notice, Rig, command};
use crate::Cycle;
use crate::kernel::fault_injection::Lateness;

const MAX_LATENESS: u32 = 400;

fn late(seed: u64) -> Lateness {
    Lateness {
        seed,
        dram: MAX_LATENESS,
        sram: MAX_LATENESS,
        scratch: MAX_LATENESS,
    }
}

/// Writes and reads one place alternately, as fast as commands are accepted. Returns the notices of
/// the reads, by number.
fn reads(write: Op, read: Op, address: u32, lateness: Lateness) -> Vec<Notice> {
    let mut rig = Rig::new();
    rig.fabric.disturb(lateness);
    for number in 0..30 {
        let mut command = command(if number % 2 == 0 { write } else { read }, address, 1);
        command.pc = number;
        command.transfer = number as u8 * 4;
        let data = [u32::from(number); 2];
        rig.work[0].push_back((command, data[..2].to_vec()));
    }
    rig.start_work();
    rig.run();
    let mut notices = rig.notices;
    notices.retain(|notice| !notice.pull);
    notices.sort_by_key(|notice| notice.id);
    notices
}

#[test]
fn injected_lateness_is_bounded_and_preserves_memory_order() {
    for (write, read, address) in [
        (Op::ScratchWrite, Op::ScratchRead, 0x40),
        (Op::SramWrite, Op::SramRead, 0x4000_0040),
        (Op::DramWrite, Op::DramRead, 0x40),
    ] {
        let times = |notices: &[Notice]| -> Vec<Cycle> {
            let times = notices.iter().map(|notice| notice.cycle);
            times.collect()
        };
        let plain = reads(write, read, address, Lateness::default());
        let disturbed = reads(write, read, address, late(3));
        assert_eq!(plain.len(), 15, "{read:?}");
        let mut delays = Vec::new();
        for (plain, disturbed) in plain.iter().zip(&disturbed) {
            let written = u32::from(plain.id) - 1;
            assert_eq!(plain.data[0], written, "{read:?}");
            assert_eq!(disturbed.data, plain.data, "{read:?}");
            delays.push(disturbed.cycle - plain.cycle);
        }
        assert!(
            delays.iter().all(|&by| by <= MAX_LATENESS.into()),
            "{delays:?}"
        );
        assert!(
            delays.iter().any(|&by| by > MAX_LATENESS as Cycle / 2),
            "{delays:?}"
        );
        assert!(!times(&disturbed).is_sorted(), "{read:?}: none overtakes");
        assert_eq!(disturbed, reads(write, read, address, late(3)));
        assert_ne!(
            times(&disturbed),
            times(&reads(write, read, address, late(4)))
        );
    }
}

#[test]
fn lateness_of_one_unit_does_not_delay_others() {
    let mut plain = Rig::new();
    let mut disturbed = Rig::new();
    disturbed.fabric.disturb(Lateness {
        dram: 0,
        scratch: 0,
        ..late(1)
    });
    for (op, count) in [(Op::ScratchRead, 4), (Op::DramRead, 2), (Op::Hash48, 1)] {
        let command = command(op, 0, count);
        for _ in 0..3 {
            assert_eq!(
                plain.run_command(command, &[1; 4]),
                disturbed.run_command(command, &[1; 4])
            );
        }
    }
}
