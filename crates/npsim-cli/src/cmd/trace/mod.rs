//! `npsim trace`: generates and inspects captures.

mod gen_capture;
mod info;
mod order;
mod order_report;
mod order_text;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::format::Format;

const EXAMPLES: &str = "\
Examples:
  npsim trace gen --load 0.5 --size imix --time 2ms -o half.pcap     one gigabit port
  npsim trace gen --load 1 --port-count 3 -o full.pcapng                  an interface a port
  npsim trace gen --project microcode/forward --rate 1Mpps -o in.pcapng
  npsim trace info traces/mixed.pcap
  npsim trace info --format json traces/*.pcap
  npsim trace order out.pcap --against in.pcap                       reordered packets";

/// Make a capture of generated traffic, or say what is in captures and in which order
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Gen(Box<gen_capture::Arguments>),
    Info(info::Arguments),
    Order(order::Arguments),
}

impl Arguments {
    /// The format of the results.
    pub fn format(&self) -> Format {
        match &self.command {
            Command::Gen(it) => it.format,
            Command::Info(it) => it.format,
            Command::Order(it) => it.format,
        }
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::Gen(arguments) => gen_capture::run(arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Order(arguments) => order::run(arguments),
    }
}
