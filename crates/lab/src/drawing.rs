//! Figures as SVG: curves of the study, published values marked.

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::campaign::Results;
use crate::curves::{Sample, samples};
use crate::study::{Curve, Figure, Mark, Scale, Study};

/// Colours that differ in print and for those who see few of them.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 90, 160),
    RGBColor(200, 80, 0),
    RGBColor(0, 130, 90),
    RGBColor(150, 50, 130),
    RGBColor(110, 110, 110),
    RGBColor(190, 140, 0),
    RGBColor(0, 150, 190),
];
const SIZE: (u32, u32) = (760, 470);
/// Height of a line of the legend, which stands below the chart and hides nothing.
const LEGEND_LINE: u32 = 20;
/// Entries side by side.
const LEGEND_COLUMNS: usize = 2;

/// The figures of a study; where it has none, one for each metric of each sweep
/// with an axis.
#[must_use]
pub fn figures(study: &Study) -> Vec<Figure> {
    if !study.figure.is_empty() {
        return study.figure.clone();
    }
    let mut figures = Vec::new();
    for (name, sweep) in &study.sweep {
        if sweep.axis.is_empty() {
            continue;
        }
        for (metric, about) in study.metrics_of(sweep) {
            let mut cuts = vec![Vec::new()];
            for axis in sweep.axis.iter().skip(1) {
                cuts = cuts
                    .into_iter()
                    .flat_map(|before: Vec<(String, String)>| {
                        axis.places().into_iter().map(move |place| {
                            let mut now = before.clone();
                            now.push((axis.name().to_owned(), place.label));
                            now
                        })
                    })
                    .collect();
            }
            let curve = cuts.into_iter().map(|cut| Curve {
                of: format!("{name}.{metric}"),
                label: (!cut.is_empty()).then(|| {
                    let parts: Vec<_> = cut.iter().map(|(a, v)| format!("{a} {v}")).collect();
                    parts.join(", ")
                }),
                at: cut
                    .into_iter()
                    .map(|(axis, value)| (axis, crate::study::SettingValue::Text(value)))
                    .collect(),
            });
            figures.push(Figure {
                name: format!("{name}-{metric}"),
                title: format!(
                    "{}: {}",
                    sweep.title.as_deref().unwrap_or(name),
                    about.shown()
                ),
                x: Scale::default(),
                y: Scale::default(),
                curve: curve.collect(),
                mark: Vec::new(),
                diagonal: false,
            });
        }
    }
    figures
}

/// A figure as SVG; `None` if none of its curves has a value.
///
/// # Errors
/// It cannot be drawn, in words.
pub fn draw(study: &Study, results: &Results, figure: &Figure) -> Result<Option<String>, String> {
    let curves: Vec<Line> = figure
        .curve
        .iter()
        .map(|curve| {
            let places = samples(study, results, &curve.of, &curve.at);
            Line {
                label: label(study, curve),
                places: places.iter().filter_map(known).collect(),
                computed: study.curve.contains_key(&curve.of),
            }
        })
        .collect();
    if curves.iter().all(|line| line.places.is_empty()) {
        return Ok(None);
    }
    let marks: Vec<(String, f64, f64)> = figure
        .mark
        .iter()
        .filter_map(|mark| place(study, mark))
        .collect();
    let seen = || {
        let marked = marks.iter().map(|(_, x, y)| (*x, *y));
        curves
            .iter()
            .flat_map(|line| line.places.iter().copied())
            .chain(marked)
    };
    let x = range(&figure.x, seen().map(|(x, _)| x));
    let y = range(&figure.y, seen().map(|(_, y)| y));
    let mut svg = String::new();
    {
        let entries = curves.len() + usize::from(!marks.is_empty());
        let lines = entries.div_ceil(LEGEND_COLUMNS) as u32;
        let size = (SIZE.0, SIZE.1 + lines * LEGEND_LINE + LEGEND_LINE / 2);
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let said = |error: DrawingAreaErrorKind<_>| error.to_string();
        area.fill(&WHITE).map_err(said)?;
        let (above, below) = area.split_vertically(SIZE.1);
        plot(&above, study, figure, (x, y), &curves, &marks).map_err(said)?;
        legend(&below, &curves, !marks.is_empty()).map_err(said)?;
        area.present().map_err(said)?;
    }
    Ok(Some(svg))
}

