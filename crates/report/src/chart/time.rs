//! Values over time: lines and areas with a time axis.

use std::fmt::Write as _;

use super::scale::{Scale, short_number, steps, tick_label, ticks, time_unit};
use super::svg::{Drawing, area, escaped, line_path, number};

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// A line.
    Line,
    /// A filled area.
    Area,
}

/// A curve.
#[derive(Clone, Debug)]
pub struct TimeCurve {
    /// The name in the legend.
    pub name: String,
    /// The class with its colour.
    pub class: &'static str,
    /// How it is drawn.
    pub stroke: Stroke,
    /// One value per time.
    pub values: Vec<f64>,
}

/// A chart of curves.
#[derive(Clone, Debug)]
pub(crate) struct TimeChart {
    /// A description for screen readers.
    pub label: String,
    /// Unit of the values, written above the axis.
    pub unit: String,
    /// Ends of the intervals, in nanoseconds.
    pub times: Vec<f64>,
    /// The curves, back to front.
    pub curves: Vec<TimeCurve>,
    /// A level to draw with its name, if the values come near it.
    pub level: Option<(f64, String)>,
    /// Whether values are integers, so that the axis needs no fractions.
    pub whole: bool,
}

impl TimeChart {
    /// Draws the chart at a width and height.
    #[must_use]
    pub fn draw(&self, width: f64, height: f64) -> String {
        let (left, right, top, bottom) = (48.0, 12.0, 22.0, 34.0);
        let end = self.times.last().copied().unwrap_or(1.0);
        let values = self.curves.iter().flat_map(|curve| &curve.values);
        let reached = values.fold(0.0, |most: f64, value| most.max(*value));
        let level = self.level.as_ref().filter(|(at, _)| *at <= reached * 2.0);
        let most = level.map_or(reached, |(at, _)| at.max(reached));
        let (mut step, mut count) = steps(most, if height < 150.0 { 3 } else { 4 });
        if self.whole && step < 1.0 {
            (step, count) = (1.0, most.ceil().max(1.0) as usize);
        }
        let x = Scale::new(0.0, end, left, width - right);
        let y = Scale::new(0.0, step * count as f64, height - bottom, top);
        let mut drawing = Drawing::new("chart", width, height, &self.label);
        for n in 0..=count {
            let value = step * n as f64;
            let at = y.at(value);
            drawing.line("grid", (left, at), (width - right, at));
            drawing.text("tick end", left - 6.0, at + 4.0, &tick_label(value));
        }
        drawing.text("unit start", 2.0, 12.0, &self.unit);
        let (name, scale) = time_unit(end);
        for tick in ticks(0.0, end / scale, (width / 110.0) as usize) {
            let at = x.at(tick * scale);
            drawing.line("axis", (at, height - bottom), (at, height - bottom + 4.0));
            drawing.text("tick middle", at, height - bottom + 17.0, &tick_label(tick));
        }
        let label = format!("time, {name}");
        drawing.text("unit end", width - right, height - 4.0, &label);
        for curve in &self.curves {
            let points: Vec<_> = self
                .times
                .iter()
                .zip(&curve.values)
                .map(|(t, v)| (x.at(*t), y.at(*v)))
                .collect();
            match curve.stroke {
                Stroke::Line => drawing.path(&format!("curve {}", curve.class), &line_path(points)),
                Stroke::Area => {
                    drawing.path(&format!("area {}", curve.class), &area(&points, y.at(0.0)));
                }
            }
        }
        if let Some((at, name)) = level {
            let at = y.at(*at);
            drawing.line("level", (left, at), (width - right, at));
            drawing.text("tick end", width - right, at - 4.0, name);
        }
        drawing.line(
            "axis",
            (left, height - bottom),
            (width - right, height - bottom),
        );
        drawing.raw(&self.readings(&x, scale, name, height - bottom, top));
        drawing.finish()
    }

    /// The values that the script shows under the pointer.
    fn readings(&self, x: &Scale, scale: f64, unit: &str, bottom: f64, top: f64) -> String {
        let list = |values: &mut dyn Iterator<Item = String>| {
            let all: Vec<_> = values.collect();
            all.join(" ")
        };
        let mut out = format!(
            "<g class=\"readings\" data-unit=\"{unit}\" data-x=\"{}\" data-t=\"{}\">",
            list(&mut self.times.iter().map(|t| number(x.at(*t)))),
            list(
                &mut self
                    .times
                    .iter()
                    .map(|t| short_number(t / scale).replace(' ', ""))
            ),
        );
        for curve in &self.curves {
            let _ = write!(
                out,
                "<g data-name=\"{}\" data-v=\"{}\"></g>",
                escaped(&curve.name),
                list(
                    &mut curve
                        .values
                        .iter()
                        .map(|v| short_number(*v).replace(' ', ""))
                )
            );
        }
        let _ = write!(
            out,
            "<path class=\"cursor\" d=\"M0 {}V{}\"/></g>",
            number(top),
            number(bottom)
        );
        out
    }
}
