//! The settings that result from `[gpp.srp]`, and messages about mistakes.

use npsim_protocols::srp::task::{PacedBy, SrpTask};

use super::projects::{ME, bad, good, task};

/// Two flows of class 2 and one of class 5, and records for them.
const FLOWS: &str = r#"
[flows]
channel = 1
[[memory]]
name = "FLOW_RECORDS"
space = "sram1"
size = 256
[[flow]]
source = "10.0.0.1"
destination = "10.1.0.1"
protocol = 6
source_port = 1000
destination_port = 80
class = 2
count = 2
reverse = true
[[flow]]
source = "10.0.0.1"
destination = "10.1.0.1"
protocol = 17
class = 5
"#;

fn project(section: &str) -> String {
    format!("{ME}{FLOWS}[gpp]\ntasks = [\"srp\"]\n[gpp.srp]\n{section}")
}

#[test]
fn classes_use_a_fixed_rate_or_srp() {
    let resolved = good(&project(
        "period = \"50us\"\nmin_timeout = \"10ms\"\n\
         [[gpp.srp.class]]\nclass = 5\nrate = \"8Mbps\"\npacket = 500\n\
         [[gpp.srp.class]]\nclass = 2\nrate = \"srp\"\nmost = \"80Mbps\"\nfirst = 4\n",
    ));
    let setup = task::<SrpTask>(&resolved).setup();
    assert_eq!(setup.flows, [2, 2, 5]);
    assert_eq!(setup.period, 30_000, "cycles of 600 MHz");
    assert_eq!(setup.rto.floor, 10_000_000_000);
    let [fixed, law] = setup.classes[..] else {
        panic!("{:?}", setup.classes);
    };
    assert_eq!((fixed.class, fixed.packet), (5, 500));
    assert_eq!(fixed.pace, PacedBy::Fixed(1_000_000));
    assert_eq!((law.class, law.packet), (2, 1_500));
    let most = Some(10_000_000);
    assert_eq!(law.pace, PacedBy::Srp { first: 4, most });
}

#[test]
fn class_errors_are_reported_with_their_location() {
    let class = |keys: &str| project(&format!("[[gpp.srp.class]]\n{keys}\n"));
    for (keys, said) in [
        ("class = 3\nrate = \"1Mbps\"", "no flow has class 3"),
        ("class = 5\nrate = \"1Mbp\"", "`1Mbp`"),
        ("class = 5\nrate = \"7bps\"", "a rate of 0 "),
        ("class = 5\nrate = \"1Mbps\"\npacket = 40", "40 bytes of IP"),
        (
            "class = 5\nrate = \"1Mbps\"\nmost = \"2Mbps\"",
            "`most` applies only to rates that are computed",
        ),
        (
            "class = 5\nrate = \"1Mbps\"\nfirst = 2",
            "`first` applies only to rates that are computed",
        ),
        ("class = 5\nrate = \"srp\"\nfirst = 11", "11 segments"),
    ] {
        let problems = bad(&class(keys), 1);
        assert!(problems.contains(said), "{keys}: {problems}");
        assert!(problems.contains("npsim.toml:"), "{problems}");
    }
    let twice = "class = 5\nrate = \"1Mbps\"\n[[gpp.srp.class]]\nclass = 5\nrate = \"2Mbps\"";
    assert!(bad(&class(twice), 1).contains("class 5 is given twice"));
    let small = project("").replace("size = 256", "size = 128");
    assert!(bad(&small, 1).contains("it needs 256 bytes"));
}
