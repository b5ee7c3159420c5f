//! Checksums that only exact one's complement arithmetic updates correctly: a decremented time to
//! live, in every router. Requests whose words change are in `quick_start.rs`.

use super::bench::{Bench, Fate, packet};

const PROJECTS: [&str; 5] = [
    "router",
    "quick-start/lock.toml",
    "xcp/lock.toml",
    "xcp/split.toml",
    "rcp",
];

/// C1, C8, and the same packet with 0 and 0x0100 before.
#[rustfmt::skip]
const VECTORS: [[&str; 2]; 4] = [
    ["4500003c1c46400040069c5dc0a80001c0a800c7",
     "4500003c1c4640003f069d5dc0a80001c0a800c7"],
    ["4500002827cd40004006feff0a0000010a010002",
     "4500002827cd40003f0600000a0000010a010002"],
    ["4500002826cd4000400600000a0000010a010002",
     "4500002826cd40003f0601000a0000010a010002"],
    ["4500002825cd4000400601000a0000010a010002",
     "4500002825cd40003f0602000a0000010a010002"],
];

#[test]
fn checksum_is_correct_after_every_router() {
    for project in PROJECTS {
        let mut bench = Bench::new(project, &[]);
        for [sent, out] in VECTORS {
            let expected = Fate::Left(1, packet(out));
            let fates = bench.pass(&[packet(sent)]);
            assert_eq!(fates, [expected], "{project} {sent}");
        }
    }
}
