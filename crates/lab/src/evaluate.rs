//! Computes values from curves and judges their shapes.

use crate::expression::{CurveName, ExpressionOperand, Measured, Shape, ShapeKind};
use crate::formula;
use crate::rounding::{at_least, at_most, close, rounding};
use crate::sample::CurvePoint;

/// Returns the samples of a curve.
pub(crate) type CurveSamples<'a> = &'a dyn Fn(&CurveName) -> Vec<CurvePoint>;

type CurvePlaces = Vec<(f64, f64)>;

/// A larger quotient only shows that its divisor is close to zero.
const MAX_TIMES: f64 = 1000.0;

/// Whether a quotient of these numbers is meaningful: the divisor is not close to zero relative to
/// the dividend.
pub(crate) fn is_figure(number: f64, of: f64) -> bool {
    of != 0.0 && number.abs() <= MAX_TIMES * of.abs()
}

/// A share in percent, if it is meaningful.
fn percent(share: f64) -> String {
    if share.abs() <= MAX_TIMES {
        format!("{:.1}%", share * 100.0)
    } else {
        format!("more than {MAX_TIMES} times")
    }
}

/// Describes how far a share is on one side or the other of another value.
fn distance_text(share: f64, side: &str, other_side: &str) -> String {
    if share < -MAX_TIMES {
        format!("{} {other_side}", percent(share))
    } else {
        format!("{} {side}", percent(share))
    }
}

/// Whether a shape holds, and what was found.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeFinding {
    /// Whether the shape holds.
    pub holds: bool,
    /// The margin by which it holds, or if negative, by which it fails: a share.
    pub slack: f64,
    /// The deciding number, in words.
    pub found: String,
}

impl ShapeFinding {
    /// A finding that holds if the slack is not negative and the condition `also`, which has no
    /// size, is true.
    fn new(slack: f64, also: bool, found: String) -> Self {
        // A share typed as 3 % must not fail because of the last binary digit.
        let holds = also && at_least(slack, 0.0);
        let slack = if holds {
            slack.max(0.0)
        } else {
            slack.min(-rounding(0.0))
        };
        Self {
            holds,
            slack,
            found,
        }
    }
}

/// Computes a value from curves.
///
/// # Errors
/// Returns a description of the problem if a point that it needs has no value.
pub fn value(measured: &Measured, curves: CurveSamples) -> Result<f64, String> {
    match measured {
        Measured::At { of, x } => {
            let samples = curves(of);
            let sample = samples.into_iter().find(|sample| close(sample.x, *x));
            sample.ok_or_else(|| format!("there is no point at {x}"))?.y
        }
        Measured::Max { of } => best(&known(curves(of))?, f64::max),
        Measured::Min { of } => best(&known(curves(of))?, f64::min),
        Measured::Mean { of, from } => {
            let mut places = known(curves(of))?;
            places.retain(|(x, _)| from.is_none_or(|from| at_least(*x, from)));
            if places.is_empty() {
                return Err("the curve has no points there".into());
            }
            Ok(mean(&places))
        }
        Measured::FlatFrom { of, within } => {
            let places = known(curves(of))?;
            let top = best(&places, f64::max)?;
            let flat = places
                .iter()
                .rev()
                .take_while(|(_, y)| at_least(*y, top * (1.0 - within)));
            flat.last()
                .map(|(x, _)| *x)
                .ok_or_else(|| "it is not flat at its end".into())
        }
        Measured::FollowsUntil { of, within } => {
            let places = known(curves(of))?;
            let follows = places
                .iter()
                .take_while(|(x, y)| at_most((y - x).abs(), within * x.abs()));
            follows
                .last()
                .map(|(x, _)| *x)
                .ok_or_else(|| "it does not follow at any point".into())
        }
        Measured::LargestDifference { of, from, until } => {
            let covered = |name: &CurveName| {
                let samples = curves(name).into_iter().filter(|sample| {
                    from.is_none_or(|from| at_least(sample.x, from))
                        && until.is_none_or(|until| at_most(sample.x, until))
                });
                known(samples.collect())
            };
            let [first, second] = of.as_slice() else {
                return Err("it needs two curves".into());
            };
            let pairs = pair_up(&covered(first)?, &covered(second)?)?;
            let shares = pairs
                .into_iter()
                .map(|((x, one), (_, other))| (x, relative(one, other)));
            let (x, share) = worst(shares);
            if share > MAX_TIMES {
                return Err(format!(
                    "at {x} the second curve is nearly 0, so a share of it says nothing"
                ));
            }
            Ok(share * 100.0)
        }
        Measured::Formula { formula, with } => {
            formula::Formula::parse(formula)?.value(&|name| match with.get(name) {
                Some(ExpressionOperand::Number(number)) => Ok(*number),
                Some(ExpressionOperand::Value(measured)) => value(measured, curves),
                Some(ExpressionOperand::Curve(_)) => Err("a curve is not a single value".into()),
                None => Err("`with` does not say what it is".into()),
            })
        }
        Measured::Ratio { of } => {
            let (first, second) = two(of, curves)?;
            if second == 0.0 {
                return Err("the second value is 0".into());
            }
            if !is_figure(first, second) {
                return Err(format!(
                    "the second value, {second}, is nearly 0 beside the first, {first}: their ratio \
                     says nothing"
                ));
            }
            Ok(first / second)
        }
        Measured::Difference { of } => two(of, curves).map(|(first, second)| first - second),
    }
}

