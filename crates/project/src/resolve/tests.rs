use std::path::PathBuf;

use npsim_chip::gpp::boot::RingStatus;
use npsim_chip::gpp::exceptions::Exceptions;
use npsim_chip::gpp::routes::Routes;

use super::{Overrides, ProjectText, Resolved, resolve};
use crate::capacity::Capacity;
use crate::file::parse;
use crate::files::MemoryFiles;
use crate::problem::Problems;
use crate::registry::Registry;

fn capacity() -> Capacity {
    Capacity {
        name: "ixp2400".into(),
        board: "ixp2400-plain".into(),
        board_ports: Vec::new(),
        media: npsim_profile::MediaBus::Spi3,
        hertz: 600_000_000,
        microengines: 8,
        me_numbers: vec![0, 1, 2, 3, 16, 17, 18, 19],
        scratch_bytes: 16 << 10,
        scratch_rings: 16,
        sram_bytes: vec![1 << 20; 2],
        queue_entries: 64,
        dram_bytes: 4 << 20,
        ports: 16,
    }
}

/// Resolves a project in a folder that has `a.uc` and `b.uc`.
pub(super) fn resolved(text: &str, overrides: &Overrides) -> Result<Resolved, Problems> {
    let files: MemoryFiles = ["a.uc", "b.uc"]
        .map(|name| (name, "nop\n"))
        .into_iter()
        .collect();
    let registry = Registry::default();
    let file = parse(text, &registry).unwrap();
    let text = ProjectText {
        path: "npsim.toml".into(),
        folder: PathBuf::from("."),
        text: text.into(),
        files: Vec::new(),
        source_map: None,
    };
    resolve(&files, &text, &file, &capacity(), overrides, &registry)
}

pub(super) fn good(text: &str) -> Resolved {
    match resolved(text, &Overrides::default()) {
        Ok(resolved) => resolved,
        Err(problems) => panic!("{problems}"),
    }
}

/// The text of the problems, which must be `count`.
pub(super) fn bad(text: &str, count: usize) -> String {
    let problems = resolved(text, &Overrides::default()).unwrap_err();
    assert_eq!(problems.0.len(), count, "{problems}");
    problems.to_string()
}

pub(super) const ME: &str = "[[me]]\nid = 0\nsource = \"a.uc\"\n";

fn value(resolved: &Resolved, name: &str) -> String {
    let found = resolved.programs[0].defines.iter().find(|(n, _)| n == name);
    found.map_or_else(
        || panic!("{name} is not defined"),
        |(_, value)| value.clone(),
    )
}

#[test]
fn rings_get_numbers_aligned_bases_and_names() {
    let text = format!(
        "{ME}[[ring]]\nname = \"A\"\nsize = 128\n[[ring]]\nname = \"B\"\nnumber = 0\nsize = 512\nstatus = \"empty\"\n[[ring]]\nname = \"C\"\nnumber = 12\n"
    );
    let plan = good(&text);
    assert_eq!(
        (
            value(&plan, "A").as_str(),
            value(&plan, "A_NUMBER").as_str(),
            value(&plan, "A_SIZE").as_str()
        ),
        ("4", "1", "128")
    );
    assert_eq!(
        (
            value(&plan, "B").as_str(),
            value(&plan, "B_STATUS").as_str()
        ),
        ("0", "SCR_Ring0_Status")
    );
    assert!(
        plan.programs[0]
            .defines
            .iter()
            .all(|(name, _)| name != "C_STATUS"),
        "ring 12 has no status an instruction can test"
    );
    let numbers: Vec<_> = plan.boot.rings.iter().map(|r| r.number).collect();
    assert_eq!(numbers, [0, 1, 12]);
    assert!(
        plan.boot
            .rings
            .iter()
            .all(|r| r.base % (u32::from(r.size) * 4) == 0)
    );
    assert_eq!(plan.boot.rings[0].status, RingStatus::Empty);
}

#[test]
fn ring_mistakes() {
    assert!(
        bad(&format!("{ME}[[ring]]\nname = \"A\"\nsize = 100\n"), 1)
            .contains("use 128, 256, 512 or 1024")
    );
    let twice =
        format!("{ME}[[ring]]\nname = \"A\"\nnumber = 3\n[[ring]]\nname = \"B\"\nnumber = 3\n");
    assert!(bad(&twice, 1).contains("ring 3 is used twice, by `A` and `B`"));
    assert!(
        bad(&format!("{ME}[[ring]]\nname = \"A\"\nnumber = 16\n"), 1)
            .contains("no scratch ring 16")
    );
    assert!(bad(&format!("{ME}[[ring]]\nname = \"A-B\"\n"), 1).contains("not a name"));
    let many = "[[ring]]\nname = \"R\"\nsize = 1024\n".replace("R\"", "R{}\"");
    let many: String = (0..5).map(|n| many.replace("{}", &n.to_string())).collect();
    assert!(bad(&format!("{ME}{many}"), 1).contains("no room for ring `R4` in scratch"));
}

