//! XCP's pools and sums, with contexts that use them concurrently.

use npsim_protocols::thread_counters::ThreadRecord;
use npsim_protocols::xcp::SECOND;
use npsim_protocols::xcp::feedback::{FeedbackPools, MAX_POOL, Sums};
use npsim_protocols::xcp::header::{DELTA_OFFSET, XcpHeader};
use npsim_protocols::xcp::scale::Factor;

use super::bench::{NO_LOCK, ensure};
use super::packets::{Done, Packet, Packets};
use super::quick_start::mix;
use npsim_testkit::microcode::Edit;

const PROTOCOL: u8 = 253;

/// Steps of 16 cycles within which all packets but the last are done, and after which every
/// microengine reads the phase again.
const LATE: u16 = 8_000;

/// Each packet takes the next number in its critical section, from an unused longword of the state.
const TICKETS: [Edit; 2] = [
    ticket("xcp/feedback_lock.uc"),
    ticket("xcp/feedback_thread_sums.uc"),
];

const fn ticket(file: &'static str) -> Edit {
    Edit {
        file,
        from: "    lock_release(",
        to: "    XCP_SPACE[test_and_incr, $ticket, state, 24], ctx_swap[ticketed]\n    lock_release(",
    }
}

/// A mistake: a pool is read and written in two commands.
const TORN: Edit = Edit {
    file: "xcp/banks.uc",
    from: "    alu[value, --, B, amount]
    space[test_and_sub, value, pool, offset], sig_done[done]
",
    to: ".begin
    .reg $nothing
    .sig torn_read torn_written
    space[read, value, pool, offset, 1], ctx_swap[torn_read]
    alu[value, value, -, amount]
    space[write, value, pool, offset, 1], ctx_swap[torn_written]
    immed[$nothing, 0]
    space[test_and_add, $nothing, pool, offset], sig_done[done]
    .end
",
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Lock,
    ThreadSums,
    Split,
    Shares,
}

impl Variant {
    const ALL: [Self; 4] = [Self::Lock, Self::ThreadSums, Self::Split, Self::Shares];

    const fn define(self) -> &'static str {
        match self {
            Self::Lock => "XCP_LOCK",
            Self::ThreadSums => "XCP_THREAD_SUMS",
            Self::Split => "XCP_SPLIT",
            Self::Shares => "XCP_SHARES",
        }
    }

    const fn locked(self) -> bool {
        matches!(self, Self::Lock | Self::ThreadSums)
    }

    /// Where residues, mantissas and shifts are in the state.
    const fn words(self) -> [u32; 5] {
        if self.locked() {
            [0, 1, 2, 3, 4]
        } else {
            [8, 9, 1, 2, 3]
        }
    }
}

/// Packets of all kinds: most with times and requests as in a network, some with arbitrary
/// requests.
fn packet(context: u32, index: u32) -> Packet {
    let draw = |which: u32| mix(context, index * 16 + which);
    let odd = draw(0) % 8 == 0;
    let delta = match draw(1) % 4 {
        _ if odd => draw(2) as i32,
        0 => (draw(2) % 3_000) as i32 - 1_500,
        1 => i32::MAX,
        _ => (draw(2) % 20_000) as i32,
    };
    // Requests far below the packet's share would fill the positive pool.
    let delta = delta.max(-40_000);
    let header = XcpHeader {
        protocol: 6,
        length: 20,
        version: 3,
        format: if draw(3) % 16 == 0 { 2 } else { 1 },
        unused: 0,
        x: if odd { draw(4) } else { draw(4) % 100_000 },
        rtt: if odd { draw(5) } else { draw(5) % (SECOND / 4) },
        reverse_feedback: draw(6) as i32,
        delta_throughput: delta,
    };
    Packet {
        size: 40 + (draw(7) % 1_460) as u16,
        protocol: PROTOCOL,
        header: header.to_bytes().to_vec(),
        gap: if context.is_multiple_of(3) {
            (draw(8) % 64) as u16
        } else {
            0
        },
    }
}

/// Pools that are used up before all packets have arrived.
fn pools() -> FeedbackPools {
    FeedbackPools {
        residue_pos: 3_000_000,
        residue_neg: 400_000,
        cp: Factor {
            mantissa: 1_599_987_816,
            shift: 34,
        },
        cn: Factor {
            mantissa: 2_147_483_476,
            shift: 31,
        },
    }
}

