use crate::quick_start::GrantPool;
use crate::xcp::{Factor, FeedbackPools};

use super::*;

fn device() -> Coprocessor {
    let mut device = Coprocessor::new(Attachment {
        name: "FEEDBACK".into(),
        channel: 1,
        address: 0x10_0000,
        bytes: WINDOW_BYTES,
    });
    device.prepare(&Profile::load("ixp2400").unwrap());
    device
}

/// An endless reproducible sequence of longwords.
fn numbers() -> impl FnMut() -> u32 {
    let mut state = 1u32;
    move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    }
}

#[test]
fn rate_grants_match_the_model() {
    let mut device = device();
    let mut number = numbers();
    for group in 0..GROUPS {
        let place = u32::from(group) * 8;
        for phase in [0, 8] {
            let limit = number() >> 12;
            let mut pool = GrantPool {
                limit: limit as i32,
                granted: (number() >> 20) as i32,
            };
            let counter = place + 2 + phase / 4;
            for (at, word) in [
                (place, limit),
                (place + 1, phase),
                (counter, pool.granted as u32),
            ] {
                assert!(device.set_register(at, word));
            }
            let other = device.register(place + 4 - phase / 4);
            for _ in 0..200 {
                let code = (number() & 15) as u8;
                let (grant, _) = device.quick_start.request(0, 0, group, code);
                assert_eq!(grant, u32::from(pool.grant(code)));
                assert_eq!(device.register(counter), Some(pool.granted as u32));
            }
            assert_eq!(device.register(place + 4 - phase / 4), other);
        }
    }
    let counts = device.quick_start.counts;
    assert_eq!(counts.requests, 16 * 2 * 200);
    assert_eq!(
        counts.granted + counts.reduced + counts.denied,
        counts.requests
    );
    assert!(counts.granted > 0 && counts.reduced > 0 && counts.denied > 0);
}

#[test]
fn negative_limit_denies_every_request() {
    let mut device = device();
    device.set_register(0, (-5i32) as u32);
    assert_eq!(device.quick_start.request(0, 0, 0, 1).0, 0);
    // More was returned than granted: there is room again.
    device.set_register(2, (-100i32) as u32);
    assert_eq!(
        device.quick_start.request(0, 0, 0, 15).0,
        6,
        "64 of 95 units"
    );
}

#[test]
fn xcp_feedback_matches_the_model() {
    let mut device = device();
    let mut number = numbers();
    for group in 0..u32::from(GROUPS) {
        let place = XCP / 4 + group * 16;
        let scale = |mantissa: u32, shift: u32| Factor {
            mantissa: mantissa & 0x3fff_ffff | 1 << 30,
            shift: (shift % 63) as u8,
        };
        let mut pools = FeedbackPools {
            residue_pos: number() >> 8,
            residue_neg: number() >> 8,
            cp: scale(number(), 30 + (number() & 7)),
            cn: scale(number(), 26 + (number() & 7)),
        };
        let words = |pools: &FeedbackPools| {
            [
                pools.residue_pos,
                pools.residue_neg,
                pools.cp.mantissa,
                pools.cn.mantissa,
                u32::from(pools.cn.shift) << 8 | u32::from(pools.cp.shift),
            ]
        };
        for (at, word) in (place..).zip(words(&pools)) {
            assert!(device.set_register(at, word));
        }
        for round in 0..200u8 {
            let (x, size) = (number() >> 14, (number() & 0x7ff) as u16);
            let delta = number() as i32 >> 16;
            let mailbox = round % 64;
            let request = [group, x, u32::from(size), delta as u32];
            device.xcp.request(0, 0, mailbox, request).unwrap();
            let expected = pools.depart(x, size, delta).delta;
            assert_eq!(device.xcp.answer(mailbox), Ok(expected as u32));
            let registers = (place..place + 5).map(|at| device.register(at).unwrap());
            assert!(registers.eq(words(&pools)));
        }
    }
    let counts = device.xcp.counts;
    assert_eq!(counts.requests, 16 * 200);
    assert_eq!(counts.passed + counts.reduced, counts.requests);
    assert!(counts.passed > 0 && counts.reduced > 0);
}

#[test]
fn arbitrary_register_contents_are_safe() {
    let mut device = device();
    for at in XCP / 4..XCP / 4 + 5 {
        device.set_register(at, u32::MAX);
    }
    // Both pools are negative and count as empty.
    let request = [0, u32::MAX, u32::MAX, 1000];
    device.xcp.request(0, 0, 0, request).unwrap();
    assert_eq!(device.xcp.answer(0), Ok(0));
    let refusal = device.xcp.request(0, 0, 0, [16, 0, 0, 0]).unwrap_err();
    assert!(refusal.contains("group 16"), "{refusal}");
    device.set_register(1, u32::MAX);
    assert_eq!(device.quick_start.request(0, 0, 0, 15).0, 0);
    assert_eq!(device.quick_start.request(0, 0, 99, 15).0, 0);
}