#[test]
fn names_are_unique_also_when_derived() {
    let text = format!("{ME}[[ring]]\nname = \"A\"\n[[counter]]\nname = \"A\"\n");
    assert!(bad(&text, 1).contains("`A` is defined twice: by ring `A` and by counter `A`"));
    let text = format!("{ME}[[ring]]\nname = \"A\"\n[[counter]]\nname = \"A_SIZE\"\n");
    assert!(bad(&text, 1).contains("`A_SIZE` is defined twice"));
    let text = format!("{ME}[[counter]]\nname = \"PORT_COUNT\"\n");
    assert!(bad(&text, 1).contains("the ports"));
}

#[test]
fn buffers_follow_from_their_descriptors() {
    let text = format!(
        "{ME}[[queue]]\nname = \"Q\"\nchannel = 1\nentry = 3\n[buffers]\ncount = 16\nsize = 2048\nqueue = \"Q\"\n"
    );
    let plan = good(&text);
    assert_eq!(value(&plan, "Q"), "0x43000000");
    assert_eq!(
        (
            value(&plan, "BUFFER_SHIFT").as_str(),
            value(&plan, "BUFFER_CHANNEL_BASE").as_str()
        ),
        ("9", "0x40000000")
    );
    let buffers = plan.boot.buffers.unwrap();
    assert!(buffers.first_descriptor > 0);
    assert_eq!(
        buffers.data(buffers.descriptor(1)) - buffers.data(buffers.descriptor(0)),
        2048
    );
    let dram = plan.spaces.iter().find(|s| s.name == "dram").unwrap();
    assert_eq!(
        dram.regions()[0].start,
        u64::from(buffers.data(buffers.descriptor(0)))
    );
    assert_eq!(
        dram.regions()[0].end,
        u64::from(buffers.data(buffers.descriptor(15))) + 2048
    );
}

#[test]
fn buffer_mistakes() {
    let queue = "[[queue]]\nname = \"Q\"\n";
    assert!(
        bad(&format!("{ME}{queue}[buffers]\nqueue = \"P\"\n"), 1).contains("there is no queue `P`")
    );
    assert!(
        bad(
            &format!("{ME}{queue}[buffers]\nqueue = \"Q\"\nsize = 1500\n"),
            1
        )
        .contains("power of two")
    );
    assert!(
        bad(
            &format!("{ME}{queue}[buffers]\nqueue = \"Q\"\nchannel = 1\n"),
            1
        )
        .contains("their queue is in channel 0")
    );
    assert!(
        bad(
            &format!("{ME}{queue}[buffers]\nqueue = \"Q\"\ncount = 4096\n"),
            1
        )
        .contains("dram")
    );
    assert!(
        bad(
            &format!("{ME}{queue}[buffers]\nqueue = \"Q\"\ncount = 4000000000\n"),
            1
        )
        .contains("no room for the buffers")
    );
}

#[test]
fn memory_is_placed_around_what_is_fixed() {
    let text = format!(
        "{ME}[[memory]]\nname = \"F\"\nspace = \"sram1\"\naddress = 0x100\nsize = 64\n[[memory]]\nname = \"M\"\nspace = \"sram1\"\nwords = [7, 8]\nsize = 512\n[[memory]]\nname = \"D\"\nspace = \"dram\"\nsize = 16\nalign = 4096\n"
    );
    let plan = good(&text);
    assert_eq!(value(&plan, "F"), "0x40000100");
    assert_eq!(value(&plan, "M"), "0x40000140");
    assert_eq!(value(&plan, "M_SIZE"), "512");
    let m = &plan.boot.memory[1];
    assert_eq!(
        (m.address, m.words.len(), &m.words[..3]),
        (0x140, 128, &[7, 8, 0][..])
    );
}