/// A curve as it is drawn.
struct Line {
    label: String,
    places: Vec<(f64, f64)>,
    /// Not measured: drawn dashed, without a mark at each point.
    computed: bool,
}

type Failure = DrawingAreaErrorKind<<SVGBackend<'static> as DrawingBackend>::ErrorType>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn plot(
    area: &Area<'_>,
    study: &Study,
    figure: &Figure,
    (x, y): ((f64, f64), (f64, f64)),
    curves: &[Line],
    marks: &[(String, f64, f64)],
) -> Result<(), Failure> {
    let mut chart = ChartBuilder::on(area)
        .caption(&figure.title, ("sans-serif", 18))
        .margin(14)
        .x_label_area_size(46)
        .y_label_area_size(58)
        .build_cartesian_2d(x.0..x.1, y.0..y.1)?;
    let (x_label, y_label) = labels(study, figure);
    let digits = |range: (f64, f64)| {
        usize::from(range.1 - range.0 < 20.0) + usize::from(range.1 - range.0 < 1.0)
    };
    let (x_digits, y_digits) = (digits(x), digits(y));
    chart
        .configure_mesh()
        .max_light_lines(1)
        .light_line_style(RGBColor(240, 240, 240))
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc(x_label)
        .y_desc(y_label)
        .axis_desc_style(("sans-serif", 15))
        .label_style(("sans-serif", 13))
        .x_label_formatter(&|value| format!("{value:.x_digits$}"))
        .y_label_formatter(&|value| format!("{value:.y_digits$}"))
        .draw()?;
    if figure.diagonal {
        let (from, to) = (x.0.max(y.0), x.1.min(y.1));
        chart.draw_series(DashedLineSeries::new(
            [(from, from), (to, to)],
            5,
            5,
            RGBColor(170, 170, 170).into(),
        ))?;
    }
    for (number, line) in curves.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let places = line.places.iter().copied();
        if line.computed {
            chart.draw_series(DashedLineSeries::new(places, 7, 4, colour.stroke_width(2)))?;
            continue;
        }
        chart.draw_series(LineSeries::new(places.clone(), colour.stroke_width(2)))?;
        chart.draw_series(places.map(|at| Circle::new(at, 3, colour.filled())))?;
    }
    chart.draw_series(marks.iter().map(|(label, x, y)| {
        EmptyElement::at((*x, *y))
            + Cross::new((0, 0), 6, BLACK.stroke_width(2))
            + Text::new(label.clone(), (9, -14), ("sans-serif", 13))
    }))?;
    Ok(())
}

/// What each line is, and the crosses if there are some.
fn legend(area: &Area<'_>, curves: &[Line], marked: bool) -> Result<(), Failure> {
    let width = (SIZE.0 - 72) as i32 / LEGEND_COLUMNS as i32;
    let place = |entry: usize| {
        let (line, column) = (entry / LEGEND_COLUMNS, entry % LEGEND_COLUMNS);
        (
            58 + column as i32 * width,
            8 + line as i32 * LEGEND_LINE as i32,
        )
    };
    let text = |label: &str, (x, y): (i32, i32)| {
        Text::new(label.to_owned(), (x + 28, y - 6), ("sans-serif", 14))
    };
    for (number, line) in curves.iter().enumerate() {
        let (x, y) = place(number);
        let style = COLOURS[number % COLOURS.len()].stroke_width(2);
        let dashes = if line.computed {
            vec![(0, 7), (11, 18)]
        } else {
            vec![(0, 20)]
        };
        for (from, to) in dashes {
            area.draw(&PathElement::new([(x + from, y), (x + to, y)], style))?;
        }
        area.draw(&text(&line.label, (x, y)))?;
    }
    if marked {
        let (x, y) = place(curves.len());
        area.draw(&Cross::new((x + 9, y), 5, BLACK.stroke_width(2)))?;
        area.draw(&text("published", (x, y)))?;
    }
    Ok(())
}

