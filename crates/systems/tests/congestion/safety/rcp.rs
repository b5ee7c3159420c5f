//! RCP's counters, one set for each thread, during concurrent reads.

use npsim_protocols::rcp::counters::Counters;
use npsim_protocols::rcp::header::{self, RcpHeader};
use npsim_protocols::thread_counters::ThreadRecord;

use super::bench::ensure;
use super::packets::{Packet, Packets};
use super::quick_start::mix;
use npsim_testkit::microcode::Edit;

const PROTOCOL: u8 = 254;
const RATE: u32 = 6_250_000;

/// A mistake: two threads count in the same place.
const SHARED_SLOT: Edit = Edit {
    file: "lib/thread_counters.uc",
    from: "    thread_number(thread)\n    load_constant(address, memory)\n",
    to: "    thread_number(thread)\n    alu[thread, thread, AND~, 1]\n    load_constant(address, memory)\n",
};

fn packet(context: u32, index: u32) -> Packet {
    let draw = |which: u32| mix(context, index * 16 + which);
    let header = RcpHeader {
        rate: match draw(0) % 3 {
            0 => header::UNLIMITED,
            1 => draw(1),
            _ => draw(1) % (2 * RATE),
        },
        reverse_rate: draw(2),
        rtt: if draw(3) % 4 == 0 { 0 } else { draw(4) as u16 },
        protocol: 6,
        kind: (draw(5) % 9) as u8,
    };
    Packet {
        size: if draw(6) % 8 == 0 {
            u16::MAX
        } else {
            32 + (draw(6) % 1_468) as u16
        },
        protocol: PROTOCOL,
        header: header.to_bytes().to_vec(),
        gap: if draw(7) % 4 == 0 {
            (draw(8) % 64) as u16
        } else {
            0
        },
    }
}

/// The counters of a thread.
fn counters(packets: &Packets, thread: u32) -> Counters {
    let word = |word| packets.scratch("RCP_COUNTERS", 4 * thread + word);
    Counters {
        bytes: word(0),
        rtt_bytes: word(1),
        rtt_sum: u64::from(word(3)) << 32 | u64::from(word(2)),
    }
}

/// The counters of a thread before its first packet and after each packet.
fn course(list: &[Packet]) -> Vec<Counters> {
    let mut counters = Counters::default();
    let mut course = vec![counters];
    for packet in list {
        counters.arrive(
            packet.size,
            RcpHeader::from_bytes(&packet.header).unwrap().rtt,
        );
        course.push(counters);
    }
    course
}

/// Processes all packets; every read of a thread's counters finds their values after one of its
/// packets.
fn count(microengines: u32, room: u32, edits: &[Edit]) -> Result<(), String> {
    let mut packets = Packets::new(microengines, &[("RCP", 1)], edits, packet, room);
    packets.set_scratch("RCP_RATE", 0, RATE);
    let courses: Vec<Vec<Counters>> = packets.lists.iter().map(|list| course(list)).collect();
    let done = packets.run(|packets| {
        for (thread, course) in (0..).zip(&courses) {
            let found = counters(packets, thread);
            // The current packet may be counted but not yet noted.
            let seen = packets.seen[thread as usize];
            let right = course[seen..]
                .iter()
                .take(2)
                .any(|counters| *counters == found);
            ensure(right, || format!("thread {thread} after {seen}: {found:?}"))?;
        }
        Ok(())
    })?;
    let mut total = Counters::default();
    let mut expected = Counters::default();
    for (thread, course) in (0..).zip(&courses) {
        total.add(&counters(&packets, thread));
        expected.add(course.last().unwrap());
    }
    ensure(total == expected, || format!("{total:?}, not {expected:?}"))?;
    for (packet, done) in packets.lists.iter().flatten().zip(done.iter().flatten()) {
        let mut right = packet.header.clone();
        header::process(&mut right, RATE);
        ensure(done.header == right, || {
            format!("{:02x?} became {:02x?}", packet.header, done.header)
        })?;
    }
    Ok(())
}

#[test]
fn counters_are_exact_at_any_moment() {
    for (microengines, room) in [(1, 256), (8, 32), (16, 16)] {
        assert_eq!(count(microengines, room, &[]), Ok(()), "{microengines}");
    }
}

#[test]
fn shared_thread_counters_are_detected() {
    let what = count(8, 32, &[SHARED_SLOT]).unwrap_err();
    assert!(what.contains("thread"), "{what}");
}
