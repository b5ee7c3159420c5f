//! Routers of a network file that are whole chips.

use std::ops::Range;
use std::path::PathBuf;

use npsim_project::problem::{Excerpt, Problem};
use npsim_project::quantity::{self, parse_rate};
use npsim_project::{Overrides, Setting};
use npsim_transport::time::{MICROSECOND, Time};

use super::FileReading;
use super::typed::{self, PlacedText};
use npsim_network::topology::NodeKind;

/// Shortest delay of a link at a chip: chips and their surroundings are simulated independently for
/// up to this time.
const MIN_DELAY: Time = MICROSECOND;
/// Most ports of any chip.
const MAX_PORTS: usize = 32;

/// The system of a chip in a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChipPlan {
    /// The node.
    pub node: usize,
    /// Project file or folder.
    pub system: PathBuf,
    /// Its place in the network file.
    pub place: Excerpt,
    /// Settings that override the project, scaled.
    pub overrides: Overrides,
    /// Whether the project's routes stay, except that those to a port with another chip lead to
    /// that chip.
    pub keeps_routes: bool,
    /// The ports with links, with the places at which links name them.
    pub ports: Vec<(usize, Excerpt)>,
}

impl FileReading {
    /// Creates a router that is a chip.
    pub(super) fn system(
        &mut self,
        router: &typed::RouterSection,
        system: &PlacedText,
    ) -> Result<NodeKind, Problem> {
        let model_keys = [
            ("delay", router.delay.is_some()),
            ("xcp", router.xcp.is_some()),
            ("rcp", router.rcp.is_some()),
            ("quick-start", router.quick_start.is_some()),
        ];
        if let Some((key, _)) = model_keys.iter().find(|(_, given)| *given) {
            let message = format!("a router with a system has no `{key}`");
            let problem = self.text.problem(router.name.span(), message);
            return Err(problem.help(
                "its project says what it does; `set` and `scaled` change keys of the project",
            ));
        }
        let mut set = Vec::new();
        if let Some(table) = &router.set {
            self.settings(&mut Vec::new(), table.get_ref(), &table.span(), &mut set)?;
        }
        for (path, value) in router.scaled.iter().flat_map(toml::Spanned::get_ref) {
            let scaled = self.scaled(value)?;
            set.push(self.setting(path, &scaled, value.span())?);
        }
        let routes = router.routes.as_ref();
        let sources = [("network", false), ("project", true)];
        let keeps_routes = routes.map_or(Ok(false), |placed| {
            self.word(placed, "source of routes", &sources)
        })?;
        self.chips.push(ChipPlan {
            node: self.topology.nodes.len(),
            system: self.folder.join(system.get_ref()),
            place: self.text.excerpt(system.span()),
            overrides: Overrides {
                set,
                ..Overrides::default()
            },
            keeps_routes,
            ports: Vec::new(),
        });
        Ok(NodeKind::Chip { ports: Vec::new() })
    }

    fn setting(&self, path: &str, value: &str, span: Range<usize>) -> Result<Setting, Problem> {
        Setting::new(path, value).map_err(|message| self.text.problem(span, message))
    }

