//! The settings that result from the keys of the protocols' sections, and messages about mistakes.

use npsim_chip::gpp::boot::Space;
use npsim_chip::units::sram::device::Device;
use npsim_project::Project;
use npsim_protocols::feedback::Coprocessor;
use npsim_protocols::quick_start::task::QuickStartTask;
use npsim_protocols::rcp::task::RcpTask;
use npsim_protocols::xcp::task::{XcpLayout, XcpTask};

use super::projects::{ME, bad, good, task};

const MEMORIES: &str = r#"
[[port]]
rate = "1Gbps"
[[port]]
rate = "100Mbps"
[[memory]]
name = "QS_STATE"
space = "sram1"
size = 64
address = 4096
[[memory]]
name = "XCP_STATE"
space = "scratch"
size = 128
[[memory]]
name = "XCP_SUMS"
space = "sram1"
size = 2048
[[memory]]
name = "RCP_RATE"
space = "scratch"
size = 8
[[memory]]
name = "ONE"
space = "scratch"
size = 4
[[memory]]
name = "RCP_COUNTERS"
space = "sram1"
size = 1024
[[memory]]
name = "PORT_COUNTERS"
space = "sram1"
size = 512
address = 8192
[[memory]]
name = "QUEUE_COUNTERS"
space = "sram0"
size = 512
address = 1024
"#;

fn project(task: &str, section: &str) -> String {
    format!("{ME}{MEMORIES}[gpp]\ntasks = [\"{task}\"]\n[gpp.{task}]\n{section}")
}

#[test]
fn quick_start_defaults_are_those_of_the_paper() {
    let resolved = good(&project("quick-start", "threshold = \"90%\"\n"));
    let setup = task::<QuickStartTask>(&resolved).setup();
    assert_eq!(
        (setup.state.space, setup.state.address),
        (Space::Sram(1), 4096)
    );
    assert_eq!((setup.window, setup.sample), (90_000_000, 90_000_000));
    assert_eq!((setup.grace, setup.samples), (600_000, 3));
    let [group] = &setup.groups[..] else {
        panic!("{:?}", setup.groups);
    };
    assert_eq!((group.capacity, group.threshold), (27_500, 24_750));
    let counters: Vec<_> = group.counters.iter().map(|it| it.address).collect();
    assert_eq!(counters, [8192 + 28, 8192 + 60]);
}

#[test]
fn threshold_share_of_one_may_be_quoted() {
    for typed in ["1", "\"1\"", "\"1.0\"", "\"100%\""] {
        let resolved = good(&project("quick-start", &format!("threshold = {typed}\n")));
        let setup = task::<QuickStartTask>(&resolved).setup();
        assert_eq!(setup.groups[0].threshold, setup.groups[0].capacity);
    }
}

#[test]
fn samples_and_grace_of_quick_start_follow_the_window() {
    for (keys, expected) in [
        ("window = \"1ms\"\n", (600_000, 600_000, 60_000)),
        ("window = \"100ms\"\n", (60_000_000, 60_000_000, 600_000)),
        ("window = \"5\"\n", (5, 5, 1)),
        (
            "window = \"1ms\"\nsample = \"1ms\"\ngrace = \"0.5ms\"\n",
            (600_000, 600_000, 300_000),
        ),
        ("sample = \"1ms\"\n", (90_000_000, 600_000, 600_000)),
    ] {
        let resolved = good(&project("quick-start", &format!("threshold = 1\n{keys}")));
        let setup = task::<QuickStartTask>(&resolved).setup();
        let times = (setup.window, setup.sample, setup.grace);
        assert_eq!(times, expected, "{keys}");
    }
}

#[test]
fn groups_per_port_use_that_ports_rate_and_counters() {
    let keys = "groups = 2\nthreshold = 0.5\nwindow = \"1ms\"\ngrace = \"600\"\nsamples = 7\n";
    let resolved = good(&project("quick-start", keys));
    let setup = task::<QuickStartTask>(&resolved).setup();
    assert_eq!(
        (setup.window, setup.grace, setup.samples),
        (600_000, 600, 7)
    );
    let groups: Vec<_> = setup
        .groups
        .iter()
        .map(|it| (it.capacity, it.threshold))
        .collect();
    assert_eq!(groups, [(25_000, 12_500), (2500, 1250)]);
    assert_eq!(setup.groups[1].counters[0].address, 8192 + 60);
}

