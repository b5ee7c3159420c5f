//! Tests of ports, routes, next hops and the exceptions task.

use npsim_chip::gpp::exceptions::Exceptions;
use npsim_chip::gpp::routes::Routes;

use super::{ME, bad, good, value};

#[test]
fn ports_have_rates_and_addresses() {
    let plan = good(&format!(
        "{ME}[[port]]\nrate = \"100Mbps\"\n[[port]]\nmac = \"02:aa:bb:cc:dd:ee\"\n"
    ));
    assert_eq!(
        (
            value(&plan, "PORT0_MAC_HI").as_str(),
            value(&plan, "PORT0_MAC_LO").as_str()
        ),
        ("0x02000000", "0x00000100")
    );
    assert_eq!(
        (
            value(&plan, "PORT1_MAC_HI").as_str(),
            value(&plan, "PORT1_MAC_LO").as_str()
        ),
        ("0x02aabbcc", "0x0000ddee")
    );
    assert_eq!(value(&plan, "PORT_COUNT"), "2");
    let rates: Vec<_> = plan.boot.ports.iter().map(|p| p.bits_per_second).collect();
    assert_eq!(rates, [100_000_000, 1_000_000_000]);
    assert!(
        bad(
            &format!("{ME}[[port]]\nrate = \"fast\"\nmac = \"1:2\"\n"),
            2
        )
        .contains("is not a MAC address")
    );
    assert!(bad(&format!("{ME}[media]\nelement_size = 100\n"), 1).contains("use 64, 128 or 256"));
}

#[test]
fn unusable_mac_addresses_and_too_small_mtus_are_refused() {
    for (mac, why) in [
        ("01:00:5e:00:00:01", "a group"),
        ("03:00:00:00:00:01", "a group"),
        ("ff:ff:ff:ff:ff:ff", "the broadcast address"),
        ("00:00:00:00:00:00", "all of its bits are 0"),
    ] {
        let port = bad(&format!("{ME}[[port]]\nmac = \"{mac}\"\n"), 1);
        let route = format!(
            "{ME}[[port]]\n[gpp]\ntasks = [\"routes\"]\n[[route]]\nprefix = \"10.0.0.0/8\"\nport = 0\nmac = \"{mac}\"\n"
        );
        for message in [port, bad(&route, 1)] {
            assert!(message.contains(why) && message.contains(mac), "{message}");
        }
    }
    let mtu = |bytes| {
        format!(
            "{ME}[[port]]\n[gpp]\ntasks = [\"routes\"]\n[[route]]\nprefix = \"10.0.0.0/8\"\nport = 0\nmac = \"02:00:00:00:00:09\"\nmtu = {bytes}\n"
        )
    };
    for bytes in [0, 67] {
        assert!(bad(&mtu(bytes), 1).contains("less than the 68 bytes"));
    }
    good(&mtu(68));
}

#[test]
fn ports_must_have_disjoint_networks() {
    let ports = |one: &str, other: &str| {
        format!("{ME}[[port]]\naddress = \"{one}\"\n[[port]]\naddress = \"{other}\"\n")
    };
    for (one, other) in [
        ("10.1.0.1/16", "10.1.0.2/16"),
        ("10.1.0.1/16", "10.1.7.1/24"),
        ("10.1.7.1/24", "10.1.0.1/8"),
    ] {
        let message = bad(&ports(one, other), 1);
        assert!(message.contains("the network of"), "{message}");
    }
    good(&ports("10.1.0.1/24", "10.1.1.1/24"));
    // An address without a network is in none.
    good(&ports("10.1.0.1", "10.1.0.2/16"));
    let chain = "address = [\"10.1.0.1/16\", \"10.2.0.1/16\"]\n[[port]]\naddress = [\"10.2.0.2/16\", \"10.1.0.2/16\"]\n";
    good(&format!("{ME}[[port]]\n{chain}"));
}

#[test]
fn routes_become_a_table_in_sram() {
    let text = format!(
        "{ME}[[port]]\n[gpp]\ntasks = [\"routes\"]\n[[route]]\nprefix = \"10.1.2.0/24\"\nport = 0\nmac = \"02:00:00:00:00:09\"\n[[route]]\nprefix = \"192.168.0.1/32\"\nlocal = true\n"
    );
    let plan = good(&text);
    let Some(routes) = plan.boot.task::<Routes>().map(Routes::setup) else {
        panic!("no routes task")
    };
    assert_eq!(routes.channel, 1);
    let table = routes.router(0).unwrap().table();
    assert!(table.lookup(0x0a01_0203).is_some() && table.lookup(0xc0a8_0001).is_some());
    assert_eq!(
        value(&plan, "ROUTE_ROOT"),
        format!("{:#010x}", 1 << 30 | routes.root)
    );
    assert_eq!(
        value(&plan, "NEXT_HOPS"),
        format!("{:#010x}", 1 << 30 | routes.next_hops)
    );
}

