//! Chains of equal routers as networks.

use std::path::{Path, PathBuf};

use npsim_network_file::chain::chain;
use npsim_network_file::file::NetworkFile;
use npsim_project::problem::Problems;
use npsim_project::{Overrides, Setting};
use npsim_transport::time::{MICROSECOND, MILLISECOND};

use crate::interfaces::{A, B, PORT, datagram, network_of, out, through_routers, udp};

fn project(name: &str) -> PathBuf {
    let microcode = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode");
    microcode.join(name)
}

fn chain_with(name: &str, routers: usize, set: &[&str]) -> Result<NetworkFile, Problems> {
    let settings = set.iter().map(|it| it.parse::<Setting>());
    let overrides = Overrides {
        set: settings.collect::<Result<_, _>>().expect("settings"),
        ..Overrides::default()
    };
    let registry = npsim_protocols::registry();
    chain(&project(name), routers, &overrides, &registry)
}

fn chain_of(name: &str, routers: usize) -> NetworkFile {
    chain_with(name, routers, &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The routers resolve each other by ARP, in separate networks.
#[test]
fn chain_of_arp_routers_forwards() {
    let one = chain_of("forward/arp.toml", 1);
    through_routers(network_of(&one), 1, MILLISECOND);
    let three = chain_of("forward/arp.toml", 3);
    let seen = through_routers(network_of(&three), 3, MILLISECOND);
    let small = through_routers(network_of(&three).with_threads(3), 3, 7 * MICROSECOND);
    assert_eq!(seen, small);
}

/// Frames are addressed to the port at which they arrive, which microcode may check.
#[test]
fn chain_with_configured_neighbours_forwards_both_ways() {
    let strict = ["me.0.define={}"];
    let file = chain_with("forward", 2, &strict).unwrap_or_else(|problems| panic!("{problems}"));
    let mut network = network_of(&file);
    let last = ([2, 0, 0x5e, 0, 0, 1], [10, 2, 0, 1]);
    for (from, end, to, port) in [(A, 0, B, PORT), (B, 1, A, last)] {
        let now = network.packet_simulation().now();
        let sent = datagram(from, (port.0, to.1));
        network.inject(end, &sent, now).expect("an end");
        let arrived = out(&mut network, now + MILLISECOND, MILLISECOND);
        assert_eq!(arrived.len(), 1, "{arrived:?}");
        assert_eq!(arrived[0].node, 1 - end);
        let (_, _, ttl, payload) = udp(&arrived[0].bytes);
        assert_eq!((ttl, payload), (7, udp(&sent).3));
        // As in the project's route.
        assert_eq!(arrived[0].bytes[..6], [2, 0, 0x5e, 0x10, 0, 1 - end as u8]);
    }
}

#[test]
fn chain_links_get_the_delay_and_unused_addresses() {
    let set = ["chain.delay=5us", "port.2.address=172.31.7.1/24"];
    let file = chain_with("forward", 3, &set).unwrap_or_else(|problems| panic!("{problems}"));
    let delays: Vec<_> = { file.topology.links.iter() }
        .map(|link| link.lines[0].delay / MICROSECOND)
        .collect();
    assert_eq!(delays, [1, 5, 5, 1]);
    let set = file.chips[1].overrides.set.iter().map(ToString::to_string);
    let set: Vec<_> = set.filter(|it| it.contains("address")).collect();
    assert_eq!(
        set[1..],
        [
            "port.0.address=192.168.1.2/24",
            "port.1.address=192.168.2.1/24"
        ]
    );
}

#[test]
fn chain_without_ports_or_free_addresses_is_refused() {
    let told = |name: &str, set: &[&str]| match chain_with(name, 2, set) {
        Ok(_) => String::new(),
        Err(problems) => problems.to_string(),
    };
    let no_port = told("course/eight-chains", &[]);
    assert!(no_port.contains("the project has 0 ports"), "{no_port}");
    let taken = told(
        "forward",
        &[
            "route.0.prefix=172.16.0.0/12",
            "route.3.prefix=192.168.0.0/16",
            "port.2.address=10.255.0.1/16",
        ],
    );
    assert!(taken.contains("no addresses are left"), "{taken}");
    assert!(taken.contains("three-routers.toml"), "{taken}");
}