fn two(of: &[Measured], curves: CurveSamples) -> Result<(f64, f64), String> {
    match of {
        [first, second] => Ok((value(first, curves)?, value(second, curves)?)),
        _ => Err("it needs two values".into()),
    }
}

/// All values of a curve; an error if one of them is missing.
fn known(samples: Vec<CurvePoint>) -> Result<CurvePlaces, String> {
    if samples.is_empty() {
        return Err("the curve has no points".into());
    }
    samples
        .into_iter()
        .map(|sample| match sample.y {
            Ok(y) => Ok((sample.x, y)),
            Err(why) => Err(format!("at {}: {why}", sample.x)),
        })
        .collect()
}

fn best(places: &CurvePlaces, better: fn(f64, f64) -> f64) -> Result<f64, String> {
    places
        .iter()
        .map(|(_, y)| *y)
        .reduce(better)
        .ok_or_else(|| "the curve has no points".into())
}

fn mean(places: &CurvePlaces) -> f64 {
    places.iter().map(|(_, y)| y).sum::<f64>() / places.len() as f64
}

/// Checks a shape.
///
/// # Errors
/// Returns an error if a point that it needs has no value or there are too few points.
pub fn shape(shape: &Shape, curves: CurveSamples) -> Result<ShapeFinding, String> {
    let mut all = Vec::new();
    for curve in shape.curves() {
        let samples = curves(curve).into_iter().filter(|s| shape.covers(s.x));
        all.push(known(samples.collect())?);
    }
    let share = shape.share();
    let Some((first, rest)) = all.split_first() else {
        return Err("there is no curve".into());
    };
    let enough = |least: usize| {
        if first.len() < least {
            return Err(format!(
                "it takes {least} points to see this, there are {}",
                first.len()
            ));
        }
        Ok(())
    };
    match shape.is {
        ShapeKind::Follows => {
            let (x, off) = worst(first.iter().map(|(x, y)| (*x, relative(*y, *x))));
            Ok(deviation_finding(off, share, "from the load", x))
        }
        ShapeKind::Flat => {
            enough(2)?;
            let middle = mean(first);
            let (x, off) = worst(first.iter().map(|(x, y)| (*x, relative(*y, middle))));
            Ok(deviation_finding(
                off,
                share,
                &format!("from the mean {middle:.3}"),
                x,
            ))
        }
        ShapeKind::Same => {
            let mut pairs = Vec::new();
            for other in rest {
                for ((x, y), (_, other)) in pair_up(first, other)? {
                    pairs.push((x, relative(other, y)));
                }
            }
            let (x, off) = worst(pairs.into_iter());
            Ok(deviation_finding(off, share, "apart", x))
        }
        ShapeKind::Order => order(&all, share),
        ShapeKind::Above | ShapeKind::Below => lies_beyond(first, rest, share, shape.is),
        ShapeKind::Bounded => Ok(bounded(first, shape)),
        ShapeKind::Linear => {
            enough(3)?;
            Ok(linear(first, share))
        }
        ShapeKind::Convex => {
            enough(3)?;
            Ok(convex(first, share))
        }
        ShapeKind::Rising => {
            enough(2)?;
            Ok(monotone(first, share, 1.0))
        }
        ShapeKind::Falling => {
            enough(2)?;
            Ok(monotone(first, share, -1.0))
        }
    }
}

