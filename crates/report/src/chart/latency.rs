//! Latency distributions.

use npsim_session::histogram::Histogram;

use super::scale::{Scale, short_number, steps, tick_label, ticks, time_unit};
use super::svg::Drawing;

/// A histogram with bins of equal width, or of equal ratio if latencies differ widely.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LatencyChart {
    /// Edges of the bins in nanoseconds, one more than there are bins.
    pub edges: Vec<f64>,
    /// Packets in each bin.
    pub counts: Vec<u64>,
    /// Whether the bins are of equal ratio.
    pub ratio: bool,
}

impl LatencyChart {
    /// Sorts latencies in cycles into at most `bins` bins; `None` without latencies.
    ///
    /// Bins have equal widths, or equal ratios if the largest latency is far above the median:
    /// otherwise nearly all packets would be in the first bin. The last edge is one beyond the
    /// largest latency, so that it lies inside.
    #[must_use]
    pub fn of(latencies: &Histogram, mhz: u64, bins: usize) -> Option<Self> {
        let (least, most) = (latencies.least()?, latencies.most()?);
        let ns = |cycles: f64| cycles * 1000.0 / mhz.max(1) as f64;
        let middle = latencies.permille(500)?;
        let ratio = most > middle.saturating_mul(6) && least > 0;
        let (low, high) = if ratio {
            ((least as f64).ln(), ((most + 1) as f64).ln())
        } else {
            (least as f64, (most + 1) as f64)
        };
        // Bins narrower than those of the histogram would sometimes be empty.
        let known = (most / 128).max(1);
        let bins = if ratio {
            bins
        } else {
            bins.min(((most - least + 1) / known) as usize)
        }
        .max(1);
        let edge = |i: usize| {
            let at = low + (high - low) * i as f64 / bins as f64;
            if ratio { at.exp() } else { at }
        };
        let edges: Vec<f64> = (0..=bins).map(edge).collect();
        let mut counts = vec![0; bins];
        let mut bin = 0;
        for (latency, packets) in latencies.values() {
            while bin + 1 < bins && latency as f64 >= edges[bin + 1] {
                bin += 1;
            }
            counts[bin] += packets;
        }
        Some(Self {
            edges: edges.into_iter().map(ns).collect(),
            counts,
            ratio,
        })
    }

    /// Draws the chart, with the percentiles (name and nanoseconds) marked.
    #[must_use]
    pub fn draw(&self, width: f64, height: f64, marks: &[(&str, u64)]) -> String {
        let rows = 15.0 * marks.len() as f64;
        let (left, right, top, bottom) = (48.0, 14.0, 22.0 + rows, 34.0);
        let (Some(&first), Some(&last)) = (self.edges.first(), self.edges.last()) else {
            return String::new();
        };
        let place = |ns: f64| if self.ratio { ns.max(1e-9).ln() } else { ns };
        let x = Scale::new(place(first), place(last), left, width - right);
        let most = self.counts.iter().copied().max().unwrap_or(0);
        let (mut step, mut count) = steps(most as f64, 4);
        if step < 1.0 {
            (step, count) = (1.0, most.max(1) as usize);
        }
        let y = Scale::new(0.0, step * count as f64, height - bottom, top);
        let label = format!(
            "distribution of latency from {} to {} nanoseconds",
            first as u64, last as u64
        );
        let mut drawing = Drawing::new("chart", width, height, &label);
        for n in 0..=count {
            let value = step * n as f64;
            drawing.line("grid", (left, y.at(value)), (width - right, y.at(value)));
            drawing.text(
                "tick end",
                left - 6.0,
                y.at(value) + 4.0,
                &tick_label(value),
            );
        }
        drawing.text("unit start", 2.0, 12.0, "packets");
        let (unit, scale) = time_unit(last);
        for tick in self.axis_ticks(width, scale) {
            let at = x.at(place(tick * scale));
            if at < left - 1.0 || at > width - right + 1.0 {
                continue;
            }
            drawing.line("axis", (at, height - bottom), (at, height - bottom + 4.0));
            drawing.text("tick middle", at, height - bottom + 17.0, &tick_label(tick));
        }
        let scale_name = if self.ratio { ", logarithmic" } else { "" };
        let label = format!("latency, {unit}{scale_name}");
        drawing.text("unit end", width - right, height - 4.0, &label);
        for (bin, &packets) in self.counts.iter().enumerate() {
            if packets == 0 {
                continue;
            }
            let (from, to) = (
                x.at(place(self.edges[bin])),
                x.at(place(self.edges[bin + 1])),
            );
            let title = format!(
                "{packets} packets: {} to {} ns",
                self.edges[bin] as u64,
                self.edges[bin + 1] as u64
            );
            let high = y.at(packets as f64);
            let wide = (to - from - 1.0).max(0.8);
            drawing.bar(
                "fill-sent",
                from,
                high,
                wide,
                height - bottom - high,
                &title,
            );
        }
        drawing.line(
            "axis",
            (left, height - bottom),
            (width - right, height - bottom),
        );
        // Names are to the left of their lines, the first one lowest, so that no line crosses a
        // name.
        let at = |ns: u64| x.at(place(ns as f64)).clamp(left, width - right);
        let rows = (0..marks.len()).rev().map(|row| 30.0 + 15.0 * row as f64);
        let rows: Vec<_> = rows.zip(marks).collect();
        for (high, (_, ns)) in &rows {
            drawing.line("mark", (at(*ns), high - 9.0), (at(*ns), height - bottom));
        }
        for (high, (name, ns)) in &rows {
            let text = format!("{name} {} {unit}", short_number(*ns as f64 / scale));
            let at = at(*ns);
            if at - left > 90.0 {
                drawing.text("tick halo end", at - 5.0, *high, &text);
            } else {
                drawing.text("tick halo start", at + 5.0, *high, &text);
            }
        }
        drawing.finish()
    }

    fn axis_ticks(&self, width: f64, scale: f64) -> Vec<f64> {
        let (first, last) = (
            self.edges[0] / scale,
            self.edges[self.edges.len() - 1] / scale,
        );
        if !self.ratio {
            return ticks(first, last, (width / 80.0) as usize);
        }
        let from = first.log10().floor() as i32;
        let to = last.log10().ceil() as i32;
        let factors: &[f64] = if to - from > 3 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        (from..=to)
            .flat_map(|power| factors.iter().map(move |f| f * 10f64.powi(power)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::LatencyChart;

    fn chart(latencies: &[u64], bins: usize) -> Option<LatencyChart> {
        LatencyChart::of(&latencies.iter().copied().collect(), 600, bins)
    }

    #[test]
    fn every_packet_is_in_one_bin() {
        for latencies in [&[600, 601, 602, 700, 1199][..], &[5], &[10, 10, 900_000]] {
            let chart = chart(latencies, 40).unwrap();
            assert_eq!(chart.counts.iter().sum::<u64>(), latencies.len() as u64);
            assert_eq!(chart.edges.len(), chart.counts.len() + 1);
            let svg = chart.draw(400.0, 200.0, &[("50%", 1000)]);
            assert!(svg.contains("<rect") && !svg.contains("NaN"), "{svg}");
        }
        assert_eq!(chart(&[], 40), None);
    }

    #[test]
    fn long_tails_get_logarithmic_bins() {
        assert!(!chart(&[100, 200, 300], 10).unwrap().ratio);
        assert!(chart(&[100, 100, 100, 50_000], 10).unwrap().ratio);
    }
}
