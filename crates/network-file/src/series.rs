//! Windows, rates and queues over time: samples of a run, and their CSV, with one row per quantity and
//! time, so that any tool can select what to plot.

use std::io::{self, Write};

use crate::unscaled::Unscaled;
use npsim_network::Simulation;
use npsim_network::counters::NetworkCounters;

/// The kind of subject of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleSubject {
    /// A flow.
    Flow,
    /// A transfer.
    Transfer,
    /// A watched line.
    Link,
}

impl SampleSubject {
    /// Returns the name in the CSV.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Transfer => "transfer",
            Self::Link => "link",
        }
    }
}

/// One quantity at one time, in the times and rates of the network's file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample<'a> {
    /// Time of the sample.
    pub seconds: f64,
    /// Kind of the subject.
    pub of: SampleSubject,
    /// Name of the subject.
    pub name: &'a str,
    /// Name of the quantity, with its unit: `queue_bytes`.
    pub quantity: &'static str,
    /// Its value.
    pub value: f64,
}

/// Takes samples of a run.
#[derive(Debug)]
pub struct Sampler {
    unscaled: Unscaled,
    /// Counters at the previous sample.
    last: Option<NetworkCounters>,
}

impl Sampler {
    /// Creates a sampler before the first sample of a network that runs `scale` times as fast as its
    /// file specifies.
    #[must_use]
    pub fn new(scale: u64) -> Self {
        Self {
            unscaled: Unscaled(scale),
            last: None,
        }
    }

    /// Creates the sampler of a run that is continued, with the counters `last` of the previous sample.
    #[must_use]
    pub fn resumed(scale: u64, last: Option<NetworkCounters>) -> Self {
        Self {
            last,
            ..Self::new(scale)
        }
    }

    /// Returns the counters at the last sample.
    #[must_use]
    pub const fn last(&self) -> Option<&NetworkCounters> {
        self.last.as_ref()
    }

    /// Passes the samples at the current time to `see`. Rates, utilisation and drops are those since the
    /// previous sample, and so is the queue in a chip, which is seen only when packets have left it.
    ///
    /// # Errors
    /// Returns an error if `see` does.
    pub fn sample(
        &mut self,
        simulation: &Simulation,
        see: &mut dyn FnMut(&Sample<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let seconds = self.unscaled.seconds(simulation.now());
        let counters = simulation.counters();
        let since = self.last.as_ref().map(|last| counters.since(last));
        let topology = simulation.topology();
        for (number, flow) in topology.flows.iter().enumerate() {
            let mut row = |quantity, value: f64| {
                see(&Sample {
                    seconds,
                    of: SampleSubject::Flow,
                    name: &flow.name,
                    quantity,
                    value,
                })
            };
            let view = simulation.view(number);
            // A threshold that has not been set yet is unlimited.
            let threshold = view.threshold.filter(|it| *it < u64::MAX / 2);
            let shown = [
                ("window_bytes", view.window.map(|it| it as f64)),
                ("in_flight_bytes", view.in_flight.map(|it| it as f64)),
                ("threshold_bytes", threshold.map(|it| it as f64)),
                ("rtt_s", view.srtt.map(|it| self.unscaled.seconds(it))),
                (
                    "rate_bps",
                    view.rate.map(|it| self.unscaled.rate(it as f64 * 8.0)),
                ),
            ];
            for (quantity, value) in shown {
                value.map_or(Ok(()), |value| row(quantity, value))?;
            }
            if let Some(since) = &since {
                row("goodput_bps", self.unscaled.rate(since.goodput(number)))?;
            }
        }
        for (number, transfer) in topology.transfers.iter().enumerate() {
            if let Some(since) = &since {
                see(&Sample {
                    seconds,
                    of: SampleSubject::Transfer,
                    name: &transfer.name,
                    quantity: "goodput_bps",
                    value: self.unscaled.rate(since.transferred(number)),
                })?;
            }
        }
        for number in 0..2 * topology.links.len() {
            if !topology.is_watched(number) {
                continue;
            }
            let name = topology.line_name(number);
            let mut row = |quantity, value: f64| {
                see(&Sample {
                    seconds,
                    of: SampleSubject::Link,
                    name: &name,
                    quantity,
                    value,
                })
            };
            let in_chip = topology.leaves_chip(number);
            if !in_chip {
                let (bytes, packets) = simulation.queue(number);
                row("queue_bytes", bytes as f64)?;
                row("queue_packets", packets as f64)?;
            }
            if let Some(since) = &since {
                if in_chip {
                    row("queue_bytes", since.lines[number].mean_queue())?;
                }
                row("utilisation", since.lines[number].utilisation())?;
                row("drops", since.lines[number].drops() as f64)?;
            }
        }
        self.last = Some(counters);
        Ok(())
    }
}

/// Writes samples as CSV.
#[derive(Debug)]
pub struct Series<W> {
    out: W,
}

impl<W: Write> Series<W> {
    /// Creates a writer, and writes the names of the columns.
    ///
    /// # Errors
    /// Returns an error if writing to `out` fails.
    pub fn new(mut out: W) -> io::Result<Self> {
        writeln!(out, "time_s,of,name,quantity,value")?;
        Ok(Self { out })
    }

    /// Continues after samples that were written before.
    #[must_use]
    pub const fn resumed(out: W) -> Self {
        Self { out }
    }

    /// Returns the underlying writer.
    pub const fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// Writes a sample.
    ///
    /// # Errors
    /// Returns an error if writing to `out` fails.
    pub fn write(&mut self, sample: &Sample<'_>) -> io::Result<()> {
        let Sample {
            seconds,
            of,
            name,
            quantity,
            value,
        } = sample;
        let (of, name) = (of.name(), quoted(name));
        writeln!(self.out, "{seconds},{of},{name},{quantity},{value}")
    }

    /// Flushes and returns the underlying writer.
    ///
    /// # Errors
    /// Returns an error if writing to `out` fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Formats a name as a CSV field.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
