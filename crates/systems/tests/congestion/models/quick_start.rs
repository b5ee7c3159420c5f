//! Quick-Start: `microcode/quick-start`.

use npsim_protocols::quick_start::option::{APPROVED_RATE, LENGTH};
use npsim_protocols::quick_start::{
    GrantPool, QuickStartOption, RequestOutcome, SlowPathReason, process, rate_units,
};

use super::driver::{
    Memory, Packet, STATE, State, Variant, Verdict, before, compare, expect_detected,
};
use super::packets::{self, EXCEPTION_BAD_OPTION, EXCEPTION_OPTIONS, EXCEPTION_TTL, is_right};
use super::random::Random;
use npsim_testkit::microcode::Edit;

const RANDOM_WORD: u32 = 0xdead_beef;

/// Longwords of the shared state of a group, and from one to the next.
const LIMIT: usize = 0;
const PHASE: usize = 1;
const GRANTED: usize = 2;
const GROUP: usize = 8;
/// The value of PHASE in windows of the second counter: its distance in bytes.
const SECOND_PHASE: u32 = 8;

const PACKETS: u32 = 100_000;

const STATE_OF_ONE: Memory = Memory {
    name: "QS_STATE",
    space: "scratch",
    parts: &[(0, 5)],
};

const STATE_OF_PORTS: Memory = Memory {
    parts: &[(0, 5), (GROUP, 5)],
    ..STATE_OF_ONE
};

const LOCK: Variant = Variant {
    name: "Quick-Start under a lock",
    defines: &["QUICK_START", "QUICK_START_LOCK"],
    state: STATE_OF_ONE,
    counts: None,
    edit: None,
};

const LOCK_IN_SRAM: Variant = Variant {
    name: "Quick-Start under a lock in SRAM",
    defines: &["QUICK_START", "QUICK_START_LOCK", "QS_SPACE=sram"],
    state: Memory {
        space: "sram1",
        ..STATE_OF_ONE
    },
    ..LOCK
};

const ATOMIC: Variant = Variant {
    name: "Quick-Start by atomic operations",
    defines: &["QUICK_START", "QUICK_START_ATOMIC"],
    ..LOCK
};

const COPROCESSOR: Variant = Variant {
    name: "Quick-Start by the coprocessor",
    defines: &["QUICK_START", "QUICK_START_COPROCESSOR"],
    state: Memory {
        name: "FEEDBACK",
        space: "sram1",
        ..STATE_OF_ONE
    },
    ..LOCK
};

/// The variants with a group for each port.
const PER_PORT: [Variant; 3] = [
    Variant {
        name: "Quick-Start under a lock by port",
        defines: &["QUICK_START", "QUICK_START_LOCK", "QUICK_START_PER_PORT"],
        state: STATE_OF_PORTS,
        ..LOCK
    },
    Variant {
        name: "Quick-Start by atomic operations by port",
        defines: &["QUICK_START", "QUICK_START_ATOMIC", "QUICK_START_PER_PORT"],
        state: STATE_OF_PORTS,
        ..LOCK
    },
    Variant {
        name: "Quick-Start by the coprocessor by port",
        defines: &[
            "QUICK_START",
            "QUICK_START_COPROCESSOR",
            "QUICK_START_PER_PORT",
        ],
        state: Memory {
            parts: STATE_OF_PORTS.parts,
            ..COPROCESSOR.state
        },
        ..LOCK
    },
];

fn option(random: &mut Random) -> [u8; LENGTH] {
    let word = random.word();
    let option = QuickStartOption {
        function: match random.below(10) {
            0 => APPROVED_RATE,
            1 => random.byte() & 0xf,
            _ => 0,
        },
        rate: random.byte() & 0xf,
        ttl: random.byte_or(&[0, 1, 255]),
        nonce: word >> 2,
        reserved: (word & 3) as u8,
    };
    let mut bytes = option.to_bytes();
    if random.once_in(16) {
        bytes[1] = random.one_of(&[0, 1, 2, 4, 6, 7, 9, 10, 16, 40, 255]);
    }
    bytes
}

