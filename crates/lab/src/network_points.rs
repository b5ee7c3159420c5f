//! Points that are networks of hosts. Points that differ only in their windows share one run.

mod measures;
mod probe;

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

use npsim_chip::Cycle;
use npsim_network::chips::System;
use npsim_network::topology::Topology;
use npsim_network::{self as network, NoTap, Simulation, Stopped};
use npsim_network_file::chips::systems;
use npsim_network_file::file::NetworkFile;
use npsim_project::Project;
use npsim_project::problem::{Problem, Problems};
use npsim_transport::time::{SECOND, Time};
use serde_json::json;

use crate::counters::fits;
use crate::fingerprint::{hash, metrics_data, system_data};
use crate::metric::Metric;
use crate::points::Point;
use crate::store::{MetricReading, PointOutcome};
use crate::study::{Study, Sweep};
use crate::subject::{Execution, Metrics, PointInputs, Subject};
use crate::windows;
use probe::Probe;

/// Approximate host cost of a packet, in simulated cycles; used to order the points of a
/// campaign and to advance its progress bar.
const CYCLES_OF_A_PACKET: u128 = 300;
/// Assumed size of a packet in bits.
const PACKET_BITS: u128 = 8_000;
/// Number of steps of a run; interruption is checked between them.
const STEPS: Time = 200;

/// The network of a point, with the key under which its outcome is saved.
pub(crate) struct NetworkPoint {
    key: String,
    /// Key of its run, which is shared by points that differ only in their windows.
    run: String,
    file: NetworkFile,
    /// Systems of its chips.
    systems: Vec<System>,
    /// The measurement window, in simulated time.
    from: Time,
    until: Time,
}

impl Subject for NetworkPoint {
    fn check(study: &Study, sweep: &Sweep) -> Result<(), String> {
        let others = [
            ("trace", sweep.trace.is_some()),
            ("allow", !sweep.allow.is_empty()),
            ("other_chip", sweep.other_chip.is_some()),
        ];
        if let Some((key, _)) = others.iter().find(|(_, given)| *given) {
            return Err(format!("`{key}` applies to a `system`, not to a `network`"));
        }
        if sweep.keys().any(|key| key == "hops") {
            return Err(
                "`hops` applies only to a `system`; a network has the routers of its file".into(),
            );
        }
        for (name, metric) in study.metrics_of(sweep) {
            if !metric.fits_networks() {
                return Err(format!(
                    "`{name}` cannot be measured on a network; name metrics that can be as `metrics`"
                ));
            }
        }
        Ok(())
    }

    fn prepare(inputs: &PointInputs<'_>, point: &Point) -> Result<Self, Problems> {
        let mut file =
            NetworkFile::load(&inputs.places.find(&inputs.sweep.network)?, &point.settings)?;
        file.refuse_interfaces()?;
        match point.seed {
            Some(seed) if point.run > 0 => file.replicate(seed),
            Some(seed) => file.reseed(seed),
            None => {}
        }
        let (from, until) = window(inputs, point, &file)?;
        let metrics = inputs.metrics();
        for (name, metric) in &metrics {
            let at = |problem: Problem| Problem {
                message: format!("metric `{name}`: {}", problem.message),
                ..problem
            };
            flows(&file, metric).map_err(at)?;
            line(&file.topology, metric).map_err(at)?;
        }
        let assemble = |project: &Project| inputs.assemblies.assemble(project);
        let systems = systems(&file, &npsim_protocols::registry(), &assemble)?;
        let data: Result<Vec<_>, Problem> = { systems.iter() }
            .map(|system| system_data(&system.project, &system.programs))
            .collect();
        let topology = |error: serde_json::Error| Problem::new(error.to_string());
        let run = json!({
            "npsim": env!("CARGO_PKG_VERSION"),
            "model": env!("NPSIM_MODEL"),
            "scale": file.scale,
            "topology": serde_json::to_value(&file.topology).map_err(topology)?,
            "flows": file.flows,
            "systems": data?,
        });
        let run = hash(run.to_string().as_bytes());
        let key = json!({ "run": run, "window": [from, until], "metrics": metrics_data(&metrics) });
        Ok(Self {
            key: hash(key.to_string().as_bytes()),
            run,
            file,
            systems,
            from,
            until,
        })
    }

    fn key(&self) -> &str {
        &self.key
    }

    fn shared_run(&self) -> Option<&str> {
        Some(&self.run)
    }

    /// Approximate cost, in cycles of a chip.
    fn cost(&self) -> Cycle {
        let lines = self.file.topology.links.iter().flat_map(|link| &link.lines);
        let watched = lines.filter(|line| line.is_watched());
        let rate: u128 = watched.map(|line| u128::from(line.rate)).sum();
        let bits = rate * u128::from(self.until) / u128::from(SECOND);
        let packets = bits / PACKET_BITS * CYCLES_OF_A_PACKET;
        let chips = self.systems.iter().map(|system| {
            let hertz = u128::from(system.project.capacity.hertz);
            hertz * u128::from(self.until) / u128::from(SECOND)
        });
        let cycles = packets + chips.sum::<u128>();
        u64::try_from(cycles).unwrap_or(u64::MAX).max(1)
    }

