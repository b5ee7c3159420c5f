//! The coprocessor behind its SRAM channel: when it answers, what passes what,
//! and what is refused.

use npsim_isa::CommandOp as Op;

use super::{Notice, Rig, command};
use crate::Cycle;
use crate::kernel::fabric::BusCommand;
use crate::profile::Profile;
use crate::units::coprocessor::{CoprocessorSetup, MAILBOXES, REQUESTS, XCP};

const MEMORY: u32 = 0x10_0000;
/// The window as microcode addresses it.
const WINDOW: u32 = 1 << 30 | MEMORY;

fn rig(attached: bool) -> Rig {
    let profile = Profile::load("ixp2400").unwrap();
    let profile = profile
        .with("sram", "channel_bytes", u64::from(MEMORY))
        .unwrap();
    let mut rig = Rig::with(profile.clone());
    if attached {
        let setup = CoprocessorSetup {
            name: "FEEDBACK".into(),
            channel: 1,
            address: MEMORY,
        };
        rig.units.sram.attach(&setup, &profile).unwrap();
        assert!(rig.units.sram.attach(&setup, &profile).is_err(), "one only");
        assert!(rig.units.sram.write_word(WINDOW, 1 << 20));
    }
    rig
}

fn by(me: u8, id: u16, mut command: BusCommand) -> BusCommand {
    (command.me, command.transfer_me, command.pc) = (me, me, id);
    command
}

fn request(code: u32) -> BusCommand {
    command(Op::SramRead, WINDOW + REQUESTS + 4 * code, 1)
}

/// When a command's push came.
fn pushed(notices: &[Notice], id: u16) -> Cycle {
    let found = notices.iter().find(|n| n.id == id && !n.pull);
    found.unwrap_or_else(|| panic!("no push of {id}")).cycle
}

#[test]
fn a_request_takes_a_read_the_wait_for_the_edge_and_a_clock() {
    let mut rig = rig(true);
    let p = rig.fabric.profile.clone();
    for _ in 0..20 {
        let start = (rig.fabric.now + 1000).next_multiple_of(2);
        let notices = rig.go(request(8), &[]);
        assert_eq!(notices.len(), 1);
        assert_eq!(notices[0].data, [8]);
        // 3.6 cycles from edge to edge.
        let taken =
            start + p.sram_read() - p.push_lead(p.sram_read(), 1) - 2 - p.transfer_latency();
        let edge = (taken * 10).div_ceil(36);
        let answered = ((edge + 1) * 36).div_ceil(10);
        assert_eq!(notices[0].cycle, p.sram_read() + answered - taken);
        assert!((4..=8).contains(&(answered - taken)));
    }
    // Registers are read and written as memory is.
    let notices = rig.go(command(Op::SramRead, WINDOW, 4), &[]);
    assert_eq!(notices[0].data, [1 << 20, 0, 20 * 256, 0]);
    let register = notices[0].cycle;
    let notices = rig.go(command(Op::SramRead, 1 << 30, 4), &[]);
    assert_eq!(notices[0].cycle, register);
}

#[test]
fn an_answer_is_in_its_mailbox_when_it_is_known() {
    let mut rig = rig(true);
    let p = rig.fabric.profile.clone();
    let place = WINDOW + XCP;
    rig.go(
        command(Op::SramWrite, place, 5),
        &[25_000_000, 0, 1_599_987_816, 0, 34],
    );
    let mailbox = WINDOW + MAILBOXES + 16 * 9;
    rig.run();
    let start = (rig.fabric.now + 1000).next_multiple_of(12);
    rig.out[0][0][..4].copy_from_slice(&[0, 42_950, 1000, 10_000]);
    rig.issue(start, by(0, 1, command(Op::SramWrite, mailbox, 4)));
    rig.issue(start + 2, by(0, 2, command(Op::SramRead, mailbox, 1)));
    let before = rig.notices.len();
    rig.run();
    let notices = rig.notices.split_off(before);
    let pulled = notices.iter().find(|n| n.pull).unwrap().cycle;
    let read = notices.iter().find(|n| n.id == 2).unwrap();
    assert_eq!(read.data, [3999], "vector X1");
    // Handed over when its data is there; 12 cycles from edge to edge.
    let answered = (pulled.div_ceil(12) + 1) * 12;
    let lead = p.push_lead(p.sram_read(), 1);
    let carried = p.bus_cycle() + p.transfer_latency();
    assert_eq!(read.cycle, answered + lead + carried);
    // It stays there, and is then read like memory.
    let again = rig.go(command(Op::SramRead, mailbox, 1), &[]);
    assert_eq!(
        (&again[0].data[..], again[0].cycle),
        (&[3999][..], p.sram_read())
    );
    assert_eq!(rig.units.sram.read_word(place), Some(24_996_001));
}

