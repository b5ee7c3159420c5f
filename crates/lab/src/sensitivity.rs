//! Sensitivity analysis of a comparison: every constant that was chosen, and every assumed or
//! calibrated parameter of the chips, is varied by 20 % down and up, one at a time and, in random
//! samples, all together; and every row is evaluated again.
//!
//! The runs are ordinary points, saved under their keys: an interrupted analysis resumes where it
//! stopped, and points that a change does not affect are not run again.

pub mod knobs;
pub mod report;
mod sampled;

use std::collections::BTreeMap;

use npsim_project::problem::Problems;

use crate::campaign::Campaign;
use crate::points::{Point, points};
use crate::results::Results;
use crate::selection;
use crate::sensitivity::knobs::{Knob, KnobChange, Knobs};
use crate::sensitivity::report::{Base, SensitivityReport};
use crate::verdict::{self, Comparison};

/// What to analyse.
#[derive(Clone, Debug)]
pub struct SensitivityOptions {
    /// Ids of rows; empty for all.
    pub ids: Vec<String>,
    /// Names of the knobs to vary; empty for all.
    pub only: Vec<String>,
    /// Number of samples with all knobs varied together.
    pub samples: usize,
}

/// A variant of the study: the knobs that were moved, and the indices of its points in the plan.
#[derive(Clone, Debug)]
struct Variant {
    moves: Vec<(usize, KnobChange)>,
    points: Vec<usize>,
}

/// All runs of an analysis.
#[derive(Debug)]
pub struct SensitivityPlan {
    knobs: Vec<Knob>,
    points: Vec<Point>,
    base: Vec<usize>,
    alone: Vec<Variant>,
    together: Vec<Variant>,
    refused: Vec<String>,
}

impl SensitivityPlan {
    /// Creates the plan.
    ///
    /// # Errors
    /// Returns an error if a name or an id is unknown or a system cannot be read.
    pub fn new(campaign: &Campaign<'_>, question: &SensitivityOptions) -> Result<Self, Problems> {
        let study = campaign.study;
        let wanted = selection::select(study, &question.ids)?;
        let counted = |point: &Point| {
            point.run == 0 && wanted.iter().any(|row| selection::needs(study, row, point))
        };
        let mut all: Vec<Point> = points(study, campaign.quick)?;
        all.retain(counted);
        // Points of variants are numbered after these.
        for (point, number) in all.iter_mut().zip(1..) {
            point.number = number;
        }
        let sweeps: std::collections::BTreeSet<&str> =
            all.iter().map(|point| point.sweep.as_str()).collect();
        let knobs = Knobs::of(campaign, &sweeps)?;
        let chosen = knobs.chosen(&question.only)?;
        let mut plan = Self {
            base: (0..all.len()).collect(),
            points: all,
            alone: Vec::new(),
            together: Vec::new(),
            refused: Vec::new(),
            knobs: chosen,
        };
        for at in 0..plan.knobs.len() {
            for one in plan.knobs[at].moves() {
                match plan.variant(&knobs, vec![(at, one)]) {
                    Ok(variant) => plan.alone.push(variant),
                    Err(why) => plan.refused.push(why),
                }
            }
        }
        for sample in 0..question.samples {
            let moves = sampled::draw(&plan.knobs, sample as u64);
            match plan.variant(&knobs, moves) {
                Ok(variant) => plan.together.push(variant),
                Err(why) => plan.refused.push(format!("sample {}: {why}", sample + 1)),
            }
        }
        Ok(plan)
    }

    /// Adds the points of the study with some knobs moved; points that are not affected are shared.
    fn variant(
        &mut self,
        knobs: &Knobs,
        moves: Vec<(usize, KnobChange)>,
    ) -> Result<Variant, String> {
        let named: Vec<(&Knob, &KnobChange)> = moves
            .iter()
            .map(|(at, one)| (&self.knobs[*at], one))
            .collect();
        let mut settings = BTreeMap::new();
        for &at in &self.base {
            let sweep = &self.points[at].sweep;
            if !settings.contains_key(sweep) {
                settings.insert(sweep.clone(), knobs.settings(sweep, &named)?);
            }
        }
        let mut mine = Vec::with_capacity(self.base.len());
        for at in self.base.clone() {
            let moved = &settings[&self.points[at].sweep];
            if moved.is_empty() {
                mine.push(at);
                continue;
            }
            let mut point = self.points[at].clone();
            point.number = self.points.len() + 1;
            point.settings.extend(moved.iter().cloned());
            mine.push(self.points.len());
            self.points.push(point);
        }
        Ok(Variant {
            moves,
            points: mine,
        })
    }

    /// The number of runs, including those of the unmodified study.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.points.len()
    }

    /// The knobs that are varied.
    #[must_use]
    pub fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    /// All points to run.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Evaluates the rows over the results of all [`points`](Self::points).
    ///
    /// # Errors
    /// Returns an error if an id is unknown.
    pub fn report(
        &self,
        campaign: &Campaign<'_>,
        question: &SensitivityOptions,
        results: &Results,
    ) -> Result<SensitivityReport, Problems> {
        let study = campaign.study;
        let wanted = selection::select(study, &question.ids)?;
        let rows = |of: &[usize]| -> Vec<Comparison> {
            let part = Results {
                points: of.iter().map(|&at| results.points[at].clone()).collect(),
                outcomes: results.outcomes.clone(),
                ..Results::default()
            };
            verdict::rows(study, &part, &wanted)
        };
        let mut report = SensitivityReport::new(Base {
            study,
            quick: campaign.quick,
            knobs: &self.knobs,
            rows: rows(&self.base),
            refused: self.refused.clone(),
        });
        for variant in &self.alone {
            let [(at, one)] = variant.moves.as_slice() else {
                continue;
            };
            report.alone(&self.knobs[*at], one, &rows(&variant.points));
        }
        for variant in &self.together {
            report.together(&rows(&variant.points));
        }
        let faults = results.faults().map(|(cached, fault)| {
            let changed = cached.point.settings.last().map(ToString::to_string);
            format!(
                "{} with {}: {fault}",
                cached.point.shown(),
                changed.unwrap_or_default()
            )
        });
        report.faults = faults.collect();
        Ok(report)
    }
}