    /// Collects the values of a table, whose keys may be paths or tables in turn.
    fn settings(
        &self,
        path: &mut Vec<String>,
        table: &toml::Table,
        span: &Range<usize>,
        found: &mut Vec<Setting>,
    ) -> Result<(), Problem> {
        for (key, value) in table {
            path.push(key.clone());
            let value = match value {
                toml::Value::Table(inner) => {
                    self.settings(path, inner, span, found)?;
                    path.pop();
                    continue;
                }
                toml::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            found.push(self.setting(&path.join("."), &value, span.clone())?);
            path.pop();
        }
        Ok(())
    }

    /// Returns a time of the file divided by its scale, or a rate multiplied by it, in the
    /// project's notation.
    fn scaled(&self, placed: &PlacedText) -> Result<String, Problem> {
        let text = placed.get_ref();
        if parse_rate(text).is_ok() && text.ends_with(['s', 'S']) && text.contains(['b', 'B']) {
            return Ok(format!("{}bps", self.rate(placed)?));
        }
        let time = self.time(placed).map_err(|problem| {
            problem.help("`scaled` has times such as `10ms` and rates such as `10Mbps`")
        })?;
        Ok(quantity::Time::Picoseconds(time).to_string())
    }

    /// Resolves an end of a link: its nodes, and the port if it is a chip.
    pub(super) fn end(
        &self,
        placed: &PlacedText,
    ) -> Result<(Range<usize>, Option<usize>), Problem> {
        let text = placed.get_ref();
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text.as_str(), None),
        };
        let named = PlacedText::new(placed.span(), name.to_owned());
        let group = self.group(&named)?;
        let NodeKind::Chip { ports } = &self.topology.nodes[group.start].kind else {
            if port.is_some() {
                let message = format!("`{name}` is not a router with a system: it has no ports");
                return Err(self.text.problem(placed.span(), message));
            }
            return Ok((group, None));
        };
        let Some(port) = port else {
            let message = format!("`{name}` has ports, and the link has to name one");
            let problem = self.text.problem(placed.span(), message);
            return Err(problem.help(format!("write for example `{name}:0`")));
        };
        let number = port.parse().ok().filter(|port| *port < MAX_PORTS);
        let Some(number) = number else {
            let message = format!("`{port}` is not a port number");
            return Err(self.text.problem(placed.span(), message));
        };
        if ports.get(number).is_some_and(Option::is_some) {
            let message = format!("port {number} of `{name}` already has a link");
            return Err(self.text.problem(placed.span(), message));
        }
        Ok((group, Some(number)))
    }

    /// Checks that a link at a chip has no unsupported properties.
    pub(super) fn at_chip(
        &mut self,
        link: &typed::LinkSection,
        ports: [Option<usize>; 2],
        delay: Time,
    ) -> Result<(), Problem> {
        if delay < MIN_DELAY {
            let message = if self.quantities.scale == 1 {
                "a link at a chip takes at least 1us".to_owned()
            } else {
                format!(
                    "a link at a chip takes at least 1us, and this one does not after division by {}",
                    self.quantities.scale
                )
            };
            let problem = self.text.problem(link.delay.span(), message);
            return Err(problem.help(
                "a chip and the network run independently for that long; move the delay of another link to this one",
            ));
        }
        if let Some(overhead) = link.overhead {
            let message = format!(
                "a link at a chip carries Ethernet frames, {} bytes besides each packet, and not {overhead}",
                npsim_network::ethernet::overhead()
            );
            let problem = self.text.problem(link.between.span(), message);
            return Err(problem.help("leave `overhead` out"));
        }
        if let Some(placed) = &link.reorder {
            let message = "a link at a chip carries one frame after another, in order";
            let problem = self.text.problem(placed.span(), message);
            return Err(problem.help("set `reorder` on another link"));
        }
        let queues = [
            (ports[0], "queue", link.queue.as_ref()),
            (ports[1], "queue_back", link.queue_back.as_ref()),
        ];
        for (port, key, queue) in queues {
            if let (Some(_), Some(queue)) = (port, queue) {
                let message = format!("`{key}` is given for a line that leaves a chip");
                let problem = self.text.problem(queue.limit.span(), message);
                return Err(
                    problem.help("the chip's microcode has the queue; its project sets its length")
                );
            }
        }
        for (placed, port) in link.between.get_ref().iter().zip(ports) {
            let Some(port) = port else { continue };
            let group = self.end(placed)?.0;
            let place = self.text.excerpt(placed.span());
            let plan = { self.chips.iter_mut() }.find(|plan| plan.node == group.start);
            if let Some(plan) = plan {
                plan.ports.push((port, place));
            }
        }
        Ok(())
    }

    /// Records that a link is at a port.
    pub(super) fn connect(&mut self, node: usize, port: usize, link: usize) {
        if let NodeKind::Chip { ports } = &mut self.topology.nodes[node].kind {
            if ports.len() <= port {
                ports.resize(port + 1, None);
            }
            ports[port] = Some(link);
        }
    }
}