#[test]
fn memory_has_its_timing_beside_the_device() {
    let notices = [false, true].map(|attached| {
        let mut rig = rig(attached);
        let words: Vec<u32> = (1..=8).collect();
        for (id, n) in (0..).zip(0..200u32) {
            let me = (n % 8) as u8;
            let address = 1 << 30 | ((n * 52) & 0xffc);
            let (op, count) = [
                (Op::SramRead, 8),
                (Op::SramWrite, 3),
                (Op::SramTestAndAdd, 1),
                (Op::SramRead, 1),
                (Op::SramEnqueue, 1),
                (Op::SramDequeue, 1),
            ][(n % 6) as usize];
            let command = by(me, id, command(op, address, count));
            rig.work[me as usize].push_back((command, words.clone()));
        }
        rig.start_work();
        rig.run();
        assert!(rig.fabric.checks.fault().is_none());
        rig.notices
    });
    assert!(notices[0].len() >= 200);
    assert_eq!(notices[0], notices[1]);
}

#[test]
fn requests_are_taken_one_a_clock_and_memory_passes_them() {
    let mut rig = rig(true);
    for n in 0..160u16 {
        let me = (n % 8) as u8;
        rig.work[me as usize].push_back((by(me, n, request(1)), Vec::new()));
    }
    // The last of one microengine is for memory.
    let memory = by(3, 999, command(Op::SramRead, 1 << 30, 1));
    rig.work[3].push_front((memory, Vec::new()));
    rig.start_work();
    rig.run();
    assert!(rig.fabric.checks.fault().is_none());
    let mut at: Vec<_> = (0..160).map(|id| pushed(&rig.notices, id)).collect();
    at.sort_unstable();
    let span = at[159] - at[0];
    assert!(
        (159 * 36 / 10 - 4..=159 * 36 / 10 + 4).contains(&span),
        "{span}"
    );
    assert!(pushed(&rig.notices, 999) < at[20]);
    let device = rig.units.sram.coprocessor().unwrap();
    assert_eq!(device.quick_start_counts.granted, 160);
    assert_eq!(rig.units.sram.read_word(WINDOW + 8), Some(320));
    assert_eq!(device.quick_start_use().busy, 160 * 36 / 10);
    assert!(device.quick_start_use().waiting > 160 * 36);
}

#[test]
fn a_request_waits_for_the_registers_of_its_group_that_are_being_written() {
    let mut rig = rig(true);
    let start = 1000;
    rig.out[0][0][..3].copy_from_slice(&[64, 8, 0]);
    // The write waits for its data; the request of group 0 behind it does not
    // overtake it, that of group 1 does.
    rig.issue(start, by(0, 1, command(Op::SramWrite, WINDOW, 3)));
    rig.issue(start, by(4, 2, request(15)));
    let mut other = request(15);
    other.address += 64;
    rig.issue(start + 2, by(4, 3, other));
    rig.run();
    let of = |id| rig.notices.iter().find(|n| n.id == id && !n.pull).unwrap();
    assert_eq!(of(2).data, [6], "64 units");
    assert_eq!(of(3).data, [0]);
    assert!(of(3).cycle < of(2).cycle);
    assert_eq!(rig.units.sram.read_word(WINDOW + 16), Some(64));
}

#[test]
fn bytes_of_a_register_can_be_written() {
    let mut rig = rig(true);
    let mut write = command(Op::SramWrite, WINDOW, 1);
    write.byte_mask = 0b1001;
    rig.go(write, &[0xaabb_ccdd]);
    assert_eq!(rig.units.sram.read_word(WINDOW), Some(0xaa10_00dd));
}

