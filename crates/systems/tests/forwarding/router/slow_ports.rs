//! A port that is slower than the others and overloaded: it hardly delays packets of the other
//! ports, and its own line is kept busy.

use npsim_chip::Cycle;
use npsim_net::LineFrame;
use npsim_net::load::{Arrivals, Load};

use super::bench::{Bench, Edit, RecordedLines, Sent, run_until};
use super::rests::GROWING;
use super::verdict::check_order;

/// Cycles in a microsecond of the IXP2400.
const MICROSECOND: Cycle = 600;

/// Frames from two gigabit ports: 300 Mbit/s to each of the three.
fn frames(bench: &Bench, size: &str) -> Vec<LineFrame> {
    bench.loaded(Load {
        rate: Some("450Mbps,450Mbps,0".parse().unwrap()),
        arrivals: Arrivals::Poisson,
        size: size.parse().unwrap(),
        flows: 60,
        destinations: ["10.0.0.0/16", "10.1.0.0/16", "10.2.0.0/16"]
            .map(|prefix| prefix.parse().unwrap())
            .to_vec(),
        time: "6ms".parse().unwrap(),
        ..Load::default()
    })
}

/// Runs until the frames have arrived and those of fast ports have left: a slow port may still have
/// a tenth of a second to send.
fn run(bench: &Bench, frames: Vec<LineFrame>) -> RecordedLines {
    let mut lines = bench.lines(frames);
    let mut chip = bench.chip();
    let end = lines.arrivals_end() + 300 * MICROSECOND;
    run_until(&mut chip, end, &mut lines).unwrap();
    check_order(bench, &lines, &lines.departures).unwrap();
    let to_others = lines
        .arrivals
        .iter()
        .filter(|arrival| arrival.bytes[31] != 2);
    let by_others = lines.departures.iter().filter(|sent| sent.port < 2);
    assert_eq!(by_others.count(), to_others.count());
    lines
}

/// The 99th percentile of the time inside of frames that leave by port 0 or 1, from the
/// last bit in to the first bit out.
fn latency_p99(lines: &RecordedLines) -> Cycle {
    let of_others = lines.departures.iter().filter(|sent| sent.port < 2);
    let mut times: Vec<Cycle> = of_others
        .map(|sent| sent.start - lines.arrivals[sent.frame.unwrap() as usize].end)
        .collect();
    times.sort_unstable();
    assert!(times.len() > 250);
    times[times.len() * 99 / 100]
}

/// The longest time for which port 2 sends nothing while frames arrive, after its first frame.
fn longest_pause(lines: &RecordedLines) -> Cycle {
    let end = lines.arrivals_end();
    let of_port = |sent: &&Sent| sent.port == 2 && sent.start < end;
    let sent: Vec<_> = lines.departures.iter().filter(of_port).collect();
    assert!(sent.len() > 3);
    let pauses = sent.windows(2).map(|pair| pair[1].start - pair[0].end);
    // The port's queue has to fill first.
    pauses.skip(sent.len() / 4).max().unwrap()
}

fn expect_undisturbed(rate: &str, size: &str, more: &[&str]) {
    let rate_of_port = format!("port.2.rate={rate}");
    let mut set = vec![rate_of_port.as_str()];
    set.extend(more);
    let bench = Bench::new("npsim.toml", &set, &[]);
    let all = frames(&bench, size);
    // The destination's second byte is that of its network.
    let to_others = all.iter().filter(|frame| frame.bytes[31] != 2);
    let alone = run(&bench, to_others.cloned().collect());
    let beside = run(&bench, all);
    assert!(beside.departures.len() > alone.departures.len());
    let (unloaded, loaded) = (latency_p99(&alone), latency_p99(&beside));
    assert!(
        loaded < 2 * unloaded,
        "{rate}, {size}, {more:?}: {loaded} cycles instead of {unloaded}"
    );
    let pause = longest_pause(&beside);
    assert!(
        pause < 30 * MICROSECOND,
        "{rate}, {size}, {more:?}: nothing sent for {pause} cycles"
    );
}

#[test]
fn fast_ports_hardly_wait_for_a_200_mbps_port() {
    expect_undisturbed("200Mbps", "1518", &[]);
    expect_undisturbed("200Mbps", "imix", &[]);
    expect_undisturbed("200Mbps", "1518", &GROWING);
}

#[test]
fn fast_ports_hardly_wait_for_a_100_mbps_port() {
    expect_undisturbed("100Mbps", "1518", &[]);
    expect_undisturbed("100Mbps", "64", &[]);
}

#[test]
fn fast_ports_hardly_wait_for_a_10_mbps_port() {
    expect_undisturbed("10Mbps", "1518", &[]);
    expect_undisturbed("10Mbps", "imix", &[]);
}

/// With a scheduler that treats no port as slow, the effect that the tests above exclude is
/// present.
#[test]
fn slow_port_delays_others_without_slow_handling() {
    let none_is_slow = Edit {
        file: "router/scheduler/scheduler.uc",
        from: "#define SLOW_MICROSECONDS 20",
        to: "#define SLOW_MICROSECONDS 2000",
    };
    let bench = Bench::new("npsim.toml", &["port.2.rate=200Mbps"], &[none_is_slow]);
    let all = frames(&bench, "1518");
    let to_others = all.iter().filter(|frame| frame.bytes[31] != 2);
    let alone = run(&bench, to_others.cloned().collect());
    assert!(latency_p99(&run(&bench, all)) > 4 * latency_p99(&alone));
}

/// One packet at a time is enough for minimum frames, even if answers wait for rests.
#[test]
fn minimum_frames_fill_a_slow_line() {
    for more in [&[][..], &GROWING] {
        let mut set = vec!["port.2.rate=500Mbps"];
        set.extend(more);
        let bench = Bench::new("npsim.toml", &set, &[]);
        let lines = run(
            &bench,
            bench.loaded(Load {
                rate: Some("450Mbps,450Mbps,0".parse().unwrap()),
                destinations: vec!["10.2.0.0/16".parse().unwrap()],
                time: "2ms".parse().unwrap(),
                ..Load::default()
            }),
        );
        let end = lines.arrivals_end();
        let in_time = lines.departures.iter().filter(|sent| sent.start < end);
        // 84 bytes of line for each, at 500 Mbit/s for 2 ms.
        let (sent, room) = (in_time.count(), 1_488);
        assert!(sent * 100 > room * 97, "{sent} of {room}");
    }
}
