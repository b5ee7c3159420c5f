//! A device behind its SRAM channel: when it responds, what may overtake what, and which requests
//! are rejected.

use std::ops::Range;

use npsim_isa::CommandOp as Op;
use serde::{Deserialize, Serialize};

use super::{Notice, Rig, command};
use crate::Cycle;
use crate::kernel::fabric::BusCommand;
use crate::units::sram::device::{Attachment, Device, Handover, WindowPart, WindowRequest};
use npsim_profile::Profile;

const MEMORY: u32 = 0x10_0000;
/// Address of the window as microcode sees it.
const WINDOW: u32 = 1 << 30 | MEMORY;

/// Size of the window in bytes, and offsets of its parts.
const WINDOW_BYTES: u32 = 0x2000;
const REQUESTS: u32 = 0x800;
const MAILBOXES: u32 = 0x1000;
/// Longwords of a group of registers; each group answers the requests of 16 longwords.
const GROUP: u32 = 8;
/// Cycles from one request to the next, and until its answer is available.
const PERIOD: Cycle = 4;
const ANSWER: Cycle = 7;
/// Cycles until a write to a mailbox is answered.
const POST: Cycle = 24;

/// A test device that takes the amount given by a request from the first register of a group, as
/// far as available. A mailbox returns the sum of the values written to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct TestDevice {
    attachment: Attachment,
    registers: Vec<u32>,
    free: Cycle,
    mailboxes: Vec<Option<(u32, Cycle)>>,
    requests: u64,
    waited: Cycle,
}

impl TestDevice {
    fn new(name: &str, address: u32) -> Self {
        Self {
            attachment: Attachment {
                name: name.into(),
                channel: 1,
                address,
                bytes: WINDOW_BYTES,
            },
            registers: vec![0; 4 * GROUP as usize],
            free: 0,
            mailboxes: vec![None; 64],
            requests: 0,
            waited: 0,
        }
    }

    /// The number of the mailbox that begins at an offset, if one does.
    fn mailbox(place: u32) -> Option<usize> {
        let at = place.checked_sub(MAILBOXES / 4)?;
        (at.is_multiple_of(4) && at / 4 < 64).then_some((at / 4) as usize)
    }
}

impl Device for TestDevice {
    fn kind(&self) -> &'static str {
        "purse"
    }

    fn attachment(&self) -> &Attachment {
        &self.attachment
    }

    fn parts(&self) -> Vec<WindowPart> {
        Vec::new()
    }

    fn check(&self, request: WindowRequest) -> Result<Range<u32>, String> {
        let WindowRequest {
            writes,
            place,
            count,
        } = request;
        if request.places().end <= self.registers.len() as u32 {
            return Ok(request.places());
        }
        if (REQUESTS / 4..REQUESTS / 4 + 64).contains(&place) && !writes && count == 1 {
            let group = (place - REQUESTS / 4) / 16 * GROUP;
            return Ok(group..group + GROUP);
        }
        match (Self::mailbox(place), writes, count) {
            (Some(_), true, 4) | (Some(_), false, 1) => Ok(request.places()),
            _ => Err("nothing is there".to_owned()),
        }
    }

    fn free_at(&self, request: WindowRequest) -> Cycle {
        match Self::mailbox(request.place) {
            Some(number) if !request.writes => self.mailboxes[number].map_or(0, |it| it.1),
            Some(_) => 0,
            None if request.place < REQUESTS / 4 => 0,
            None => self.free,
        }
    }

    fn serve(
        &mut self,
        request: WindowRequest,
        handover: Handover,
        data: &mut [u32],
    ) -> Result<Cycle, String> {
        let now = handover.now;
        if let Some(number) = Self::mailbox(request.place) {
            if request.writes {
                self.mailboxes[number] = Some((data.iter().sum(), now + POST));
            } else {
                let answer = self.mailboxes[number].ok_or("no request was ever written there")?;
                data[0] = answer.0;
            }
            return Ok(now);
        }
        if request.place < REQUESTS / 4 {
            for (register, word) in self.registers[request.place as usize..]
                .iter_mut()
                .zip(data)
            {
                if request.writes {
                    *register = handover.written(*register, *word);
                } else {
                    *word = *register;
                }
            }
            return Ok(now);
        }
        let at = request.place - REQUESTS / 4;
        let purse = &mut self.registers[(at / 16 * GROUP) as usize];
        data[0] = (*purse).min(at % 16);
        *purse -= data[0];
        self.requests += 1;
        self.waited += now - handover.since;
        self.free = now + PERIOD;
        Ok(now + ANSWER)
    }

    fn register(&self, place: u32) -> Option<u32> {
        self.registers.get(place as usize).copied()
    }

    fn set_register(&mut self, place: u32, value: u32) -> bool {
        let register = self.registers.get_mut(place as usize);
        register.map(|register| *register = value).is_some()
    }

    fn part_at(&self, place: u32) -> &'static str {
        match place * 4 {
            place if place < REQUESTS => "the registers",
            place if place < MAILBOXES => "the requests",
            _ => "the mailboxes",
        }
    }

    fn help(&self) -> &'static str {
        "read the test"
    }
}