#[test]
fn xcp_parameters_are_exact() {
    let keys = "capacity = \"3Gbps\"\nalpha = 0.35\nbeta = \"0.2\"\nmin_interval = \"5ms\"\n";
    let resolved = good(&project("xcp", keys));
    let setup = task::<XcpTask>(&resolved).setup();
    assert_eq!(setup.layout, XcpLayout::Locked { lock: true });
    assert_eq!(
        (setup.state.space, setup.sums.is_none()),
        (Space::Scratch, true)
    );
    let parameters = setup.groups[0].control.parameters();
    assert_eq!(parameters.capacity, 375_000_000);
    assert_eq!(
        [parameters.alpha, parameters.beta, parameters.gamma],
        [350_000, 200_000, 100_000]
    );
    assert_eq!(parameters.min_interval, 1_342_177, "2^28 / 200");
    // 512 bytes are four queues for each of two ports.
    let queues: Vec<_> = setup.groups[0].queues.iter().map(|it| it.address).collect();
    assert_eq!(
        queues,
        (0..8).map(|queue| 1024 + 64 * queue).collect::<Vec<_>>()
    );
    let keys =
        "layout = \"split\"\nsums = \"XCP_SUMS\"\nthreads = \"8-15, 3\"\nqueues = \"none\"\n";
    let resolved = good(&project("xcp", keys));
    let setup = task::<XcpTask>(&resolved).setup();
    assert_eq!(setup.layout, XcpLayout::Split);
    let sums = setup.sums.as_ref().unwrap();
    assert_eq!(sums.threads, [3, 8, 9, 10, 11, 12, 13, 14, 15]);
    assert!(setup.groups[0].queues.is_empty());
}

#[test]
fn rcp_thread_count_follows_the_counter_memory() {
    let resolved = good(&project(
        "rcp",
        "groups = 2\neta = 0.95\nperiod = \"5ms\"\n",
    ));
    let setup = task::<RcpTask>(&resolved).setup();
    assert_eq!((setup.counters.threads.len(), setup.groups.len()), (32, 2));
    let parameters = setup.groups[1].rate.parameters();
    assert_eq!(
        (parameters.capacity, parameters.target),
        (12_500_000, 11_875_000)
    );
    assert_eq!(
        (parameters.period, parameters.initial_rate),
        (5_000_000, 625_000)
    );
    assert_eq!(setup.groups[1].queues.len(), 4);
}

#[test]
fn coprocessor_registers_can_hold_task_state() {
    let coprocessor = "[coprocessor]\nname = \"FEEDBACK\"\nchannel = 1\n";
    let quick_start = project(
        "quick-start",
        "threshold = 1\nstate = \"FEEDBACK\"\ngroups = 2\n",
    );
    let resolved = good(&format!("{quick_start}{coprocessor}"));
    let setup = task::<QuickStartTask>(&resolved).setup();
    let device = resolved.boot.device::<Coprocessor>().unwrap();
    let registers = device.attachment().address;
    assert_eq!(
        (setup.state.space, setup.state.address),
        (Space::Sram(1), registers)
    );
    let keys = "state = \"FEEDBACK_XCP\"\nlock = false\nsums = \"XCP_SUMS\"\n";
    let resolved = good(&format!("{}{coprocessor}", project("xcp", keys)));
    let setup = task::<XcpTask>(&resolved).setup();
    assert_eq!(setup.state.address, registers + 0x400);
    let locked = project("xcp", "state = \"FEEDBACK_XCP\"\n");
    assert!(bad(&format!("{locked}{coprocessor}"), 1).contains("give `lock = false`"));
}