/// The distance between two values, as a share of the second.
fn relative(value: f64, of: f64) -> f64 {
    if of == 0.0 {
        return if value == 0.0 { 0.0 } else { f64::INFINITY };
    }
    (value - of).abs() / of.abs()
}

/// The place with the largest value.
fn worst(places: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    places
        .reduce(|a, b| if b.1 > a.1 { b } else { a })
        .unwrap_or((0.0, 0.0))
}

fn deviation_finding(off: f64, share: f64, what: &str, x: f64) -> ShapeFinding {
    let found = match percent(off) {
        figure if off <= MAX_TIMES => format!("at most {figure} {what}, at {x}"),
        _ => format!("{what} by more than can be said in percent, at {x}"),
    };
    ShapeFinding::new(share - off, true, found)
}

type Pair = ((f64, f64), (f64, f64));

fn pair_up(one: &CurvePlaces, other: &CurvePlaces) -> Result<Vec<Pair>, String> {
    let same = one.len() == other.len() && one.iter().zip(other).all(|(a, b)| close(a.0, b.0));
    if !same {
        return Err("the curves have points at different places".into());
    }
    Ok(one.iter().copied().zip(other.iter().copied()).collect())
}

fn order(all: &[CurvePlaces], margin: f64) -> Result<ShapeFinding, String> {
    let mut gaps = Vec::new();
    for (number, pair) in all.windows(2).enumerate() {
        if let [upper, lower] = pair {
            for ((x, upper), (_, lower)) in pair_up(upper, lower)? {
                gaps.push((
                    x,
                    number,
                    (upper - lower) / lower.abs().max(f64::MIN_POSITIVE),
                ));
            }
        }
    }
    let least = gaps
        .into_iter()
        .reduce(|a, b| if b.2 < a.2 { b } else { a });
    let Some((x, number, gap)) = least else {
        return Err("the curves have no points".into());
    };
    let found = format!(
        "curve {} is {} curve {} at {x}, where it is least",
        number + 1,
        distance_text(gap, "above", "below"),
        number + 2
    );
    Ok(ShapeFinding::new(gap - margin, true, found))
}

/// Whether the first curve lies everywhere on one side of all others.
fn lies_beyond(
    first: &CurvePlaces,
    rest: &[CurvePlaces],
    margin: f64,
    side: ShapeKind,
) -> Result<ShapeFinding, String> {
    let sign = if side == ShapeKind::Above { 1.0 } else { -1.0 };
    let mut gaps = Vec::new();
    for (number, other) in rest.iter().enumerate() {
        for ((x, y), (_, other)) in pair_up(first, other)? {
            let gap = sign * (y - other) / other.abs().max(f64::MIN_POSITIVE);
            gaps.push((x, number, gap));
        }
    }
    let least = gaps
        .into_iter()
        .reduce(|a, b| if b.2 < a.2 { b } else { a });
    let Some((x, number, gap)) = least else {
        return Err("the curves have no points".into());
    };
    let found = format!(
        "curve 1 is {} curve {} at {x}, where it is least",
        match side {
            ShapeKind::Above => distance_text(gap, "above", "below"),
            _ => distance_text(gap, "below", "above"),
        },
        number + 2
    );
    Ok(ShapeFinding::new(
        gap - margin,
        gap > 0.0_f64.min(margin),
        found,
    ))
}