#[test]
fn what_is_no_request_is_a_fault_that_says_what_would_be_one() {
    let entry = 7 << 24;
    let mailbox = WINDOW + MAILBOXES;
    let longword = entry | (MEMORY / 4);
    let cases = [
        (
            command(Op::SramTestAndSet, WINDOW, 1),
            "has no atomic operations",
        ),
        (
            command(Op::SramIncr, mailbox, 1),
            "has no atomic operations",
        ),
        (
            command(Op::SramSwap, WINDOW + REQUESTS, 1),
            "has no atomic operations",
        ),
        (
            command(Op::SramRead, WINDOW - 4, 2),
            "the window of the coprocessor FEEDBACK is from 0x100000 to 0x101fff",
        ),
        (command(Op::SramRead, WINDOW + 0x1ffc, 2), "0x101fff"),
        (
            command(Op::SramRead, WINDOW + 0x2000, 1),
            "the memory of channel 1 ends",
        ),
        (
            command(Op::SramRead, WINDOW + REQUESTS, 2),
            "among the Quick-Start requests: a Quick-Start request reads exactly one longword",
        ),
        (
            command(Op::SramWrite, WINDOW + REQUESTS, 1),
            "a Quick-Start request is a read",
        ),
        (
            command(Op::SramWrite, mailbox, 1),
            "among the XCP mailboxes: an XCP request is four longwords",
        ),
        (
            command(Op::SramWrite, mailbox, 4),
            "there are groups 0 to 15",
        ),
        (
            command(Op::SramRead, mailbox, 1),
            "no request was ever written to mailbox 0",
        ),
        (
            command(Op::SramRead, mailbox + 0x400, 1),
            "nothing is there",
        ),
        (
            command(Op::SramWrite, WINDOW + 0x14, 1),
            "among the registers: not all",
        ),
        (
            command(Op::SramEnqueue, 1 << 30 | longword, 1),
            "no queue or ring can be",
        ),
        (
            command(Op::SramRdQdescHead, 1 << 30 | longword, 2),
            "no queue or ring can be",
        ),
        (
            command(Op::SramWrQdesc, 1 << 30 | longword, 2),
            "no queue or ring can be",
        ),
    ];
    for (number, (mut bad, text)) in cases.into_iter().enumerate() {
        let mut rig = rig(true);
        bad.pc = number as u16;
        rig.go(bad, &[99; 16]);
        let fault = rig.fabric.checks.fault();
        let fault = fault.unwrap_or_else(|| panic!("{bad:?}"));
        assert_eq!((fault.check, fault.pc), (None, Some(number as u16)));
        assert!(fault.message.contains(text), "{}", fault.message);
        assert!(fault.help.is_some());
        assert_eq!(rig.fabric.in_flight(), 0);
        let device = rig.units.sram.coprocessor().unwrap();
        assert_eq!(device.quick_start_counts.requests, 0);
    }
    // A ring that was loaded with the window's address.
    let mut rig = rig(true);
    let entry_of_window = [MEMORY / 4, MEMORY / 4, 0];
    assert!(rig.units.sram.set_entry(1, 7, entry_of_window));
    rig.go(command(Op::SramPut, 1 << 30 | entry, 1), &[1]);
    let fault = rig.fabric.checks.fault().unwrap();
    assert!(fault.message.contains("beyond the memory of channel 1"));
}

#[test]
fn the_core_reaches_registers_and_nothing_else() {
    let mut rig = rig(true);
    for place in [0, 4, 8, 16, 0x1f0, XCP, XCP + 0x3d0] {
        assert!(rig.units.sram.write_word(WINDOW + place, 5), "{place:#x}");
        assert_eq!(rig.units.sram.read_word(WINDOW + place), Some(5));
    }
    for place in [20, 0x200, XCP + 20] {
        assert!(!rig.units.sram.write_word(WINDOW + place, 5), "{place:#x}");
        assert_eq!(rig.units.sram.read_word(WINDOW + place), Some(0));
    }
    for place in [REQUESTS, MAILBOXES, 0x2000] {
        assert!(!rig.units.sram.write_word(WINDOW + place, 5), "{place:#x}");
        assert_eq!(rig.units.sram.read_word(WINDOW + place), None);
    }
    assert_eq!(
        rig.units
            .sram
            .coprocessor()
            .unwrap()
            .quick_start_counts
            .requests,
        0
    );
}