#[test]
fn task_configuration_errors_are_actionable() {
    for (task, section, expected) in [
        (
            "quick-start",
            "threshold = \"2Gbps\"\n",
            "above the capacity",
        ),
        ("quick-start", "threshold = 1.5\n", "write a rate such as"),
        ("quick-start", "threshold = 0\n", "write a rate such as"),
        (
            "quick-start",
            "threshold = 1\ngroups = 3\n",
            "up to 2 for one per port",
        ),
        (
            "quick-start",
            "threshold = 1\nstate = \"QS_STAT\"\n",
            "did you mean `QS_STATE`?",
        ),
        (
            "quick-start",
            "threshold = 1\nstate = \"RCP_RATE\"\n",
            "it needs 32 bytes, and",
        ),
        (
            "quick-start",
            "threshold = 1\nwindow = \"1ms\"\ngrace = \"1ms\"\n",
            "the grace is not shorter than the window",
        ),
        (
            "quick-start",
            "threshold = 1\nsamples = 0\n",
            "use 1 to 1000",
        ),
        (
            "quick-start",
            "threshold = 1\nwindow = \"60s\"\nsample = \"60s\"\n",
            "more than 4 GB",
        ),
        (
            "quick-start",
            "threshold = 1\nwindow = \"60s\"\n",
            "use a shorter `sample`",
        ),
        (
            "quick-start",
            "threshold = 1\nsample = \"151ms\"\n",
            "a sample is longer than the window",
        ),
        (
            "quick-start",
            "threshold = 1\nwindow = \"1ms\"\nsample = \"2ms\"\n",
            "leave `sample` out",
        ),
        (
            "quick-start",
            "threshold = 1\ngroups = 2\nstate = \"RCP_RATE\"\n",
            "it needs 64 bytes, and `RCP_RATE` has 8",
        ),
        (
            "xcp",
            "groups = 2\nstate = \"QS_STATE\"\n",
            "it needs 128 bytes, and `QS_STATE` has 64",
        ),
        (
            "rcp",
            "groups = 2\nrate = \"ONE\"\n",
            "it needs 8 bytes, and `ONE` has 4",
        ),
        (
            "rcp",
            "groups = 2\ncounters = \"ONE\"\n",
            "`ONE` does not hold these threads",
        ),
        (
            "quick-start",
            "threshold = 1\nwindow = \"5\u{b5}\"\n",
            "unit of time",
        ),
        ("xcp", "alpha = \"much\"\n", "write for example 0.4"),
        ("xcp", "alpha = 11\n", "`alpha` must be at most 10"),
        ("xcp", "min_interval = \"2s\"\n", "`max_interval` must be"),
        ("xcp", "layout = \"split\"\n", "give `sums`"),
        ("xcp", "threads = 4\n", "no `sums` per thread"),
        (
            "xcp",
            "sums = \"XCP_SUMS\"\nthreads = 65\n",
            "room for 64 threads",
        ),
        (
            "xcp",
            "layout = \"split\"\nsums = \"XCP_SUMS\"\nlock = true\n",
            "has no lock",
        ),
        ("rcp", "threads = \"4-2\"\n", "write for example `32-55`"),
        ("rcp", "eta = 1.1\n", "`eta` must be above 0 and at most 1"),
        ("rcp", "period = \"5s\"\n", "`period` must be above 0"),
        ("rcp", "capacity = \"fast\"\n", "is not a rate"),
    ] {
        let message = bad(&project(task, section), 1);
        assert!(message.contains(expected), "{section}\n{message}");
    }
    let missing = project("xcp", "").replace("QUEUE_COUNTERS", "COUNTERS");
    assert!(bad(&missing, 1).contains("`queues = \"none\"`"));
    let dram = project("rcp", "").replace(
        "name = \"RCP_RATE\"\nspace = \"scratch\"",
        "name = \"RCP_RATE\"\nspace = \"dram\"",
    );
    assert!(bad(&dram, 1).contains("scratch or SRAM"));
    let alone = format!("{ME}{MEMORIES}[gpp]\ntasks = [\"xcp\"]\n");
    assert!(bad(&alone, 1).contains("add [gpp.xcp]"));
    let idle = format!("{ME}{MEMORIES}[gpp.rcp]\n");
    assert!(bad(&idle, 1).contains("add \"rcp\" to `tasks`"));
    let blind = project("rcp", "queues = \"none\"\n")
        .replace("[[port]]\nrate = \"1Gbps\"\n", "")
        .replace("[[port]]\nrate = \"100Mbps\"\n", "");
    assert!(bad(&blind, 1).contains("add `capacity`"));
}

fn value<'p>(project: &'p Project, name: &str) -> &'p str {
    let mut defines = project.programs[0].defines.iter();
    let found = defines.find(|(own, _)| own == name);
    &found.unwrap_or_else(|| panic!("no {name}")).1
}