#[test]
fn memory_mistakes() {
    let at = |name: &str, address: &str| {
        format!(
            "[[memory]]\nname = \"{name}\"\nspace = \"scratch\"\nsize = 64\naddress = {address}\n"
        )
    };
    assert!(
        bad(&format!("{ME}{}{}", at("A", "0"), at("B", "32")), 1)
            .contains("memory `B` overlaps memory `A`")
    );
    assert!(bad(&format!("{ME}{}", at("A", "0x3fe0")), 1).contains("behind the end of scratch"));
    assert!(bad(&format!("{ME}{}", at("A", "3")), 1).contains("not a multiple of 4"));
    assert!(
        bad(
            &format!("{ME}[[memory]]\nname = \"A\"\nspace = \"sram2\"\nsize = 4\n"),
            1
        )
        .contains("scratch, sram0, sram1, dram")
    );
    assert!(
        bad(
            &format!("{ME}[[memory]]\nname = \"A\"\nspace = \"dram\"\nsize = 4\nwords = [1, 2]\n"),
            1
        )
        .contains("cannot have 4 bytes")
    );
}

#[test]
fn programs_are_given_to_microengines() {
    let text = "[[me]]\nid = \"0-1,4\"\nsource = \"a.uc\"\ndefine = { N = 3, QS = \"atomic\" }\n[[me]]\nid = 2\nsource = \"b.uc\"\n";
    let plan = good(text);
    let ids: Vec<_> = plan.programs.iter().map(|p| p.me).collect();
    assert_eq!(ids, [0, 1, 2, 4]);
    let of = |index: usize, name: &str| {
        plan.programs[index]
            .defines
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v.as_str())
    };
    assert_eq!(
        (of(3, "ME_INDEX"), of(3, "ME_NUMBER"), of(3, "ME_COUNT")),
        (Some("4"), Some("16"), Some("4"))
    );
    assert_eq!(
        (of(0, "N"), of(0, "QS"), of(2, "N")),
        (Some("3"), Some("atomic"), None)
    );
    assert_eq!(
        (of(0, "IXP2400"), of(0, "RBUF_ELEMENT_SIZE")),
        (Some("1"), Some("64"))
    );
}

#[test]
fn program_mistakes() {
    assert!(bad("", 1).contains("runs no microcode"));
    assert!(
        bad("[[me]]\nid = 8\nsource = \"a.uc\"\n", 1)
            .contains("no microengine 8: this chip has 0 to 7")
    );
    let twice = "[[me]]\nid = \"0-3\"\nsource = \"a.uc\"\n[[me]]\nid = 2\nsource = \"b.uc\"\n";
    assert!(bad(twice, 1).contains("microengine 2 is given two programs"));
    assert!(bad("[[me]]\nid = 0\nsource = \"c.uc\"\n", 1).contains("there is no source"));
    let clash = "[[me]]\nid = 0\nsource = \"a.uc\"\ndefine = { R = 1 }\n[[ring]]\nname = \"R\"\n";
    let text = bad(clash, 1);
    assert!(
        text.contains("npsim.toml:4:12: `R` is already defined by ring `R`"),
        "{text}"
    );
}