/// The contents of the pools; without a lock, of both banks.
fn residues(packets: &Packets, variant: Variant) -> Vec<u32> {
    let words = if variant.locked() { 0..2 } else { 8..12 };
    words
        .map(|word| packets.scratch("XCP_STATE", word))
        .collect()
}

/// The sums: those of the state, or of all threads together.
fn sums(packets: &Packets, variant: Variant) -> Sums {
    let at = |name: &str, first: u32| {
        let word = |word| packets.scratch(name, first + word);
        let wide = |low| u64::from(word(low + 1)) << 32 | u64::from(word(low));
        Sums {
            input_traffic: word(0),
            sum_x: wide(1),
            sum_xrtt: wide(3),
        }
    };
    if variant == Variant::Lock {
        return at("XCP_STATE", 8);
    }
    let mut all = Sums::default();
    for thread in 0..packets.lists.len() as u32 {
        all.add(&at("XCP_SUMS", 8 * thread));
    }
    all
}

/// Processes all packets, with checks during the run and at the end.
fn exchange(
    variant: Variant,
    microengines: u32,
    room: u32,
    pools: FeedbackPools,
    edits: &[Edit],
) -> Result<(), String> {
    let mut defines = vec![("XCP", 1), (variant.define(), 1)];
    let mut all_edits = edits.to_vec();
    if variant.locked() {
        defines.push(("TICKETS", 1));
        all_edits.extend(TICKETS);
    }
    // The last packets arrive after all others are done and find the other bank empty; they add
    // nothing to it.
    let last = |context, index| {
        let mut packet = packet(context, index);
        if !variant.locked() && index == room - 1 {
            packet.gap = LATE;
            packet.header[DELTA_OFFSET] &= 0x7f;
        }
        packet
    };
    let mut packets = Packets::new(microengines, &defines, &all_edits, last, room);
    let values = [
        pools.residue_pos,
        pools.residue_neg,
        pools.cp.mantissa,
        pools.cn.mantissa,
        u32::from(pools.cn.shift) << 8 | u32::from(pools.cp.shift),
    ];
    for (word, value) in variant.words().into_iter().zip(values) {
        packets.set_scratch("XCP_STATE", word, value);
    }
    // The sums of the state start near their wrap.
    let before = if variant == Variant::Lock {
        for word in 8..13 {
            packets.set_scratch("XCP_STATE", word, u32::MAX - 1_000);
        }
        sums(&packets, variant)
    } else {
        Sums::default()
    };
    // Failed subtractions, at most two per context.
    let transient = 2 * i64::from(microengines) * 8 * (1 << 23);
    let mut first_bank = true;
    let done = packets.run(|packets| {
        let late = room as usize - 1;
        if !variant.locked() && first_bank && packets.seen.iter().all(|seen| *seen >= late) {
            let early = packets.seen.iter().any(|seen| *seen > late);
            ensure(!early, || "the last packets came too early".into())?;
            packets.set_scratch("XCP_STATE", 0, 1);
            first_bank = false;
        }
        for residue in residues(packets, variant) {
            let holds = if variant.locked() {
                residue <= MAX_POOL
            } else {
                i64::from(residue.cast_signed()) >= -transient
            };
            ensure(holds, || format!("a pool is at {residue:#x}"))?;
        }
        Ok(())
    })?;

    let mut expected = before;
    for packet in packets.lists.iter().flatten() {
        let header = XcpHeader::from_bytes(&packet.header);
        expected.arrive(packet.size, header.as_ref(), SECOND);
    }
    let found = sums(&packets, variant);
    ensure(found == expected, || format!("{found:?}, not {expected:?}"))?;

    let left = residues(&packets, variant);
    let left = left.as_slice();
    if variant.locked() {
        ensure(packets.scratch("XCP_STATE", 5) & 1 == 0, || {
            "the lock was left".into()
        })?;
        check_replay(&packets, &done, variant, pools, left)
    } else {
        check_conservation(&packets, &done, pools, left)
    }
}