fn known(sample: &Sample) -> Option<(f64, f64)> {
    sample.y.as_ref().ok().map(|&y| (sample.x, y))
}

fn label(study: &Study, curve: &Curve) -> String {
    if let Some(label) = &curve.label {
        return label.clone();
    }
    if let Some(derived) = study.curve.get(&curve.of) {
        return derived.title.clone().unwrap_or_else(|| curve.of.clone());
    }
    let name = curve
        .of
        .split_once('.')
        .map_or(curve.of.as_str(), |(sweep, _)| sweep);
    let title = study.sweep.get(name).and_then(|sweep| sweep.title.clone());
    title.unwrap_or_else(|| name.to_owned())
}

/// A published value in the figure: its id, where it lies.
fn place(study: &Study, mark: &Mark) -> Option<(String, f64, f64)> {
    let mut rows = study.published.iter().filter(|row| row.id == mark.id);
    let row = rows.nth(mark.nth)?;
    let y = row.value.or(row.at_least).or(row.at_most)?;
    Some((row.id.clone(), mark.x, y))
}

/// The labels of the scales: what is typed, or what the first curve shows.
fn labels(study: &Study, figure: &Figure) -> (String, String) {
    let first = figure
        .curve
        .first()
        .map(|curve| match study.curve.get(&curve.of) {
            Some(derived) => derived.over.of(),
            None => curve.of.as_str(),
        })
        .and_then(|of| of.split_once('.'));
    let sweep = first.and_then(|(sweep, _)| study.sweep.get(sweep));
    let axis = sweep
        .and_then(|sweep| sweep.axis.first())
        .map(crate::study::Axis::shown);
    let metric = first
        .and_then(|(_, metric)| study.metric.get(metric))
        .map(|metric| {
            if metric.unit().is_empty() {
                metric.shown()
            } else {
                format!("{} [{}]", metric.shown(), metric.unit())
            }
        });
    (
        figure.x.label.clone().or(axis).unwrap_or_default(),
        figure.y.label.clone().or(metric).unwrap_or_default(),
    )
}

/// From 0, or from the typed begin, to the typed end, or to a little more than
/// what is seen where that lies beyond it.
fn range(scale: &Scale, seen: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = seen.fold((0.0_f64, 0.0_f64), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    let from = scale.from.unwrap_or(low);
    let needed = if high > 0.0 { high * 1.08 } else { 1.0 };
    // What lies beyond the typed end would be drawn at it, where it is not.
    let to = scale.to.filter(|&to| to >= high).unwrap_or(needed);
    if to > from {
        (from, to)
    } else {
        (from, from + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::range;
    use crate::study::Scale;

    #[test]
    fn no_scale_hides_what_was_measured() {
        let scale = |from, to| Scale {
            label: None,
            from,
            to,
        };
        let of = |scale: &Scale, seen: &[f64]| range(scale, seen.iter().copied());
        assert_eq!(of(&scale(None, Some(8.0)), &[3.0, 4.0]), (0.0, 8.0));
        assert_eq!(of(&scale(None, Some(8.0)), &[3.0, 8.0]), (0.0, 8.0));
        assert_eq!(of(&scale(None, Some(8.0)), &[3.0, 50.0]), (0.0, 54.0));
        assert_eq!(of(&scale(Some(2.0), None), &[100.0]), (2.0, 108.0));
        assert_eq!(of(&scale(None, None), &[-1.0]), (-1.0, 1.0));
        assert_eq!(of(&scale(Some(5.0), None), &[1.0]), (5.0, 6.0));
    }
}
