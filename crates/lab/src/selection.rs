//! Which published values a request asks for, and which curves and points they need.

use std::collections::BTreeSet;

use npsim_project::problem::Problem;

use crate::curves::lies_on;
use crate::expression::{CurveName, Shape};
use crate::points::Point;
use crate::rounding::close;
use crate::study::{Published, PublishedCell, PublishedFigure as FigureText, Study};

/// Returns the published values with these ids, or those behind the figures, tables and sweeps of
/// these names; all if the list is empty.
///
/// # Errors
/// Returns an error if a name is unknown in the study, or if no published value belongs to it.
pub fn select<'a>(study: &'a Study, ids: &[String]) -> Result<Vec<&'a Published>, Problem> {
    let known: BTreeSet<&str> = study.published.iter().map(|row| row.id.as_str()).collect();
    let mut wanted: BTreeSet<&str> = BTreeSet::new();
    for id in ids {
        if known.contains(id.as_str()) {
            wanted.insert(id);
            continue;
        }
        let Some(behind) = ids_of(study, id) else {
            return Err(unknown(study, id, known));
        };
        if behind.is_empty() {
            let message = format!(
                "no published value of the study `{}` belongs to `{id}`",
                study.name
            );
            return Err(Problem::new(message).help("it is drawn when the whole study is run"));
        }
        wanted.extend(behind);
    }
    let wanted = |row: &&Published| ids.is_empty() || wanted.contains(row.id.as_str());
    Ok(study.published.iter().filter(wanted).collect())
}

/// The problem that nothing in the study has this name.
fn unknown(study: &Study, id: &str, known: BTreeSet<&str>) -> Problem {
    let list: Vec<&str> = known.into_iter().collect();
    let mut problem = Problem::new(format!("the study `{}` has no `{id}`", study.name))
        .note(format!("choose one of {}", list.join(", ")));
    let figures = study.figure.iter().map(|figure| figure.name.as_str());
    let tables = study.table.iter().map(|table| table.name.as_str());
    let sweeps = study.sweep.keys().map(String::as_str);
    let mut near: Vec<&str> = list;
    for (what, names) in [
        ("figures", figures.collect::<Vec<_>>()),
        ("tables", tables.collect()),
        ("sweeps", sweeps.collect()),
    ] {
        if !names.is_empty() {
            problem = problem.note(format!("and the {what} {}", names.join(", ")));
        }
        near.extend(names);
    }
    problem.suggest(id, near)
}

/// The ids of the published values behind a figure, a table or a sweep; `None` if nothing has the
/// name.
fn ids_of<'a>(study: &'a Study, name: &str) -> Option<Vec<&'a str>> {
    if let Some(figure) = study.figure.iter().find(|figure| figure.name == name) {
        return Some(ids_of_figure(study, figure));
    }
    if let Some(table) = study.table.iter().find(|table| table.name == name) {
        let cells = table.row.iter().flat_map(|row| &row.cell);
        let ids = cells.filter_map(|cell| match cell {
            PublishedCell::Published { id, .. } => Some(id.as_str()),
            _ => None,
        });
        return Some(ids.collect());
    }
    study.sweep.contains_key(name).then(|| {
        let of = |curve: &String| {
            curve
                .split_once('.')
                .is_some_and(|(sweep, _)| sweep == name)
        };
        let rows = study.published.iter();
        let rows = rows.filter(|row| curves_behind(study, &[row]).iter().any(of));
        rows.map(|row| row.id.as_str()).collect()
    })
}

/// The ids of the published values that are marked in a figure or computed from its curves.
fn ids_of_figure<'a>(study: &'a Study, figure: &'a FigureText) -> Vec<&'a str> {
    let drawn: BTreeSet<&str> = figure.curve.iter().map(|curve| curve.of.as_str()).collect();
    let marked = figure.mark.iter().map(|mark| mark.id.as_str());
    let computed = study.published.iter().filter(|row| {
        let curves = curves_behind(study, &[row]);
        curves.iter().any(|curve| drawn.contains(curve.as_str()))
    });
    marked.chain(computed.map(|row| row.id.as_str())).collect()
}

/// The measured curves behind published values, as `SWEEP.METRIC`.
#[must_use]
pub fn curves_behind(study: &Study, rows: &[&Published]) -> BTreeSet<String> {
    let mut curves = BTreeSet::new();
    for row in rows {
        let value = row.measured.iter().flat_map(|measured| measured.curves());
        let shape = row.shape.iter().flat_map(Shape::curves);
        for curve in value.map(|(curve, _)| curve).chain(shape) {
            match study.curve.get(curve.of()) {
                Some(derived) => {
                    let behind = derived.behind(None).into_iter();
                    curves.extend(behind.map(|(curve, _)| curve.of().to_owned()));
                }
                None => {
                    curves.insert(curve.of().to_owned());
                }
            }
        }
    }
    curves
}

/// Whether a published value is compared with a value computed from this point.
#[must_use]
pub fn needs(study: &Study, published: &Published, point: &Point) -> bool {
    let x = point.coordinates.first().map_or(0.0, |place| place.x);
    let on = |curve: &CurveName| lies_on(study, point, curve.of(), &curve.at());
    let value = published
        .measured
        .iter()
        .flat_map(|measured| measured.curves());
    let shape = published.shape.iter().flat_map(|shape| {
        let covered = shape.covers(x);
        shape.curves().into_iter().filter(move |_| covered)
    });
    let shape = shape.map(|curve| (curve, Some(x)));
    value
        .chain(shape)
        .flat_map(|(curve, place)| match study.curve.get(curve.of()) {
            Some(derived) => derived.behind(place),
            None => vec![(curve, place)],
        })
        .filter(|(_, place)| place.is_none_or(|place| close(place, x)))
        .any(|(curve, _)| on(curve))
}

#[cfg(test)]
mod tests {
    use super::{needs, select};
    use crate::points::points;
    use crate::study::Study;

    const TEXT: &str = include_str!("verdict/judged.toml");

    #[test]
    fn ids_select_rows_and_points() {
        let study = Study::parse("s", TEXT).unwrap();
        assert_eq!(select(&study, &["H-2".into()]).unwrap().len(), 2);
        assert_eq!(select(&study, &["rates".into()]).unwrap().len(), 4);
        let message = select(&study, &["H-9".into()]).unwrap_err().to_string();
        assert!(message.contains("H-1, H-2, H-3"), "{message}");
        let points = points(&study, false).unwrap();
        let numbers = |nth: usize| -> Vec<usize> {
            let row = &study.published[nth];
            points
                .iter()
                .filter(|p| needs(&study, row, p))
                .map(|p| p.number)
                .collect()
        };
        assert_eq!(numbers(0), [2], "one place only");
        assert_eq!(
            numbers(1),
            [1, 2, 3],
            "all of the sweep, nothing of the other"
        );
        assert_eq!(numbers(3), [1, 2], "where the shape is to hold");
    }
}
