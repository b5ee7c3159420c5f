//! Options of the commands that generate traffic.

use clap::Args;
use npsim_net::load::{
    Amount, Arrivals, Interleave, Load, LoadRate, Prefix, RateError, Sizes, TimeSpan,
};

use super::value::parser;

/// `--load`, `--rate`, `--size` and what else shapes generated traffic.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Generated traffic")]
pub struct LoadOptions {
    /// Generate traffic at this fraction of line rate, such as `0.33`, `33%` or `1` (back to back), or per port, such as `1,0.5,0`
    #[arg(long, value_name = "PART", value_parser = parse_load)]
    pub load: Option<LoadRate>,
    /// Generate traffic at this total rate over all ports, in frames or bits of line time per second, such as `4.5Mpps` or `3Gbps`
    #[arg(long, value_name = "RATE", conflicts_with = "load", value_parser = absolute)]
    pub rate: Option<LoadRate>,
    /// Frame size with FCS: `64`, `512`, `imix`, or sizes with weights such as `64:7,1518:1`
    #[arg(long, value_name = "BYTES", value_parser = parser::<Sizes>())]
    pub size: Option<Sizes>,
    /// Arrival process of frames: `constant`, `poisson` or `bursts`
    #[arg(long, value_name = "KIND", value_parser = parser::<Arrivals>())]
    pub arrivals: Option<Arrivals>,
    /// Mean frames of a burst, with `--arrivals bursts`
    #[arg(long, value_name = "N")]
    pub burst: Option<u32>,
    /// Number of concurrent flows over all ports, at least one for each port with traffic
    #[arg(long, value_name = "N")]
    pub flows: Option<u32>,
    /// Frames per flow, after which another flow takes its place [default: 0, flows do not end]
    #[arg(long, value_name = "N")]
    pub flow_packets: Option<u64>,
    /// How frames are assigned to flows: in `turn`, or at `random`
    #[arg(long, value_name = "WAY", value_parser = parser::<Interleave>())]
    pub interleave: Option<Interleave>,
    /// Destinations of flows, such as `10.2.0.0/16`; may be repeated [default: the project's routes]
    #[arg(long = "to", value_name = "PREFIX", value_parser = parser::<Prefix>())]
    pub destinations: Vec<Prefix>,
    /// How long to generate traffic; the run continues until it has been handled [default: 1ms]
    #[arg(long, value_name = "TIME", value_parser = parser::<TimeSpan>())]
    pub time: Option<TimeSpan>,
}

impl LoadOptions {
    /// The load given by options and `file` together, where options take precedence; `None` if neither has a rate.
    pub fn merged_with(&self, file: Option<&Load>, seed: Option<u64>) -> Option<Load> {
        let mut load = file.cloned().unwrap_or_default();
        if let Some(rate) = self.load.as_ref().or(self.rate.as_ref()) {
            load.rate = Some(rate.clone());
            // A spread divides a total rate; it does not apply to a list of ports.
            if matches!(rate, LoadRate::PerPort(_)) {
                load.spread.clear();
            }
        }
        if let Some(size) = &self.size {
            load.size = size.clone();
        }
        if !self.destinations.is_empty() {
            load.destinations.clone_from(&self.destinations);
        }
        load.arrivals = self.arrivals.unwrap_or(load.arrivals);
        load.burst = self.burst.unwrap_or(load.burst);
        load.flows = self.flows.unwrap_or(load.flows);
        load.flow_packets = self.flow_packets.unwrap_or(load.flow_packets);
        load.interleave = self.interleave.unwrap_or(load.interleave);
        load.time = self.time.unwrap_or(load.time);
        load.seed = seed.unwrap_or(load.seed);
        load.rate.is_some().then_some(load)
    }

    /// A given option that has no effect without a rate, if there is one.
    pub fn option_needing_rate(&self) -> Option<&'static str> {
        let given = [
            (self.size.is_some(), "--size"),
            (self.arrivals.is_some(), "--arrivals"),
            (self.burst.is_some(), "--burst"),
            (self.flows.is_some(), "--flows"),
            (self.flow_packets.is_some(), "--flow-packets"),
            (self.interleave.is_some(), "--interleave"),
            (!self.destinations.is_empty(), "--to"),
            (self.time.is_some(), "--time"),
        ];
        given
            .into_iter()
            .find_map(|(given, name)| given.then_some(name))
    }
}

/// Parses the value of `--load`.
fn parse_load(text: &str) -> Result<LoadRate, String> {
    match text.parse().map_err(|error: RateError| error.to_string())? {
        rate @ LoadRate::Total(Amount::Packets(_) | Amount::Bits(_)) => Err(format!(
            "that is not a part of the lines' rate; write `--rate {rate}`"
        )),
        rate => Ok(rate),
    }
}

/// Parses the value of `--rate`.
fn absolute(text: &str) -> Result<LoadRate, String> {
    match text.parse().map_err(|error: RateError| error.to_string())? {
        rate @ LoadRate::Total(Amount::Line(_)) => Err(format!(
            "it has no unit; write `--load {rate}` for a part of the lines' rate, or a rate such as `--rate 1Mpps`"
        )),
        rate => Ok(rate),
    }
}