#[test]
fn coprocessor_window_follows_its_channels_memory() {
    let plan = good(&format!("{ME}[coprocessor]\nname = \"FEEDBACK\"\n"));
    for (name, at) in [
        ("FEEDBACK", "0x40100000"),
        ("FEEDBACK_XCP", "0x40100400"),
        ("FEEDBACK_REQUESTS", "0x40100800"),
        ("FEEDBACK_MAILBOXES", "0x40101000"),
    ] {
        assert_eq!(value(&plan, name), at);
    }
    let device = &*plan.boot.devices[0];
    let own = device.attachment();
    assert_eq!((own.channel, own.address), (1, 0x10_0000));
    assert_eq!(device.registers("FEEDBACK"), Some((0x10_0000, 0x400)));
    assert_eq!(device.registers("FEEDBACK_XCP"), Some((0x10_0400, 0x400)));
    assert_eq!(device.registers("FEEDBACK_REQUESTS"), None);
    assert_eq!(device.registers("FEED"), None);
    let region = plan.spaces[2].regions().last().unwrap();
    assert_eq!(
        (region.name.as_str(), region.start, region.end),
        ("coprocessor `FEEDBACK`", 0x10_0000, 0x10_2000)
    );
    let plan = good(&format!(
        "{ME}[coprocessor]\nname = \"F\"\nchannel = 0\naddress = 0x3fffe000\n"
    ));
    assert_eq!(value(&plan, "F"), "0x3fffe000");
    assert!(good(ME).boot.devices.is_empty());
    // Two have adjacent windows, which do not overlap.
    let plan = good(&format!(
        "{ME}[[coprocessor]]\nname = \"A\"\n[[coprocessor]]\nname = \"B\"\n"
    ));
    assert_eq!(value(&plan, "A"), "0x40100000");
    assert_eq!(value(&plan, "B"), "0x40102000");
    let text = bad(
        &format!(
            "{ME}[[coprocessor]]\nname = \"A\"\n[[coprocessor]]\nname = \"B\"\naddress = 0x100000\n"
        ),
        1,
    );
    assert!(text.contains("its window overlaps that of `A`"), "{text}");
}

#[test]
fn coprocessor_errors_are_reported() {
    let with = |keys: &str| bad(&format!("{ME}[coprocessor]\n{keys}\n"), 1);
    assert!(with("name = \"F\"\nchannel = 2").contains("there is no SRAM channel 2"));
    assert!(with("name = \"1F\"").contains("not a name that a source can use"));
    let text = with("name = \"F\"\naddress = 0x40000000");
    assert!(
        text.contains("as far as bits 29-0 of an address reach") && text.contains("0x100000"),
        "{text}"
    );
    let text = with("name = \"F\"\naddress = 0x8000");
    assert!(text.contains("lies in the channel's memory"), "{text}");
    let text = with("name = \"F\"\naddress = 0x100004");
    assert!(text.contains("not a multiple of 0x2000"), "{text}");
    let text = with("name = \"F\"\n[[memory]]\nname = \"F_XCP\"\nspace = \"scratch\"\nsize = 4");
    assert!(
        text.contains("`F_XCP` is defined twice: by memory `F_XCP` and by the coprocessor `F`"),
        "{text}"
    );
}

#[test]
fn unknown_keys_are_reported_with_their_section() {
    let with = |text: &str| bad(&format!("{ME}{text}"), 1);
    let text = with("[gpp.xcp]\nalpa = 1\n");
    assert!(
        text.contains("there is no key `alpa` in [gpp.xcp]") && text.contains("npsim.toml"),
        "{text}"
    );
    let text = with("[gpp.xcq]\n");
    assert!(
        text.contains("there is no key `xcq` in [gpp]\n  help: did you mean `xcp`?"),
        "{text}"
    );
    let text = with("[coprocesor]\n");
    assert!(text.contains("no key `coprocesor`") && text.contains("did you mean `coprocessor`?"));
    let text = with("[coprocessor]\nchannel = 1\n");
    assert!(
        text.contains("the key `name` is missing in [coprocessor]"),
        "{text}"
    );
    let text = with("[gpp]\ntasks = [\"xpc\"]\n");
    assert!(text.contains("did you mean `xcp`?"), "{text}");
}