    fn execute(
        points: &[(Self, Metrics<'_>)],
        execution: &Execution<'_>,
    ) -> Result<Option<Vec<PointOutcome>>, Problem> {
        let Some((first, _)) = points.first() else {
            return Ok(Some(Vec::new()));
        };
        let cost = points.iter().map(|(network, _)| network.cost()).max();
        let cost = u128::from(cost.unwrap_or_default());
        let proceed = |thousandths: u64| {
            (execution.proceed)((cost * u128::from(thousandths) / 1_000) as Cycle)
        };
        let until = points.iter().map(|(network, _)| network.until).max();
        let until = until.unwrap_or_default();
        let file = &first.file;
        let packet_simulation = Simulation::new(file.topology.clone())
            .map_err(|error| Problem::new(error.to_string()))?;
        let running = network::Network::new(packet_simulation, first.systems.clone())?;
        let mut running = running.with_threads(execution.threads);
        let mut probes = Vec::new();
        for (network, metrics) in points {
            let mut chosen = Vec::new();
            for (&name, &metric) in metrics {
                chosen.push((
                    name,
                    metric,
                    flows(file, metric)?,
                    line(&file.topology, metric)?,
                ));
            }
            probes.push(Probe::new(network.from..network.until, file.scale, chosen)?);
        }
        let counts = probes.iter().any(Probe::counts);
        let mut fault = None;
        while let Some(stop) = probes.iter().filter_map(Probe::next).min() {
            match advance_to(&mut running, stop..until, counts, &proceed) {
                Ok(()) => {}
                Err(Stopped::Interrupted) => return Ok(None),
                Err(Stopped::Frame(problem)) => return Err(problem),
                Err(Stopped::Fault(chip)) => {
                    fault = Some(running.fault(chip).map_or_else(String::new, |(it, ..)| {
                        format!("{} at cycle {} of a chip", it.message, it.cycle)
                    }));
                    break;
                }
            }
            let census = running.packet_simulation().counters();
            for probe in &mut probes {
                probe.look(file, &running, &census);
            }
            running.packet_simulation_mut().reset_longest_queues();
        }
        let outcomes = points.iter().zip(probes).map(|((network, _), probe)| {
            let mut outcome = PointOutcome::new(&network.key);
            "end of the window".clone_into(&mut outcome.ending);
            outcome.from = network.from;
            outcome.until = network.until;
            // Times are in picoseconds.
            outcome.hertz = SECOND;
            if !probe.is_over() {
                outcome.fault.clone_from(&fault);
            }
            for (name, value) in probe.values(fault.as_deref()) {
                outcome
                    .metrics
                    .insert(name.to_owned(), MetricReading::from(value));
            }
            outcome
        });
        Ok(Some(outcomes.collect()))
    }
}

/// The measurement window of a point: from its own setting, the sweep, the study or the file,
/// in this order.
fn window(
    inputs: &PointInputs<'_>,
    point: &Point,
    file: &NetworkFile,
) -> Result<(Time, Time), Problem> {
    let at = |message: String| point.problem(&message);
    if let Some(text) = &point.window {
        let window = windows::window(text).map_err(at)?;
        return Ok((window.start / file.scale, window.end / file.scale));
    }
    let (from, until) = inputs
        .study
        .time_window(inputs.sweep, inputs.quick)
        .map_err(at)?;
    let from = from.map_or(file.from, |time| time / file.scale);
    let until = until.map_or(file.until, |time| time / file.scale);
    if from >= until {
        return Err(at(
            "nothing is measured: the run ends before that begins".into()
        ));
    }
    Ok((from, until))
}

/// Returns the flows that a metric names.
fn flows(file: &NetworkFile, metric: &Metric) -> Result<Vec<usize>, Problem> {
    let all = &file.topology.flows;
    if metric.flows().is_empty() {
        return Ok((0..all.len()).collect());
    }
    let mut found = Vec::new();
    for pattern in metric.flows() {
        let group = |flow: usize| {
            let mut groups = file.flows.iter();
            groups.find_map(|(name, flows)| flows.contains(&flow).then_some(name.as_str()))
        };
        let named = (0..all.len()).filter(|&flow| {
            fits(pattern, &all[flow].name) || group(flow).is_some_and(|name| fits(pattern, name))
        });
        let named: Vec<usize> = named.collect();
        if named.is_empty() {
            let groups = file.flows.iter().map(|(name, _)| name.as_str());
            let names = all.iter().map(|flow| flow.name.as_str()).chain(groups);
            let problem = Problem::new(format!("the network has no flow `{pattern}`"));
            return Err(problem.suggest_or_list(pattern, names.collect::<BTreeSet<_>>()));
        }
        found.extend(named);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Returns the line that a metric names.
fn line(topology: &Topology, metric: &Metric) -> Result<Option<usize>, Problem> {
    let Some(wanted) = metric.link() else {
        return Ok(None);
    };
    let names: Vec<String> = { 0..2 * topology.links.len() }
        .map(|line| topology.line_name(line))
        .collect();
    let found = names.iter().position(|name| name == wanted);
    found.map(Some).ok_or_else(|| {
        let problem = Problem::new(format!("the network has no link `{wanted}`"));
        problem.suggest_or_list(wanted, names.iter().collect::<BTreeSet<_>>())
    })
}

/// Runs to the beginning of `way`; the run as a whole ends at the end of `way`. With `count`,
/// chips are advanced to that time as well, since a metric reads their counters.
fn advance_to(
    running: &mut network::Network,
    way: Range<Time>,
    count: bool,
    proceed: &(dyn Fn(u64) -> bool + Sync),
) -> Result<(), Stopped> {
    let (stop, until) = (way.start, way.end);
    let step = running.step(until, STEPS);
    let ask = |now: Time| {
        let done = u128::from(now) * 1_000 / u128::from(until);
        if proceed(done as u64) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    while running.packet_simulation().now() < stop {
        let now = running.packet_simulation().now();
        let next = stop.min(now.saturating_add(step));
        running.run_to(next, &mut NoTap, &|| ask(now))?;
        if ask(next).is_break() {
            return Err(Stopped::Interrupted);
        }
    }
    if count {
        running.catch_up(&|| ask(stop))?;
    }
    Ok(())
}
