//! Windows, rates and queues over time, as CSV: a row for each quantity at each moment, so that any tool
//! can pick what it draws.

use std::io::{self, Write};

use crate::census::Census;
use crate::results::Unscaled;
use crate::simulation::Simulation;

/// Writes samples of a run.
#[derive(Debug)]
pub struct Series<W> {
    out: W,
    unscaled: Unscaled,
    /// What was counted at the sample before.
    last: Option<Census>,
}

impl<W: Write> Series<W> {
    /// Begins with the names of the columns.
    ///
    /// # Errors
    /// `out` fails.
    pub fn new(mut out: W, scale: u64) -> io::Result<Self> {
        writeln!(out, "time_s,of,name,quantity,value")?;
        Ok(Self {
            out,
            unscaled: Unscaled(scale),
            last: None,
        })
    }

    /// A sample of the present moment. Rates and utilisation are those since the sample before.
    ///
    /// # Errors
    /// `out` fails.
    pub fn sample(&mut self, simulation: &Simulation) -> io::Result<()> {
        let now = self.unscaled.seconds(simulation.now());
        let census = simulation.census();
        let since = self.last.as_ref().map(|last| census.since(last));
        let topology = simulation.topology();
        let out = &mut self.out;
        for (number, flow) in topology.flows.iter().enumerate() {
            let name = quoted(&flow.name);
            let mut row =
                |quantity, value: f64| writeln!(out, "{now},flow,{name},{quantity},{value}");
            let view = simulation.view(number);
            // A threshold that nothing has set yet is endless.
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
        for number in 0..2 * topology.links.len() {
            if !topology.is_watched(number) {
                continue;
            }
            let name = quoted(&topology.line_name(number));
            let mut row =
                |quantity, value: f64| writeln!(out, "{now},link,{name},{quantity},{value}");
            let (bytes, packets) = simulation.queue(number);
            row("queue_bytes", bytes as f64)?;
            row("queue_packets", packets as f64)?;
            if let Some(since) = &since {
                row("utilisation", since.lines[number].utilisation())?;
                row("drops", since.lines[number].drops() as f64)?;
            }
        }
        self.last = Some(census);
        Ok(())
    }

    /// All that was written.
    ///
    /// # Errors
    /// `out` fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// A name as a field of CSV.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