#[test]
fn invalid_routes_are_refused() {
    let head = format!("{ME}[[port]]\n[gpp]\ntasks = [\"routes\"]\n");
    let route = |rest: &str| format!("{head}[[route]]\n{rest}\n");
    assert!(
        bad(
            &route("prefix = \"10.0.0.1/8\"\nport = 0\nmac = \"2:0:0:0:0:1\""),
            1
        )
        .contains("write 10.0.0.0/8")
    );
    assert!(bad(&route("prefix = \"10.0.0.0\"\nport = 0"), 1).contains("not an IPv4 prefix"));
    assert!(
        bad(
            &route("prefix = \"10.0.0.0/8\"\nport = 1\nmac = \"2:0:0:0:0:1\""),
            1
        )
        .contains("no port 1")
    );
    assert!(bad(&route("prefix = \"10.0.0.0/8\"\nport = 0"), 1).contains("no next hop"));
    assert!(
        bad(
            &format!(
                "{ME}[[port]]\n[[route]]\nprefix = \"0.0.0.0/0\"\nport = 0\nmac = \"2:0:0:0:0:1\"\n"
            ),
            1
        )
        .contains("no task keeps them")
    );
}

#[test]
fn exceptions_need_a_ring_and_buffers() {
    let base = format!(
        "{ME}[[ring]]\nname = \"X_RING\"\n[[queue]]\nname = \"Q\"\n[buffers]\nqueue = \"Q\"\ncount = 8\n[gpp]\ntasks = [\"exceptions\"]\n"
    );
    let plan = good(&format!(
        "{base}[gpp.exceptions]\nring = \"X_RING\"\nperiod = \"2us\"\nreasons = [\"\", \"ttl\"]\n"
    ));
    let Some(task) = plan.boot.task::<Exceptions>().map(Exceptions::setup) else {
        panic!("no exceptions task")
    };
    assert_eq!((task.ring, task.period, task.reasons.len()), (0, 1200, 2));
    assert!(bad(&base, 1).contains("the exceptions task has no ring"));
    assert!(
        bad(&format!("{base}[gpp.exceptions]\nring = \"Y_RING\"\n"), 1)
            .contains("did you mean `X_RING`?")
    );
    assert!(
        bad(&format!("{ME}[gpp]\ntasks = [\"route\"]\n"), 1).contains("did you mean `routes`?")
    );
}

#[test]
fn discarding_routes_need_no_next_hop() {
    let text = format!(
        "{ME}[[port]]\n[gpp]\ntasks = [\"routes\"]\n[[route]]\nprefix = \"10.9.0.0/16\"\ndiscard = true\n[[route]]\nprefix = \"10.0.0.0/8\"\nport = 0\nmac = \"2:0:0:0:0:1\"\n"
    );
    let plan = good(&text);
    let Some(routes) = plan.boot.task::<Routes>().map(Routes::setup) else {
        panic!("no routes task")
    };
    // The first of a next hop's four longwords holds the flags.
    let table = routes.router(0).unwrap().table();
    let discards = |address| {
        let hop = usize::from(table.lookup(address).unwrap());
        table.next_hops()[hop * 4] & 1 << 9 != 0
    };
    assert!(discards(0x0a09_0001) && !discards(0x0a08_0001));
    assert!(
        bad(&text.replace("discard = true", "discard = false"), 1).contains("`discard = true`")
    );
}

#[test]
fn chained_routers_share_next_hop_numbering() {
    let text = format!(
        "{ME}[[port]]\naddress = [\"10.1.0.1\", \"10.1.0.2\"]\n[gpp]\ntasks = [\"routes\"]\n[[route]]\nprefix = \"10.1.0.1/32\"\nlocal = true\nmtu = 9000\n[[route]]\nprefix = \"10.2.0.0/16\"\nport = 0\nmac = \"02:00:00:00:00:09\"\n"
    );
    let plan = good(&text);
    let Some(routes) = plan.boot.task::<Routes>().map(Routes::setup) else {
        panic!("no routes task")
    };
    let [first, second] = &routes.routers[..] else {
        panic!("{} routers", routes.routers.len())
    };
    let tables = [first.table(), second.table()];
    assert_eq!(tables[0].next_hops(), tables[1].next_hops());
    assert_ne!(tables[0].lookup(0x0a01_0002), tables[1].lookup(0x0a01_0002));
}
