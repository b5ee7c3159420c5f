//! Tests of flow tables.

use super::{ME, bad, good, value};

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
fn flow_count_uses_consecutive_ports_and_reverse_adds_entries() {
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
fn invalid_flows_are_refused() {
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
