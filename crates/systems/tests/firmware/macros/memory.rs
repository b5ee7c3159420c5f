//! `route.uc` and `buffer.uc`.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::bench::{Program, Words, few_runs, results_and_run};

/// Address, length and port; prefixes are nested or disjoint.
const ROUTES: [(u32, u32, u32); 12] = [
    (0x0a00_0000, 8, 1),
    (0x0a01_0000, 16, 2),
    (0x0a01_0200, 24, 0),
    (0x0a01_0280, 25, 1),
    (0x0a01_02ff, 32, 2),
    (0x0a01_8000, 17, 1),
    (0x0a02_4000, 18, 0),
    (0xc0a8_0000, 13, 2),
    (0xc0a8_0180, 26, 1),
    (0xac10_0000, 12, 0),
    (0xac1f_fffe, 31, 2),
    (0x0b00_0000, 9, 1),
];

/// The port of the longest prefix that matches.
fn scan(address: u32) -> Option<u32> {
    ROUTES
        .iter()
        .filter(|(prefix, length, _)| (prefix ^ address) >> (32 - length) == 0)
        .max_by_key(|(_, length, _)| length)
        .map(|(_, _, port)| *port)
}

fn address() -> impl Strategy<Value = u32> {
    let near = (
        prop::sample::select(ROUTES.to_vec()),
        any::<u32>(),
        -2_i32..=2,
    );
    prop_oneof![
        1 => any::<u32>(),
        4 => near.prop_map(|((prefix, length, _), host, off)| {
            let host = host.checked_shr(length).unwrap_or(0);
            (prefix | host).wrapping_add_signed(off)
        }),
        2 => (prop::sample::select(ROUTES.to_vec()), -2_i32..=2)
            .prop_map(|((prefix, _, _), off)| prefix.wrapping_add_signed(off)),
    ]
}

fn project() -> String {
    let routes = ROUTES.map(|(prefix, length, port)| {
        let [a, b, c, d] = prefix.to_be_bytes();
        format!("[[route]]\nprefix = \"{a}.{b}.{c}.{d}/{length}\"\nport = {port}\nmac = \"02:00:5e:10:00:0{port}\"\nmtu = 1500\n")
    });
    let port = "[[port]]\nrate = \"1Gbps\"\n".repeat(3);
    format!(
        "{port}[routes]\nchannel = 1\n{}[gpp]\ntasks = [\"routes\"]\n",
        routes.concat()
    )
}

proptest! {
    #![proptest_config(few_runs())]

    #[test]
    fn lookup_finds_the_longest_prefix(addresses in prop::collection::vec(address(), 2000)) {
        let cases: Vec<Words> = addresses.iter().map(|address| [*address; 8]).collect();
        let project = project();
        let program = Program { project: &project, ..Program::new("route") };
        let (got, run) = results_and_run(&program, &cases);
        let hops = run.value("NEXT_HOPS");
        for (address, [hop, ..]) in addresses.into_iter().zip(got) {
            let entry = run.chip.units().sram.read_word(hops + 16 * hop).unwrap();
            prop_assert_eq!((hop != 0).then_some(entry & 0xff), scan(address), "{:#010x}", address);
        }
    }

    #[test]
    fn allocated_buffers_are_distinct_and_do_not_overlap(keep in prop::collection::vec(prop::bool::weighted(0.4), 60)) {
        const COUNT: usize = 20;
        let project = "[[queue]]\nname = \"FREE_BUFFERS\"\nchannel = 0\nentry = 5\n\
            [buffers]\ncount = 20\nsize = 2048\ndescriptor = 8\nqueue = \"FREE_BUFFERS\"\n";
        let program = Program { project, ..Program::new("buffer") };
        let cases: Vec<Words> = keep.iter().map(|keep| [u32::from(!keep); 8]).collect();
        let (got, run) = results_and_run(&program, &cases);
        let shift = run.value("BUFFER_SHIFT");
        let mut kept = BTreeSet::new();
        for (keep, [handle, address, ..]) in keep.into_iter().zip(got) {
            if kept.len() == COUNT {
                prop_assert_eq!(handle, 0, "all are gone");
                continue;
            }
            prop_assert!(handle != 0 && !kept.contains(&handle));
            prop_assert_eq!(address, handle << shift);
            prop_assert!(kept.iter().all(|other: &u32| (other << shift).abs_diff(address) >= 2048));
            if keep {
                kept.insert(handle);
            }
        }
        let free = run.chip.units().sram.entry(0, 5).unwrap().count();
        prop_assert_eq!(free as usize + kept.len(), COUNT);
    }
}
