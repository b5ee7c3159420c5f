//! Points without a chip: the Petri net of a router, for comparison with the microcode.

use npsim_chip::Cycle;
use npsim_net::order::THRESHOLD;
use npsim_petri::chain::{self, ChainOutcome as Chain};
use npsim_petri::parameters::Parameters;
use npsim_project::problem::{Problem, Problems};
use serde_json::json;

use crate::fingerprint::{hash, metrics_data};
use crate::metric::{Measure, Metric, ObservedFlows};
use crate::points::Point;
use crate::store::PointOutcome;
use crate::study::{Study, Sweep};
use crate::subject::{Execution, Metrics, PointInputs, Subject, one_by_one};

/// A quick run sends one out of this many packets.
const QUICK: u64 = 4;
/// Clock of the net's time unit, in megahertz.
const MEGAHERTZ: u64 = 600;
/// Settings of a point that are not parameters of its net.
const POINT_SETTINGS: [&str; 2] = ["hops", "seed"];

/// The net of a point, with the key under which its outcome is saved.
pub(crate) struct PetriPoint {
    key: String,
    parameters: Parameters,
    hops: usize,
}

impl Subject for PetriPoint {
    fn check(study: &Study, sweep: &Sweep) -> Result<(), String> {
        for name in sweep.keys() {
            let known = Parameters::NAMES.contains(&name.as_str());
            if !known && !POINT_SETTINGS.contains(&name.as_str()) {
                return Err(format!(
                    "there is no `{name}`; a net has {}",
                    Parameters::NAMES.join(", ")
                ));
            }
        }
        if sweep.trace.is_some() {
            return Err("a net cannot play a capture".into());
        }
        for (name, metric) in study.metrics_of(sweep) {
            if !fits_nets(&metric.measure) {
                return Err(format!(
                    "`{name}` cannot be measured on a net; rates, lost packets and order can"
                ));
            }
        }
        Ok(())
    }

    fn prepare(inputs: &PointInputs<'_>, point: &Point) -> Result<Self, Problems> {
        let at = |message: String| point.problem(&message);
        let mut parameters = Parameters::default();
        for setting in &point.settings {
            let set = parameters.set(&setting.path(), setting.value());
            set.map_err(|message| at(format!("`{}`: {message}", setting.path())))?;
        }
        parameters.seed = point.seed.unwrap_or(parameters.seed);
        if inputs.quick {
            parameters.packets = (parameters.packets / QUICK).max(1);
            parameters.warm_up /= QUICK;
        }
        parameters.check().map_err(at)?;
        let hops = point.hops.unwrap_or(1);
        let key = json!({
            "model": env!("NPSIM_MODEL"),
            "net": format!("{parameters:?}"),
            "hops": hops,
            "metrics": metrics_data(&inputs.metrics()),
        });
        Ok(Self {
            key: hash(key.to_string().as_bytes()),
            parameters,
            hops,
        })
    }

    fn key(&self) -> &str {
        &self.key
    }

    /// Approximate number of cycles that all its routers simulate.
    fn cost(&self) -> Cycle {
        let p = &self.parameters;
        p.packets * p.bytes * 8 * MEGAHERTZ / p.offered_mbps * self.hops as u64
    }

    fn execute(
        points: &[(Self, Metrics<'_>)],
        execution: &Execution<'_>,
    ) -> Result<Option<Vec<PointOutcome>>, Problem> {
        let proceed = || (execution.proceed)(0);
        one_by_one(points, |point, metrics| {
            let chain = chain::run_while(&point.parameters, point.hops, &proceed);
            let Some(chain) = chain.map_err(Problem::new)? else {
                return Ok(None);
            };
            let mut outcome = PointOutcome::new(&point.key);
            "drained".clone_into(&mut outcome.ending);
            outcome.until = point.cost() / point.hops as u64;
            outcome.hertz = MEGAHERTZ * 1_000_000;
            let flows = point.parameters.flows;
            outcome.measure(metrics, |metric| reading(&chain, metric, flows));
            Ok(Some(outcome))
        })
    }
}

fn fits_nets(measure: &Measure) -> bool {
    matches!(
        measure,
        Measure::EgressRate
            | Measure::EgressBitRate { .. }
            | Measure::LossShare(_)
            | Measure::Order { .. }
    )
}

fn reading(chain: &Chain, metric: &Metric, flows: u64) -> Result<f64, String> {
    match &metric.measure {
        Measure::EgressRate => Ok(chain.mpps()),
        // Packets count in full, frame check sequence included, as in the paper.
        Measure::EgressBitRate { .. } => Ok(chain.gbps()),
        Measure::LossShare(_) => Ok(chain.lost as f64 * 100.0 / chain.offered as f64),
        Measure::Order {
            counter,
            flows: observed,
        } => {
            let order = chain.order.total_where(THRESHOLD, |&(place, _)| {
                *observed == ObservedFlows::All || flows == 1 || place == 0
            });
            let share = order.percent(counter.of(&order));
            share.ok_or_else(|| "no such packet left in the window".into())
        }
        _ => Err("a net has no such quantity".into()),
    }
}

#[cfg(test)]
mod tests {
    use crate::study::Study;

    fn study(sweep: &str) -> Result<Study, String> {
        let text = format!(
            "name = \"s\"\ntitle = \"t\"\n[metric.gbps]\nmeasure = \"egress-bit-rate\"\nfcs = true\n\
             [metric.busy]\nmeasure = \"utilisation\"\n[sweep.a]\n{sweep}"
        );
        Study::parse("s.toml", &text).map_err(|problem| problem.message)
    }

    #[test]
    fn unknown_net_keys_and_metrics_are_refused() {
        assert!(study("net = true\nmetrics = [\"gbps\"]\nset = { slots = \"local\" }").is_ok());
        let refused = |sweep| study(sweep).unwrap_err();
        assert!(refused("net = true\nmetrics = [\"busy\"]").contains("`busy`"));
        assert!(refused("net = true\nsystem = \"x\"").contains("either"));
        assert!(refused("metrics = [\"gbps\"]").contains("either"));
        let unknown = refused("net = true\nmetrics = [\"gbps\"]\nset = { slot = \"local\" }");
        assert!(unknown.contains("no `slot`") && unknown.contains("slots"));
    }
}