/// Under a lock: each packet gets what the law gives, packet by packet.
fn check_replay(
    packets: &Packets,
    done: &[Vec<Done>],
    variant: Variant,
    mut pools: FeedbackPools,
    left: &[u32],
) -> Result<(), String> {
    let all = packets.lists.iter().flatten().zip(done.iter().flatten());
    // Packets without a request need the lock only if it also protects the sums.
    let (mut order, others): (Vec<_>, Vec<_>) = all.partition(|(packet, _)| {
        let header = XcpHeader::from_bytes(&packet.header).unwrap();
        variant == Variant::Lock || header.accepts_feedback()
    });
    let unchanged = others
        .iter()
        .all(|(packet, done)| packet.header == done.header);
    ensure(unchanged, || {
        "a packet without a request was changed".into()
    })?;
    order.sort_by_key(|(_, done)| done.ticket);
    for (number, (packet, done)) in (0..).zip(order) {
        ensure(done.ticket == number, || {
            format!("{} is not {number}", done.ticket)
        })?;
        let mut header = packet.header.clone();
        pools.process(&mut header, packet.size);
        ensure(header == done.header, || {
            format!("packet {number}: {:02x?}, not {header:02x?}", done.header)
        })?;
    }
    let right = [pools.residue_pos, pools.residue_neg];
    ensure(left == right, || format!("{left:?} is left, not {right:?}"))?;
    let [_, _, cp, cn, _] = variant
        .words()
        .map(|word| packets.scratch("XCP_STATE", word));
    ensure([cp, cn] == [pools.cp.mantissa, pools.cn.mantissa], || {
        format!("scales {cp} and {cn}, not {pools:?}")
    })
}

/// Without a lock: the feedback given and the rest in both banks add up to the initial amount;
/// microengines with shares of the first bank have returned them.
fn check_conservation(
    packets: &Packets,
    done: &[Vec<Done>],
    pools: FeedbackPools,
    left: &[u32],
) -> Result<(), String> {
    let mut given = 0;
    for (packet, done) in packets.lists.iter().flatten().zip(done.iter().flatten()) {
        let asked = XcpHeader::from_bytes(&packet.header).unwrap();
        let got = XcpHeader::from_bytes(&done.header).unwrap();
        let most = if asked.accepts_feedback() {
            given += i64::from(got.delta_throughput);
            asked.delta_throughput
        } else {
            got.delta_throughput.min(asked.delta_throughput)
        };
        let right = XcpHeader {
            delta_throughput: got.delta_throughput,
            ..asked
        };
        ensure(got == right && got.delta_throughput <= most, || {
            format!("{asked:?} became {got:?}")
        })?;
    }
    let held = |pool: u32| i64::from(pool.cast_signed());
    ensure(left.iter().all(|&pool| held(pool) >= 0), || {
        format!("{left:?} is left")
    })?;
    let before = held(pools.residue_pos) - held(pools.residue_neg);
    let after = held(left[0]) - held(left[1]) + held(left[2]) - held(left[3]);
    ensure(before == after + given, || {
        format!("{before} before, {given} given, {after} left")
    })
}

#[test]
fn pools_and_sums_are_exact_under_concurrency() {
    let ample = FeedbackPools {
        residue_pos: 1_000_000_000,
        residue_neg: 1_000_000_000,
        ..pools()
    };
    for variant in Variant::ALL {
        for (microengines, room) in [(1, 64), (8, 16), (16, 8)] {
            for pools in [pools(), ample] {
                let what = exchange(variant, microengines, room, pools, &[]);
                assert_eq!(what, Ok(()), "{variant:?}, {microengines}, {pools:?}");
            }
        }
    }
}

#[test]
fn missing_xcp_lock_is_detected() {
    for variant in [Variant::Lock, Variant::ThreadSums] {
        let what = exchange(variant, 8, 16, pools(), &[NO_LOCK]).unwrap_err();
        // Two packets have the same number, or the count differs from the arrivals.
        assert!(
            what.contains(", not ") || what.contains(" is not "),
            "{variant:?}: {what}"
        );
    }
}

#[test]
fn non_atomic_subtraction_is_detected() {
    let what = exchange(Variant::Split, 8, 16, pools(), &[TORN]).unwrap_err();
    assert!(what.contains("given") || what.contains("left"), "{what}");
}