#[test]
fn modules_have_separate_clocks() {
    let mut device = device();
    device.set_register(0, 1 << 20);
    // After cycle 10, the next edges are at 10.8 and 12, with periods of 3.6
    // and 12 cycles.
    assert_eq!(device.quick_start.request(10, 10, 0, 1), (1, 15), "14.4");
    assert_eq!(device.xcp.request(10, 4, 5, [0; 4]), Ok(24));
    let free_at = |writes, byte: u32, count| {
        let place = byte / 4;
        device.free_at(WindowRequest {
            writes,
            place,
            count,
        })
    };
    assert_eq!(free_at(false, MAILBOXES + 16 * 5, 1), 24);
    assert_eq!(free_at(false, MAILBOXES + 16 * 6, 1), 0);
    assert_eq!(free_at(false, REQUESTS + 4, 1), 11);
    assert_eq!(free_at(true, MAILBOXES + 16 * 9, 4), 13);
    assert_eq!(free_at(false, 0, 4), 0);
    assert_eq!(device.quick_start.module.busy(1), 3);
    assert_eq!(device.quick_start.module.waiting(), 0, "0.8 cycles");
    assert_eq!(
        device.xcp.module.waiting(),
        8,
        "6 in the channel, 2 for the edge"
    );
    assert_eq!(
        device.summary(1000),
        [
            "FEEDBACK on sram1: 1 Quick-Start requests, granted 1, reduced 0, denied 0; busy 0.3%, mean wait 0 cycles",
            "FEEDBACK on sram1: 1 XCP requests, passed 1, reduced 0; busy 1.2%, mean wait 8 cycles",
        ]
    );
}

#[test]
fn summary_of_an_unused_device() {
    assert_eq!(device().summary(1000), ["FEEDBACK on sram1: no requests"]);
}

#[test]
fn register_window_matches_its_documented_layout() {
    let device = device();
    let access = |writes, byte: u32, count| {
        let place = byte / 4;
        device.access(WindowRequest {
            writes,
            place,
            count,
        })
    };
    let read = |byte: u32, count| access(false, byte, count);
    let write = |byte: u32, count| access(true, byte, count);
    assert_eq!(read(0, 16), Ok(WindowAccess::Registers(0)));
    assert_eq!(read(0x7fc, 1), Ok(WindowAccess::Registers(0x1ff)));
    let request = |group, code| Ok(WindowAccess::QuickStart { group, code });
    assert_eq!(read(0x800, 1), request(0, 0));
    assert_eq!(read(0x800 + 64 * 3 + 4 * 8, 1), request(3, 8));
    assert_eq!(read(0xbfc, 1), request(15, 15));
    assert_eq!(write(0x1000 + 16 * 63, 4), Ok(WindowAccess::XcpRequest(63)));
    assert_eq!(read(0x1010, 1), Ok(WindowAccess::XcpAnswer(1)));
    assert_eq!(write(0x20, 4), Ok(WindowAccess::Registers(8)));
    assert_eq!(
        write(0x400 + 64 * 15, 5),
        Ok(WindowAccess::Registers(0x1f0))
    );
    for (writes, byte, count, reason) in [
        (false, 0x7fc, 2, "nothing is there"),
        (false, 0x800, 2, "exactly one longword"),
        (false, 0xc00, 1, "nothing is there"),
        (false, 0x1004, 1, "read at its beginning"),
        (false, 0x1000, 4, "read at its beginning"),
        (false, 0x1400, 1, "the 64 XCP mailboxes"),
        (true, 0x14, 1, "not all of these longwords are registers"),
        (true, 0, 6, "not all of these longwords are registers"),
        (true, 0x200, 1, "not all of these longwords are registers"),
        (true, 0x414, 1, "not all of these longwords are registers"),
        (true, 0x804, 1, "a Quick-Start request is a read"),
        (true, 0x1000, 3, "an XCP request is four longwords"),
        (true, 0x1004, 4, "an XCP request is four longwords"),
        (true, 0x1ff0, 4, "nothing is there"),
    ] {
        let refusal = access(writes, byte, count).unwrap_err();
        assert!(refusal.contains(reason), "{byte:#x}: {refusal}");
    }
}

#[test]
fn window_address_must_follow_the_memory() {
    let check = |address, memory| Attachment::check_address(address, WINDOW_BYTES, memory);
    let first = Attachment::first_address(WINDOW_BYTES, 0x3000);
    assert_eq!(first, 0x4000);
    assert_eq!(check(first, 0x3000), Ok(()));
    assert_eq!(check(0x3fff_e000, 0x3000), Ok(()));
    for (address, reason) in [
        (0x3000, "not a multiple of 0x2000"),
        (0x2000, "lies in the channel's memory"),
        (0x4000_0000, "as far as bits 29-0 of an address reach"),
        (u64::MAX - 0x1fff, "as far as bits 29-0 of an address reach"),
    ] {
        let refusal = check(address, 0x3000).unwrap_err();
        assert!(refusal.contains(reason), "{address:#x}: {refusal}");
    }
}