fn rig(attached: bool) -> Rig {
    let profile = Profile::load("ixp2400").unwrap();
    let profile = profile
        .with("sram", "channel_bytes", u64::from(MEMORY))
        .unwrap();
    let mut rig = Rig::with(profile.clone());
    if attached {
        let mut attach = |name, address| {
            (rig.units.sram).attach(Box::new(TestDevice::new(name, address)), &profile)
        };
        attach("PURSE", MEMORY).unwrap();
        let refusal = attach("OTHER", MEMORY).unwrap_err();
        assert_eq!(refusal, "its window overlaps that of PURSE");
        attach("OTHER", MEMORY + WINDOW_BYTES).unwrap();
        assert!(attach("MISALIGNED", MEMORY + 4).is_err());
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

/// The cycle of a command's push.
fn pushed(notices: &[Notice], id: u16) -> Cycle {
    let found = notices.iter().find(|n| n.id == id && !n.pull);
    found.unwrap_or_else(|| panic!("no push of {id}")).cycle
}

#[test]
fn request_latency_is_a_read_plus_device_time() {
    let mut rig = rig(true);
    let p = rig.fabric.profile.clone();
    for _ in 0..20 {
        let notices = rig.run_command(request(8), &[]);
        assert_eq!(notices.len(), 1);
        assert_eq!(notices[0].data, [8]);
        assert_eq!(notices[0].cycle, p.sram_read() + ANSWER);
    }
    // Registers are read and written like memory.
    let notices = rig.run_command(command(Op::SramRead, WINDOW, 4), &[]);
    assert_eq!(notices[0].data, [(1 << 20) - 160, 0, 0, 0]);
    let register = notices[0].cycle;
    let notices = rig.run_command(command(Op::SramRead, 1 << 30, 4), &[]);
    assert_eq!(notices[0].cycle, register);
}

#[test]
fn mailbox_read_waits_for_the_answer() {
    let mut rig = rig(true);
    let p = rig.fabric.profile.clone();
    let mailbox = WINDOW + MAILBOXES + 16 * 9;
    let start = 1200;
    rig.out[0][0][..4].copy_from_slice(&[1, 20, 300, 4000]);
    rig.issue(start, by(0, 1, command(Op::SramWrite, mailbox, 4)));
    rig.issue(start + 2, by(0, 2, command(Op::SramRead, mailbox, 1)));
    rig.run();
    let pulled = rig.notices.iter().find(|n| n.pull).unwrap().cycle;
    let read = rig.notices.iter().find(|n| n.id == 2).unwrap();
    assert_eq!(read.data, [4321]);
    // Handed over when its data has arrived.
    let lead = p.push_lead(p.sram_read(), 1);
    let carried = p.bus_cycle() + p.transfer_latency();
    assert_eq!(read.cycle, pulled + POST + lead + carried);
    // The word stays there, and is then read like memory.
    let again = rig.run_command(command(Op::SramRead, mailbox, 1), &[]);
    assert_eq!(
        (&again[0].data[..], again[0].cycle),
        (&[4321][..], p.sram_read())
    );
}

#[test]
fn attached_device_does_not_change_memory_timing() {
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
fn device_takes_one_request_per_period_and_memory_commands_overtake() {
    let mut rig = rig(true);
    for n in 0..160u16 {
        let me = (n % 8) as u8;
        rig.work[me as usize].push_back((by(me, n, request(1)), Vec::new()));
    }
    // The last command of one microengine is for memory.
    let memory = by(3, 999, command(Op::SramRead, 1 << 30, 1));
    rig.work[3].push_front((memory, Vec::new()));
    rig.start_work();
    rig.run();
    assert!(rig.fabric.checks.fault().is_none());
    let mut at: Vec<_> = (0..160).map(|id| pushed(&rig.notices, id)).collect();
    at.sort_unstable();
    let span = at[159] - at[0];
    assert!((159 * PERIOD..=160 * PERIOD).contains(&span), "{span}");
    assert!(pushed(&rig.notices, 999) < at[20]);
    let device = rig.units.sram.device::<TestDevice>().unwrap();
    assert_eq!(device.requests, 160);
    assert_eq!(rig.units.sram.read_word(WINDOW), Some((1 << 20) - 160));
    assert!(device.waited > 160 * PERIOD);
}

#[test]
fn request_waits_for_pending_register_writes_of_its_group() {
    let mut rig = rig(true);
    let start = 1000;
    rig.out[0][0][..3].copy_from_slice(&[6, 8, 9]);
    // The write waits for its data; the request of group 0 behind it does not overtake it, but that
    // of group 1 does.
    rig.issue(start, by(0, 1, command(Op::SramWrite, WINDOW, 3)));
    rig.issue(start, by(4, 2, request(15)));
    let mut other = request(15);
    other.address += 64;
    rig.issue(start + 2, by(4, 3, other));
    rig.run();
    let of = |id| rig.notices.iter().find(|n| n.id == id && !n.pull).unwrap();
    assert_eq!(of(2).data, [6]);
    assert_eq!(of(3).data, [0]);
    assert!(of(3).cycle < of(2).cycle);
    assert_eq!(rig.units.sram.read_word(WINDOW), Some(0));
}

#[test]
fn device_registers_support_byte_masked_writes() {
    let mut rig = rig(true);
    let mut write = command(Op::SramWrite, WINDOW, 1);
    write.byte_mask = 0b1001;
    rig.run_command(write, &[0xaabb_ccdd]);
    assert_eq!(rig.units.sram.read_word(WINDOW), Some(0xaa10_00dd));
}

#[test]
fn invalid_device_accesses_fault_with_a_remedy() {
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
            "the window of the purse PURSE is from 0x100000 to 0x101fff",
        ),
        (command(Op::SramRead, WINDOW + 0x1ffc, 2), "0x101fff"),
        (
            command(Op::SramRead, WINDOW + 0x2000 + REQUESTS, 2),
            "0x800 in the window of the purse OTHER",
        ),
        (
            command(Op::SramRead, WINDOW + 0x4000, 1),
            "the memory of channel 1 ends",
        ),
        (
            command(Op::SramRead, WINDOW + REQUESTS, 2),
            "among the requests: nothing is there",
        ),
        (
            command(Op::SramWrite, mailbox, 1),
            "among the mailboxes: nothing is there",
        ),
        (
            command(Op::SramRead, mailbox, 1),
            "among the mailboxes: no request was ever written there",
        ),
        (
            command(Op::SramRead, mailbox + 0x400, 1),
            "nothing is there",
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
        rig.run_command(bad, &[99; 16]);
        let fault = rig.fabric.checks.fault();
        let fault = fault.unwrap_or_else(|| panic!("{bad:?}"));
        assert_eq!((fault.check, fault.pc), (None, Some(number as u16)));
        assert!(fault.message.contains(text), "{}", fault.message);
        assert!(fault.help.is_some());
        assert_eq!(rig.fabric.in_flight(), 0);
        assert_eq!(rig.units.sram.device::<TestDevice>().unwrap().requests, 0);
    }
    // A ring that was loaded with the window's address.
    let mut rig = rig(true);
    let entry_of_window = [MEMORY / 4, MEMORY / 4, 0];
    assert!(rig.units.sram.set_entry(1, 7, entry_of_window));
    rig.run_command(command(Op::SramPut, 1 << 30 | entry, 1), &[1]);
    let fault = rig.fabric.checks.fault().unwrap();
    assert!(fault.message.contains("beyond the memory of channel 1"));
}

#[test]
fn core_can_access_only_device_registers() {
    let mut rig = rig(true);
    for place in [0, 4, 8, 0x7c, 0x2000, 0x207c] {
        assert!(rig.units.sram.write_word(WINDOW + place, 5), "{place:#x}");
        assert_eq!(rig.units.sram.read_word(WINDOW + place), Some(5));
    }
    for place in [0x80, REQUESTS, MAILBOXES, 0x2080, 0x4000] {
        assert!(!rig.units.sram.write_word(WINDOW + place, 5), "{place:#x}");
        assert_eq!(rig.units.sram.read_word(WINDOW + place), None);
    }
    assert_eq!(rig.units.sram.device::<TestDevice>().unwrap().requests, 0);
}

#[test]
fn device_states_restore_only_into_matching_devices() {
    let mut first = rig(true);
    first.run_command(request(8), &[]);
    let states = first.units.sram.save_devices().unwrap();
    assert_eq!(states.len(), 2);
    let (mut second, like) = (rig(true), rig(true));
    second
        .units
        .sram
        .restore_devices(&like.units.sram, &states)
        .unwrap();
    assert_eq!(
        second.units.sram.device::<TestDevice>().unwrap().requests,
        1
    );
    assert!(
        (second.units.sram)
            .restore_devices(&like.units.sram, &states[..1])
            .is_err()
    );
    let crossed = [states[1].clone(), states[0].clone()];
    assert!(
        second
            .units
            .sram
            .restore_devices(&like.units.sram, &crossed)
            .is_err()
    );
    let bare = rig(false);
    assert!(
        second
            .units
            .sram
            .restore_devices(&bare.units.sram, &states)
            .is_err()
    );
}
