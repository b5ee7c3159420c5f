//! Observations of a chip, started and ended by requests.

use std::path::{Path, PathBuf};

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::Arrival;
use npsim_net::order::identify::flow_text;
use npsim_observe::packets::Flows;
use npsim_observe::set::{ObserverConfig, ObserverSet};
use npsim_observe::timeline::TimeWindow;
use npsim_project::Project;
use npsim_project::atomic_file::same_file;
use npsim_project::problem::Problem;
use npsim_session::links::Tap;
use npsim_session::node::Node;

use crate::system::ObservationKind;

/// An observation in progress.
#[derive(Debug)]
pub(crate) struct Observation {
    kind: ObservationKind,
    file: PathBuf,
    since: Cycle,
    pub observers: ObserverSet,
}

/// Records the flows of arriving frames.
struct FlowTap(Flows);

impl Tap for FlowTap {
    fn arriving(&mut self, arrival: &Arrival) {
        self.0.put(arrival.frame, flow_text(&arrival.bytes));
    }
}

/// All observations in progress, at most one of each kind.
#[derive(Debug, Default)]
pub(crate) struct Observations(pub Vec<Observation>);

impl Observations {
    /// Begins an observation.
    pub fn start(
        &mut self,
        kind: ObservationKind,
        file: &Path,
        node: &mut Node,
        project: &Project,
    ) -> Result<String, Problem> {
        let name = kind.name();
        let mut others = self.0.iter();
        if let Some(other) = others.find(|it| it.kind == kind || same_file(&it.file, file)) {
            let (own, file) = (other.kind.name(), other.file.display());
            return Err(Problem::new(format!(
                "`{file}` is already being written, by `{own} start`"
            ))
            .help(format!("end it with `{own} stop`")));
        }
        let since = node.handled();
        let config = match kind {
            ObservationKind::Timeline => ObserverConfig {
                timeline: Some((file.to_owned(), TimeWindow::open_from(since))),
                ..ObserverConfig::default()
            },
            ObservationKind::Packets => {
                let flows = Flows::default();
                node.set_tap(Some(Box::new(FlowTap(flows.clone()))));
                ObserverConfig {
                    packets: Some((file.to_owned(), flows)),
                    ..ObserverConfig::default()
                }
            }
        };
        self.0.push(Observation {
            kind,
            file: file.to_owned(),
            since,
            observers: config.open(project, node.chip())?,
        });
        let file = file.display();
        Ok(format!(
            "from cycle {since} on; `{name} stop` completes `{file}`"
        ))
    }

    /// Ends an observation.
    pub fn end(&mut self, kind: ObservationKind, node: &mut Node) -> Result<String, Problem> {
        let name = kind.name();
        let Some(at) = self.0.iter().position(|it| it.kind == kind) else {
            return Err(Problem::new(format!("`{name}` is not being written"))
                .help(format!("begin one with `{name} start FILE`")));
        };
        let ended = self.0.remove(at);
        if kind == ObservationKind::Packets {
            node.set_tap(None);
        }
        ended.finish(node)
    }

    /// Ends all observations, at the end of the run.
    pub fn end_all(&mut self, node: &mut Node) -> Result<(), Problem> {
        let ended: Vec<_> = self.0.drain(..).map(|it| it.finish(node)).collect();
        ended.into_iter().try_for_each(|it| it.map(drop))
    }
}

impl Observation {
    fn finish(self, node: &Node) -> Result<String, Problem> {
        let seen = self.observers.finish(node.chip());
        let written = seen.timeline.or(seen.packets).unwrap_or(Ok(()));
        written.map_err(|error| Problem::io("write", &self.file, &error))?;
        let (file, since) = (self.file.display(), self.since);
        Ok(format!("`{file}` has cycles {since} to {}", node.handled()))
    }
}
