//! Hosts whose work takes time.

use npsim_network::counters::NetworkCounters;
use npsim_network::{NoTap, Simulation};
use npsim_network_file::file::NetworkFile;

/// Two hosts on a fast wire, the first with the CPU described by `cpu`; returns the counters of the
/// second from 1 s to 2 s.
fn run(cpu: &str, flow: &str) -> NetworkCounters {
    let text = format!(
        "name = \"two\"\nuntil = \"2s\"\n\
         [[host]]\nname = \"a\"\naddress = \"10.0.0.1\"\n{cpu}\n\
         [[host]]\nname = \"b\"\naddress = \"10.0.0.2\"\n\
         [[link]]\nbetween = [\"a\", \"b\"]\nrate = \"10Gbps\"\ndelay = \"1ms\"\n\
         [[flow]]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    );
    let file = NetworkFile::parse("two.toml", &text).unwrap_or_else(|problem| panic!("{problem}"));
    let mut simulation = Simulation::new(file.topology.clone()).expect("two hosts");
    let second = npsim_transport::time::SECOND;
    simulation.run_to(second, &mut NoTap);
    let begin = simulation.counters();
    simulation.run_to(2 * second, &mut NoTap);
    simulation.counters().since(&begin)
}

/// 10,000 datagrams a second.
const DATAGRAMS: &str = "transport = \"udp\"\nrate = \"80Mbps\"\npacket = 1000";

#[test]
fn fast_cpu_adds_no_loss() {
    let free = run("", DATAGRAMS);
    assert!(free.cpus.is_empty());
    let busy = run("cpu = { cores = 2, packet = \"20us\" }", DATAGRAMS);
    assert_eq!(busy.flows[0].reached.packets, free.flows[0].reached.packets);
    // 20 us of the 200 us of two cores, and a timer without cost.
    let used = busy.cpus[0].utilisation();
    assert!((used - 0.1).abs() < 0.001, "{used}");
}

#[test]
fn slow_cpu_limits_the_rate() {
    let busy = run("cpu = { packet = \"200us\" }", DATAGRAMS);
    let reached = busy.flows[0].reached.packets;
    assert!((4_999..=5_001).contains(&reached), "{reached}");
    let used = busy.cpus[0].utilisation();
    assert!((used - 2.0).abs() < 0.01, "{used}");
}

#[test]
fn timers_and_ticks_use_the_cpu() {
    let used = |cpu: &str| run(cpu, DATAGRAMS).cpus[0].utilisation();
    let timers = used("cpu = { timer = \"10us\" }");
    assert!((timers - 0.1).abs() < 0.001, "{timers}");
    // Each timer has its own time here.
    let ticks = used("cpu = { tick = \"30us\" }");
    assert!((ticks - 0.3).abs() < 0.001, "{ticks}");
}

#[test]
fn cpu_delays_acknowledgements() {
    let flow = "transport = \"sack\"\nhost = { window_limit = 1460 }";
    let rtt = |cpu: &str| {
        let counters = run(cpu, flow);
        // One segment per round-trip time.
        1_460.0 * 8.0 / counters.goodput(0)
    };
    let (free, busy) = (rtt(""), rtt("cpu = { cores = 16, packet = \"100us\" }"));
    let more = busy - free;
    assert!((0.000_19..0.000_22).contains(&more), "{free} {busy}");
}

#[test]
fn many_cores_do_not_reorder_a_flow() {
    // A burst for each tick, on cores whose timers take longer than packets.
    let flow = "transport = \"srp\"\nhost = { pacing = \"100Hz\" }";
    let cpu = "cpu = { cores = 16, packet = \"20us\", timer = \"200us\" }";
    let flows = run(cpu, flow).flows;
    assert!(flows[0].reached.packets > 1_000);
    assert_eq!(flows[0].gone.packets, 0);
    assert_eq!(flows[0].sender.retransmitted, 0, "nothing was overtaken");
}
