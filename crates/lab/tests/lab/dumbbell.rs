//! A network of two senders and two receivers with one line between them, and studies of it.

use npsim_lab::results::Results;

use crate::bench::Bench;

/// A network without flows. Flows from `s` to `d` share the 10 Mb/s of `line`.
pub const DUMBBELL: &str = r#"
name = "lines"
until = "10s"

[[host]]
name = "s"
count = 2
address = "10.0.0.1"
[[host]]
name = "d"
count = 2
address = "10.1.0.1"
[[switch]]
name = "left"
[[router]]
name = "r"
model = "fifo"

[[link]]
name = "access"
between = ["s", "left"]
rate = "1Gbps"
delay = "0s"
[[link]]
name = "trunk"
between = ["left", "r"]
rate = "1Gbps"
delay = "0s"
[[link]]
name = "line"
between = ["r", "d"]
rate = "10Mbps"
delay = "50ms"
queue = { limit = "50 packets" }
"#;

/// A folder in which studies find a network as `net.toml`.
pub fn bench(network: &str) -> Bench {
    let bench = Bench::new();
    std::fs::write(bench.path("net.toml"), network).expect("write");
    bench
}

/// The values of a metric for all runs of all points.
pub fn values(results: &Results, metric: &str) -> Vec<f64> {
    let read = |cached| results.reading(cached, metric).expect("a value");
    results.points.iter().map(read).collect()
}