#[test]
fn the_command_line_goes_first() {
    let overrides = Overrides {
        ids: Some("3-4".into()),
        defines: vec![("N".into(), "9".into())],
        ..Overrides::default()
    };
    let plan = resolved(
        "[[me]]\nid = 0\nsource = \"a.uc\"\ndefine = { N = 3 }\n",
        &overrides,
    )
    .unwrap();
    assert_eq!(
        plan.programs.iter().map(|p| p.me).collect::<Vec<_>>(),
        [3, 4]
    );
    assert_eq!(value(&plan, "N"), "9");
    for name in ["ME_INDEX", "PORT_COUNT", "a b"] {
        let overrides = Overrides {
            defines: vec![(name.into(), "1".into())],
            ..Overrides::default()
        };
        assert!(
            resolved(ME, &overrides)
                .unwrap_err()
                .to_string()
                .starts_with(&format!("-D {name}"))
        );
    }
    let two = "[[me]]\nid = 0\nsource = \"a.uc\"\n[[me]]\nid = 1\nsource = \"b.uc\"\n";
    let overrides = Overrides {
        ids: Some("2".into()),
        ..Overrides::default()
    };
    assert!(
        resolved(two, &overrides)
            .unwrap_err()
            .to_string()
            .contains("--me is not clear")
    );
}

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
fn addresses_that_no_port_and_no_next_hop_has_are_refused() {
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
fn ports_have_networks_of_their_own() {
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
    // What has no network is in none.
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
fn route_mistakes() {
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
        .contains("nothing keeps them")
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
    assert!(bad(&base, 1).contains("does not know its ring"));
    assert!(
        bad(&format!("{base}[gpp.exceptions]\nring = \"Y_RING\"\n"), 1)
            .contains("did you mean `X_RING`?")
    );
    assert!(
        bad(&format!("{ME}[gpp]\ntasks = [\"route\"]\n"), 1).contains("did you mean `routes`?")
    );
}

#[test]
fn descriptors_have_the_length_that_the_project_says() {
    let with = |longwords: &str| {
        format!(
            "{ME}[[queue]]\nname = \"Q\"\n[buffers]\ncount = 16\nsize = 2048\ndescriptor = {longwords}\nqueue = \"Q\"\n"
        )
    };
    for (longwords, shift) in [("4", "9"), ("8", "8"), ("16", "7")] {
        let plan = good(&with(longwords));
        assert_eq!(value(&plan, "BUFFER_DESCRIPTOR"), longwords);
        assert_eq!(value(&plan, "BUFFER_SHIFT"), shift);
        let buffers = plan.boot.buffers.unwrap();
        let apart = buffers.descriptor(1) - buffers.descriptor(0);
        assert_eq!(apart.to_string(), longwords);
        assert_eq!(
            buffers.data(buffers.descriptor(1)) - buffers.data(buffers.descriptor(0)),
            2048
        );
    }
    assert!(bad(&with("6"), 1).contains("cannot have 6 longwords"));
    assert!(bad(&with("2"), 1).contains("use 4, 8 or 16"));
}

#[test]
fn stages_have_names() {
    let text = "[[me]]\nname = \"work\"\nid = \"2-4\"\nsource = \"a.uc\"\n[[me]]\nname = \"out\"\nid = 0\nsource = \"b.uc\"\n";
    let plan = good(text);
    let names = ["WORK_FIRST", "WORK_COUNT", "OUT_FIRST", "OUT_COUNT"];
    assert_eq!(names.map(|name| value(&plan, name)), ["2", "3", "0", "1"]);
    assert!(bad(&text.replace("\"work\"", "\"a stage\""), 1).contains("not a name"));
    let problems = bad(&text.replace("\"out\"", "\"work\""), 1);
    assert!(
        problems.contains("the stage `work` is given twice"),
        "{problems}"
    );
}

#[test]
fn several_queues_have_consecutive_entries() {
    let queues = |first: &str, second: &str| {
        format!("{ME}[[queue]]\nname = \"A\"\n{first}\n[[queue]]\nname = \"B\"\n{second}\n")
    };
    let plan = good(&queues("count = 12", "entry = 3"));
    assert_eq!(
        (value(&plan, "A_ENTRY"), value(&plan, "A_COUNT")),
        ("4".into(), "12".into())
    );
    assert_eq!(plan.boot.queues.len(), 13);
    let many: Vec<_> = plan.boot.queues.iter().filter(|q| q.entry >= 4).collect();
    assert_eq!(many.len(), 12);
    assert!(
        many.windows(2)
            .all(|q| (q[1].entry, q[1].descriptor) == (q[0].entry + 1, q[0].descriptor + 16))
    );
    assert!(bad(&queues("count = 0", ""), 1).contains("at least one queue"));
    assert!(bad(&queues("entry = 60\ncount = 5", ""), 1).contains("no Q-array entry 64"));
    assert!(
        bad(&queues("entry = 2\ncount = 4", "entry = 5"), 1)
            .contains("entry 5 of channel 0 is used twice")
    );
    assert!(bad(&queues("count = 64", ""), 1).contains("left in channel 0"));
    assert!(bad(&queues("count = 65", ""), 1).contains("no 65 consecutive"));
}

const FLOW: &str = "[[flow]]\nsource = \"10.0.0.1\"\ndestination = \"10.1.0.1\"\nprotocol = 6\nsource_port = 1000\ndestination_port = 179\nclass = 3\n";

#[test]
fn flows_become_a_table_in_sram() {
    let plan = good(&format!(
        "{ME}[flows]\nchannel = 0\nbuckets = 16\n{FLOW}{}",
        FLOW.replace("1000", "1001")
            .replace("class = 3", "class = 2")
    ));
    assert_eq!(value(&plan, "FLOW_BUCKETS"), "16");
    let address = value(&plan, "FLOW_TABLE");
    let address = u32::from_str_radix(address.strip_prefix("0x").unwrap(), 16).unwrap();
    assert_eq!(address % 32, 0);
    let mut images = plan.boot.memory.iter();
    let table = images.find(|image| image.address == address).unwrap();
    assert_eq!(table.words.len(), 16 * 8);
    let mut flows: Vec<_> = table.words.chunks(4).filter(|flow| flow[3] != 0).collect();
    flows.sort_unstable();
    let flow = |port: u32, number: u32, class: u32| {
        [
            0x0a00_0001,
            0x0a01_0001,
            port << 16 | 0x00b3,
            1 << 31 | number << 16 | class << 8 | 6,
        ]
    };
    assert_eq!(flows, [flow(1000, 1, 3), flow(1001, 2, 2)]);
    assert_eq!(value(&plan, "FLOW_COUNT"), "2");
    assert_eq!(
        value(&good(&format!("{ME}[flows]\n")), "FLOW_BUCKETS"),
        "256"
    );
}

#[test]
fn flows_of_a_kind_have_ports_one_after_the_other_and_may_be_found_both_ways() {
    let plan = good(&format!(
        "{ME}[flows]\nchannel = 0\nbuckets = 64\n{FLOW}count = 2\nreverse = true\n{}",
        FLOW.replace("1000", "7")
    ));
    let address = value(&plan, "FLOW_TABLE");
    let address = u32::from_str_radix(address.strip_prefix("0x").unwrap(), 16).unwrap();
    let mut images = plan.boot.memory.iter();
    let table = images.find(|image| image.address == address).unwrap();
    let mut flows: Vec<_> = table.words.chunks(4).filter(|flow| flow[3] != 0).collect();
    flows.sort_unstable();
    let (here, there) = (0x0a00_0001, 0x0a01_0001);
    let mark = |number: u32| 1 << 31 | number << 16 | 3 << 8 | 6;
    let back = |port: u32, number| [there, here, 0x00b3 << 16 | port, mark(number) | 1 << 30];
    let flow = |port: u32, number| [here, there, port << 16 | 0x00b3, mark(number)];
    assert_eq!(
        flows,
        [
            flow(7, 3),
            flow(1000, 1),
            flow(1001, 2),
            back(1000, 1),
            back(1001, 2)
        ]
    );
    assert_eq!(value(&plan, "FLOW_COUNT"), "3");
}

#[test]
fn flow_mistakes() {
    assert!(bad(&format!("{ME}{FLOW}"), 1).contains("there is no table for them"));
    let with = |section: &str, flows: &str| format!("{ME}[flows]\n{section}\n{flows}");
    for buckets in ["buckets = 0", "buckets = 100", "buckets = 131072"] {
        assert!(bad(&with(buckets, FLOW), 1).contains("a power of two"));
    }
    assert!(bad(&with("channel = 2", ""), 1).contains("channel"));
    assert!(bad(&with("buckets = 65536", ""), 1).contains("no room"));
    let wrong = FLOW.replace("10.1.0.1", "10.1.0");
    assert!(bad(&with("", &wrong), 1).contains("`10.1.0` is not an IPv4 address"));
    let again = FLOW.replace("class = 3", "class = 1");
    assert!(bad(&with("", &format!("{FLOW}{again}")), 1).contains("given twice"));
    for count in ["count = 0", "count = 65000", "count = 4294967295"] {
        assert!(bad(&with("", &format!("{FLOW}{count}\n")), 1).contains("from source port 1000"));
    }
    let flows: String = (0..3)
        .map(|n| FLOW.replace("1000", &(1000 + n).to_string()))
        .collect();
    assert!(bad(&with("buckets = 1", &flows), 1).contains("this flow's bucket is full"));
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
    // The first of a next hop's four longwords has the flags.
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
fn locks_are_longwords_of_named_memory() {
    let memory = "[[memory]]\nname = \"STATE\"\nspace = \"sram1\"\nsize = 32\naddress = 256\n";
    let lock = "[[lock]]\nname = \"L\"\nmemory = \"STATE\"\n";
    let resolved = good(&format!("{ME}{memory}{lock}offset = 16\n"));
    let [setup] = &resolved.boot.locks[..] else {
        panic!("{:?}", resolved.boot.locks);
    };
    assert_eq!((setup.name.as_str(), setup.address), ("L", 272));
    assert_eq!(setup.space, npsim_chip::gpp::boot::Space::Sram(1));
    for (text, expected) in [
        (format!("{lock}offset = 32\n"), "a multiple of 4 below 32"),
        (format!("{lock}offset = 2\n"), "no longword at offset 2"),
        (format!("{lock}{lock}"), "the lock `L` is given twice"),
        (
            format!("{lock}[[lock]]\nname = \"M\"\nmemory = \"STATE\"\n"),
            "the same longword as `L`",
        ),
        (lock.replace("STATE", "STATES"), "did you mean `STATE`?"),
        (lock.replace("\"L\"", "\"1\""), "not a name"),
    ] {
        let message = bad(&format!("{ME}{memory}{text}"), 1);
        assert!(message.contains(expected), "{message}");
    }
    let dram = memory.replace("sram1", "dram");
    assert!(bad(&format!("{ME}{dram}{lock}"), 1).contains("put the memory there"));
}

#[test]
fn routers_of_a_chain_number_their_next_hops_alike() {
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