/// Whether all values lie within the bounds.
fn bounded(places: &CurvePlaces, shape: &Shape) -> ShapeFinding {
    let over = |(x, y): &(f64, f64)| {
        let above = shape
            .most
            .map(|most| ((y - most) / scale(most), "above", most));
        let below = shape
            .least
            .map(|least| ((least - y) / scale(least), "below", least));
        [above, below]
            .into_iter()
            .flatten()
            .map(|(off, side, bound)| (*x, *y, off, side, bound))
            .collect::<Vec<_>>()
    };
    let worst = places
        .iter()
        .flat_map(over)
        .reduce(|a, b| if b.2 > a.2 { b } else { a });
    let Some((x, y, off, side, bound)) = worst else {
        return ShapeFinding::new(-1.0, false, "there are no points".into());
    };
    let found = if off > 0.0 {
        format!("{y:.3} at {x} is {} {side} {bound}", percent(off))
    } else {
        format!("nearest to its bound {bound} with {y:.3} at {x}")
    };
    ShapeFinding::new(shape.share() - off, true, found)
}

/// The reference for a share of a bound.
fn scale(bound: f64) -> f64 {
    if bound == 0.0 { 1.0 } else { bound.abs() }
}

/// The least-squares line: its value at 0 and its slope.
fn fit(places: &[(f64, f64)]) -> (f64, f64) {
    let count = places.len() as f64;
    let (sum_x, sum_y) = places
        .iter()
        .fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (mid_x, mid_y) = (sum_x / count, sum_y / count);
    let (over, under) = places.iter().fold((0.0, 0.0), |(over, under), (x, y)| {
        (
            over + (x - mid_x) * (y - mid_y),
            under + (x - mid_x) * (x - mid_x),
        )
    });
    let slope = if under == 0.0 { 0.0 } else { over / under };
    (mid_y - slope * mid_x, slope)
}

fn linear(places: &CurvePlaces, share: f64) -> ShapeFinding {
    let (start, slope) = fit(places);
    let ends = places.first().zip(places.last());
    let rise = ends.map_or(0.0, |(first, last)| slope * (last.0 - first.0));
    if rise <= 0.0 {
        let found = format!("the best line does not rise: slope {slope:.4}");
        return ShapeFinding::new(-1.0, false, found);
    }
    let (x, off) = worst(
        places
            .iter()
            .map(|(x, y)| (*x, (y - start - slope * x).abs() / rise)),
    );
    let found = format!(
        "slope {slope:.3}, at most {} of the rise off the line, at {x}",
        percent(off)
    );
    ShapeFinding::new(share - off, true, found)
}

fn convex(places: &CurvePlaces, margin: f64) -> ShapeFinding {
    let middle = places.len() / 2;
    let (_, early) = fit(&places[..=middle]);
    let (_, late) = fit(&places[middle.min(places.len() - 2)..]);
    let rises = places
        .first()
        .zip(places.last())
        .is_some_and(|(a, b)| b.1 > a.1);
    let slack = (late - early) / early.abs().max(f64::MIN_POSITIVE) - margin;
    let found = format!("slope {early:.3} in the first half, {late:.3} in the second");
    ShapeFinding::new(slack, rises && late > early, found)
}

fn monotone(places: &CurvePlaces, share: f64, sign: f64) -> ShapeFinding {
    let steps = places.windows(2).filter_map(|pair| match pair {
        [(_, before), (x, after)] => Some((
            *x,
            sign * (before - after) / before.abs().max(f64::MIN_POSITIVE),
        )),
        _ => None,
    });
    let (x, back) = worst(steps);
    let change = places
        .first()
        .zip(places.last())
        .map_or(0.0, |(first, last)| last.1 - first.1);
    let way = if sign > 0.0 { "falls" } else { "rises" };
    let found = if back > 0.0 {
        format!("{change:+.3} in all; {way} by {} at {x}", percent(back))
    } else {
        format!("{change:+.3} in all")
    };
    ShapeFinding::new(share - back, sign * change > 0.0, found)
}

#[cfg(test)]
mod tests;