/// Another option, with a valid length or one that does not fit.
fn other(random: &mut Random) -> Vec<u8> {
    let length = 2 + random.below(9) as u8;
    let mut option = vec![random.one_of(&[7, 68, 130, 131, 148, 24, 26, 255]), length];
    option.extend((2..length).map(|_| random.byte_or(&[0, 1, 25, 8])));
    if random.once_in(16) {
        option[1] = random.one_of(&[0, 1, 2, 39, 40, 255]);
    }
    option
}

/// Options: a request anywhere among others, none, or anything.
fn options(random: &mut Random) -> Vec<u8> {
    let mut options = Vec::new();
    if random.once_in(12) {
        let length = random.below(41);
        options.extend((0..length).map(|_| random.byte_or(&[0, 1, 25, 8])));
    } else {
        for _ in 0..random.below(4) {
            match random.below(4) {
                0 => options.extend(other(random)),
                _ => options.resize(options.len() + 1 + random.below(3) as usize, 1),
            }
        }
        if !random.once_in(10) {
            options.extend(option(random));
        }
        match random.below(5) {
            0 => options.extend(other(random)),
            1 => options.extend(option(random)),
            2 => options.push(0),
            _ => {}
        }
    }
    options.truncate(40);
    let padding = random.one_of(&[0, 0, 1, 25]);
    options.resize(options.len().next_multiple_of(4), padding);
    options
}

/// A window of each group.
fn state(random: &mut Random) -> State {
    let mut state = [0; STATE];
    for group in state[..2 * GROUP].chunks_mut(GROUP) {
        window(random, group);
    }
    state
}

/// A window with little, much or no room.
fn window(random: &mut Random, state: &mut [u32]) {
    let limit = match random.below(4) {
        0 => 25_000,
        1 => random.below(70_000) as i32,
        2 => -(random.below(1_000_000) as i32),
        _ => random.of_any_size() as i32 >> 2,
    };
    state[LIMIT] = limit as u32;
    state[PHASE] = random.one_of(&[0, SECOND_PHASE]);
    // The remaining room is close to a rate, or arbitrary.
    let room = if random.once_in(4) {
        random.below(100_000) as i32 - 30_000
    } else {
        rate_units(random.byte()) + random.below(5) as i32 - 2
    };
    state[GRANTED] = random.below(1_000);
    state[GRANTED + SECOND_PHASE as usize / 4] = random.below(1_000);
    state[GRANTED + state[PHASE] as usize / 4] = limit.wrapping_sub(room) as u32;
}

fn traffic(seed: u64, count: u32) -> Vec<Packet> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|number| {
            let state = (number == 0 || random.once_in(4)).then(|| state(&mut random));
            let options = options(&mut random);
            let behind = random.below(1_400) as u16;
            let payload: [u8; 8] = std::array::from_fn(|_| random.byte());
            packets::packet(&mut random, 6, &options, &payload, behind, state)
        })
        .collect()
}

/// The model of groups that share all ports.
fn model(bytes: &mut [u8], state: &mut State, _port: u32) -> Verdict {
    of_group(bytes, &mut state[..GROUP])
}

/// The model of groups that are one port each.
fn per_port(bytes: &mut [u8], state: &mut State, port: u32) -> Verdict {
    of_group(bytes, &mut state[GROUP * port as usize..])
}

