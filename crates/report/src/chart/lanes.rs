//! Contexts as lanes over time, coloured by activity.

use npsim_isa::CONTEXTS;
use std::collections::BTreeMap;

use npsim_chip::Cycle;

use super::scale::{Scale, ticks};
use super::svg::{Drawing, rect_path};
use npsim_observe::lanes::{Activity, ContextLanes, FrameMark};

/// The height of a lane, and the gap below it.
const LANE: f64 = 9.0;
const GAP: f64 = 2.0;
/// Room above each microengine's lanes.
const HEAD: f64 = 18.0;

/// The class with the colour of an activity.
#[must_use]
pub const fn class(activity: Activity) -> &'static str {
    match activity {
        Activity::Executing => "fill-executing",
        Activity::Aborted => "fill-aborted",
        Activity::Stalled => "fill-stalled",
        Activity::Ready => "fill-ready",
        Activity::Waiting => "fill-waiting",
        Activity::Inactive => "fill-inactive",
    }
}

/// Draws the named lanes of some microengines between two cycles.
#[must_use]
pub fn draw(
    lanes: &ContextLanes,
    microengines: &[(u8, String)],
    from: Cycle,
    until: Cycle,
    width: f64,
) -> String {
    let (left, right, bottom) = (34.0, 8.0, 34.0);
    let marks_top = 4.0;
    let top = marks_top + 3.0 * 12.0;
    let group = HEAD + 8.0 * (LANE + GAP);
    let height = top + group * microengines.len() as f64 + bottom;
    let x = Scale::new(from as f64, until as f64, left, width - right);
    let label = format!("what every context does from cycle {from} to {until}");
    let mut drawing = Drawing::new("chart lanes", width, height, &label);
    let kinds = [
        (FrameMark::Arrives, "in", "mark-in"),
        (FrameMark::Departed, "out", "mark-out"),
        (FrameMark::Dropped, "lost", "mark-lost"),
    ];
    for (row, (kind, name, class)) in kinds.into_iter().enumerate() {
        let y = marks_top + 12.0 * row as f64;
        drawing.text("small end", left - 6.0, y + 8.5, name);
        let mut shape = String::new();
        for (at, mark) in lanes.marks() {
            if *mark == kind && (from..until).contains(at) {
                rect_path(&mut shape, x.at(*at as f64) - 0.75, y, 1.5, 10.0);
            }
        }
        drawing.line("grid", (left, y + 5.0), (width - right, y + 5.0));
        drawing.path(class, &shape);
    }
    for (index, (me, name)) in microengines.iter().enumerate() {
        let y = top + group * index as f64;
        drawing.text("name start", left, y + HEAD - 5.0, name);
        let mut shapes: BTreeMap<Activity, String> = BTreeMap::new();
        for context in 0..CONTEXTS {
            let y = y + HEAD + f64::from(context) * (LANE + GAP);
            drawing.text("small end", left - 6.0, y + 8.0, &context.to_string());
            for stretch in lanes.lane(*me, context) {
                let start = stretch.from.max(from);
                let end = stretch.until.min(until);
                if start >= end {
                    continue;
                }
                let (start, end) = (x.at(start as f64), x.at(end as f64));
                let shape = shapes.entry(stretch.activity).or_default();
                rect_path(shape, start, y, end - start, LANE);
            }
        }
        // Activities drawn on top come last.
        for activity in [
            Activity::Inactive,
            Activity::Waiting,
            Activity::Ready,
            Activity::Executing,
            Activity::Aborted,
            Activity::Stalled,
        ] {
            if let Some(shape) = shapes.get(&activity) {
                drawing.path(class(activity), shape);
            }
        }
    }
    let base = height - bottom;
    drawing.line("axis", (left, base), (width - right, base));
    for tick in ticks(from as f64, until as f64, (width / 130.0) as usize) {
        let at = x.at(tick);
        drawing.line("axis", (at, base), (at, base + 4.0));
        // A number in the corner would extend beyond the drawing.
        if at > left + 24.0 && at < width - right - 24.0 {
            let text = npsim_project::quantity::grouped(tick as u64);
            drawing.text("tick middle", at, base + 16.0, &text);
        }
    }
    drawing.text("unit end", width - right, height - 4.0, "cycle");
    drawing.finish()
}
