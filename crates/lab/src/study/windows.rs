//! Windows of time in the run of a network: `10s..20s`.

use std::ops::Range;

use npsim_project::quantity::Time;

use super::{Axis, Place, Study, WindowText};
use crate::points::Point;

/// The setting of a point that says when it is measured.
pub(crate) const KEY: &str = "window";
/// Windows that an axis may have.
const MOST: u64 = 100_000;
const SECOND: f64 = 1e12;

/// Picoseconds of a time.
pub(crate) fn picoseconds(text: &str) -> Result<u64, String> {
    match text.trim().parse()? {
        Time::Picoseconds(time) => Ok(time),
        Time::Cycles(0) => Ok(0),
        Time::Cycles(_) => Err(format!(
            "`{text}` is no time of a network, which has no cycles; write for example `500ms`"
        )),
    }
}

/// The picoseconds of a window.
pub(crate) fn window(text: &str) -> Result<Range<u64>, String> {
    let Some((from, until)) = text.split_once("..") else {
        return Err(format!(
            "`{text}` is no window; write for example `10s..20s`"
        ));
    };
    let window = picoseconds(from)?..picoseconds(until)?;
    if window.is_empty() {
        return Err(format!("nothing can be measured in the window `{text}`"));
    }
    Ok(window)
}

/// When a point begins and ends to be measured, picoseconds, as its sweep or the study says; a
/// quick run's window comes before the whole one's.
pub(crate) fn given(
    study: &Study,
    point: &Point,
    quick: bool,
) -> Result<(Option<u64>, Option<u64>), String> {
    let sweep = study.sweep.get(&point.sweep);
    let texts = [
        sweep
            .and_then(|sweep| sweep.quick.as_ref())
            .filter(|_| quick),
        sweep.and_then(|sweep| sweep.window.as_ref()),
        study.quick.as_ref().filter(|_| quick),
        Some(&study.window),
    ];
    if texts.iter().flatten().any(|text| text.is_detected()) {
        return Err("the warm-up is given here, not detected".into());
    }
    let pick = |part: fn(&WindowText) -> &Option<String>| {
        let text = texts.iter().flatten().find_map(|it| part(it).as_ref());
        text.map(|text| picoseconds(text)).transpose()
    };
    let from = pick(|text| &text.warm_up)?;
    let length = pick(|text| &text.measure)?;
    Ok((
        from,
        length.map(|length| from.unwrap_or(0).saturating_add(length)),
    ))
}

/// The places of an axis of time: where each window ends, in seconds.
///
/// # Errors
/// It is none, in words.
pub(crate) fn of_axis(axis: &Axis) -> Result<Vec<Place>, String> {
    let time = |text: Option<&String>| text.map_or(Ok(0), |text| picoseconds(text));
    let (every, from) = (time(axis.every.as_ref())?, time(axis.from.as_ref())?);
    let until = time(axis.until.as_ref())?;
    if every == 0 {
        return Err("`every` is no time".into());
    }
    let count = until.saturating_sub(from) / every;
    if count == 0 || count > MOST {
        return Err(format!(
            "`every`, `from` and `until` make {count} windows; 1 to {MOST} can be"
        ));
    }
    let place = |number: u64| {
        let (begin, end) = (from + number * every, from + (number + 1) * every);
        Place {
            x: end as f64 / SECOND,
            label: Time::Picoseconds(end).to_string(),
            set: vec![(
                KEY.to_owned(),
                format!("{}..{}", Time::Picoseconds(begin), Time::Picoseconds(end)),
            )],
        }
    };
    Ok((0..count).map(place).collect())
}

#[cfg(test)]
mod tests {
    use super::{of_axis, window};
    use crate::study::Axis;

    #[test]
    fn an_axis_of_time_has_windows_without_gaps() {
        let axis: Axis =
            toml::from_str("every = \"500ms\"\nfrom = \"1s\"\nuntil = \"2500ms\"").unwrap();
        let places = of_axis(&axis).unwrap();
        let shown: Vec<_> = { places.iter() }
            .map(|place| (place.x, place.label.as_str(), place.set[0].1.as_str()))
            .collect();
        assert_eq!(
            shown,
            [
                (1.5, "1500ms", "1s..1500ms"),
                (2.0, "2s", "1500ms..2s"),
                (2.5, "2500ms", "2s..2500ms")
            ]
        );
        for place in &places {
            assert!(window(&place.set[0].1).is_ok());
        }
        for wrong in ["1s", "2s..1s", "1s..1s", "1s..x", "1..2"] {
            assert!(window(wrong).is_err(), "{wrong}");
        }
        let none: Axis = toml::from_str("every = \"0s\"\nuntil = \"1s\"").unwrap();
        assert!(of_axis(&none).is_err());
    }
}