fn of_group(bytes: &mut [u8], state: &mut [u32]) -> Verdict {
    if !is_right(bytes) {
        return Verdict::Dropped;
    }
    let length = packets::header(bytes).len();
    let counter = GRANTED + state[PHASE] as usize / 4;
    let mut pool = GrantPool {
        limit: state[LIMIT] as i32,
        granted: state[counter] as i32,
    };
    let outcome = process(&mut bytes[..length], &mut pool, RANDOM_WORD);
    state[counter] = pool.granted as u32;
    match outcome {
        RequestOutcome::SlowPath(SlowPathReason::Ttl) => Verdict::Exception(EXCEPTION_TTL),
        RequestOutcome::SlowPath(SlowPathReason::Option) => {
            Verdict::Exception(EXCEPTION_BAD_OPTION)
        }
        RequestOutcome::NoOption if length > 20 => Verdict::Exception(EXCEPTION_OPTIONS),
        RequestOutcome::NoOption if bytes[8] <= 1 => Verdict::Exception(EXCEPTION_TTL),
        RequestOutcome::NoOption => {
            packets::forward(bytes);
            Verdict::Forwarded
        }
        _ => Verdict::Forwarded,
    }
}

#[test]
fn quick_start_with_a_lock_matches_the_model() {
    let packets = traffic(1, PACKETS);
    compare(&LOCK, &packets, &mut model).unwrap_or_else(|error| panic!("{error}"));
    let some = &packets[..8_000];
    compare(&LOCK_IN_SRAM, some, &mut model).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn quick_start_with_atomic_operations_matches_the_model() {
    let packets = traffic(2, PACKETS);
    compare(&ATOMIC, &packets, &mut model).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn quick_start_with_the_coprocessor_matches_the_model() {
    let packets = traffic(6, PACKETS / 2);
    compare(&COPROCESSOR, &packets, &mut model).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn quick_start_per_port_matches_the_model() {
    let packets = traffic(7, PACKETS / 10);
    for variant in &PER_PORT {
        compare(variant, &packets, &mut per_port).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn quick_start_mutants_are_detected() {
    let packets = traffic(1, 8_000);
    let edit = |file, from, to| Edit { file, from, to };
    for edit in [
        edit(
            "quick-start/rate.uc",
            "alu[--, left, -, 2]",
            "alu[--, left, -, 4]",
        ),
        edit(
            "quick-start/quick_start.uc",
            "immed[four, 4]",
            "immed[four, 8]",
        ),
        edit(
            "quick-start/quick_start.uc",
            "alu[bits, first, -, 1]",
            "alu[bits, first, -, 0]",
        ),
        edit(
            "quick-start/options.uc",
            "alu[--, size, -, 2]",
            "alu[--, size, -, 1]",
        ),
        edit("quick-start/options.uc", "    bhs[look#]", "    br[look#]"),
        edit(
            "lib/checksum.uc",
            "alu[sum, sum, +, complement]\n    alu[sum, sum, +carry, 0]",
            "alu[sum, sum, +, complement]",
        ),
    ] {
        expect_detected(&LOCK, edit, &packets, &mut model);
    }
}

/// Every outcome occurs often among the packets.
#[test]
fn generated_quick_start_packets_cover_all_outcomes() {
    let mut counts = std::collections::HashMap::new();
    let mut kept = [0; STATE];
    for packet in traffic(1, 20_000) {
        kept = before(&packet, &kept);
        let mut pool = GrantPool {
            limit: kept[LIMIT] as i32,
            granted: kept[GRANTED + kept[PHASE] as usize / 4] as i32,
        };
        let mut bytes = packet.frame[14..].to_vec();
        let length = packets::header(&bytes).len();
        let outcome = process(&mut bytes[..length], &mut pool, 0);
        *counts.entry(outcome).or_insert(0) += 1;
    }
    for outcome in [
        RequestOutcome::Approve,
        RequestOutcome::Reduce,
        RequestOutcome::Deny,
        RequestOutcome::Forward,
        RequestOutcome::NoOption,
        RequestOutcome::SlowPath(SlowPathReason::Ttl),
        RequestOutcome::SlowPath(SlowPathReason::Option),
    ] {
        assert!(
            counts.get(&outcome).is_some_and(|count| *count > 300),
            "{counts:?}"
        );
    }
}
