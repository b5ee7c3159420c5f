//! Network files: a network in TOML, with names instead of indices.
//!
//! `docs/src/networks.md` describes the format. Errors have their places in the file.

mod flows;
mod hosts;
mod links;
mod quantities;
mod routers;
mod systems;
mod transfers;
mod typed;

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use npsim_net::Random;
use npsim_project::files::{Disk, Files as _};
use npsim_project::problem::{Excerpt, Problem};
use npsim_project::toml_errors::{self, FileKind};
use npsim_project::{EntryName, Grammar, Setting, apply_to_text, name_with_settings, toml_reader};
use npsim_transport::time::Time;

use flows::Ends;
pub use hosts::PlacedHost;
use npsim_network::routes::Routes;
use npsim_network::topology::{Node, NodeKind, Topology};
use npsim_network::{NetworkError, Simulation};
use quantities::{Quantities, Spread};
pub use systems::ChipPlan;
use typed::PlacedText;

/// Lists of a network file whose entries have numbers and names.
const LISTS: &[&str] = &["host", "switch", "router", "link", "flow", "transfer"];
/// How their entries are named.
const NAMES: &[EntryName] = &[
    EntryName::Key("name"),
    EntryName::Pair("from", "to"),
    EntryName::List("between"),
];
/// The kind of file, for error messages.
const KIND: FileKind<'_> = FileKind {
    noun: "network",
    forms: &[
        (
            &[
                "until",
                "from",
                "delay",
                "start",
                "step",
                "spread",
                "rtt",
                "packet",
                "timer",
                "tick",
                "contention",
                "initial_interval",
                "min_interval",
                "max_interval",
                "period",
                "initial_rtt",
                "window",
                "allowed_queue",
                "min_rto",
                "gap",
                "by",
            ],
            "a time in quotes, such as \"10ms\"",
        ),
        (
            &["rate", "capacity"],
            "a rate in quotes, such as \"10Mbps\"",
        ),
        (
            &["address"],
            "an IPv4 address in quotes, such as \"10.0.0.10\"",
        ),
        (
            &["limit"],
            "a size in quotes, such as \"100 packets\" or \"64KB\"",
        ),
        (
            &["delayed_ack"],
            "`off` or a time in quotes, such as \"200ms\"",
        ),
    ],
};
/// The contents of a network file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkFile {
    /// Name of the network.
    pub name: String,
    /// Factor by which all times were divided and all rates multiplied; results are in the file's
    /// own times and rates.
    pub scale: u64,
    /// End of the run, in simulated time.
    pub until: Time,
    /// Start of the measurement, in simulated time.
    pub from: Time,
    /// The network, scaled.
    pub topology: Topology,
    /// The flows of the file by name, each of which is one or several flows of the network.
    pub flows: Vec<(String, Range<usize>)>,
    /// The chips in the network.
    pub chips: Vec<ChipPlan>,
    /// The hosts to which something outside of the simulation must be connected.
    pub interfaces: Vec<PlacedHost>,
    /// The hosts with a third-party stack.
    pub stacks: Vec<PlacedHost>,
    /// Blocks of each routing table that are reserved for changes during the run.
    pub route_blocks: Option<u32>,
    /// Earliest opening time of each flow, and how much later it may open, if the file specifies
    /// that.
    starts: Vec<(Time, Option<Spread>)>,
}

/// The random streams of start times, under the seed of a network.
const START: u64 = 0x7374_6172_7400_0000;

/// Returns the random stream of a name (FNV-1a).
fn stream(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The text of the file, which creates problems with places.
struct FileText {
    path: String,
    text: Arc<str>,
}

impl FileText {
    fn problem(&self, span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::new(message).at(self.excerpt(span))
    }

    fn excerpt(&self, span: Range<usize>) -> Excerpt {
        Excerpt {
            path: self.path.clone(),
            text: self.text.clone(),
            span,
            label: String::new(),
        }
    }

    /// Reports an unknown name, with the closest known one.
    fn unknown<'a>(
        &self,
        placed: &PlacedText,
        what: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Problem {
        let name = placed.get_ref();
        self.problem(placed.span(), format!("there is no {what} `{name}`"))
            .suggest_or_list(name, known)
    }
}

/// Most nodes of a network, all kinds together: routes are a table of nodes by nodes.
const MAX_NODES: usize = 4_096;

/// Nodes of the file by name: their range of indices.
type NodeRanges = BTreeMap<String, Range<usize>>;

/// State shared while a file is read.
struct FileReading {
    text: FileText,
    quantities: Quantities,
    names: NodeRanges,
    topology: Topology,
    flows: Vec<(String, Range<usize>)>,
    chips: Vec<ChipPlan>,
    interfaces: Vec<PlacedHost>,
    stacks: Vec<PlacedHost>,
    /// The addresses of the hosts.
    addresses: BTreeSet<Ipv4Addr>,
    /// The folder to which paths in the file are relative.
    folder: PathBuf,
    /// How much later than specified each flow of the network may open.
    spreads: Vec<Option<Spread>>,
}

impl NetworkFile {
    /// Reads a network file from the disk and applies settings to it.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or as [`NetworkFile::parse_with`] does.
    pub fn load(path: &Path, settings: &[Setting]) -> Result<Self, Problem> {
        let bytes = Disk
            .read(path)
            .map_err(|error| Problem::io("read", path, &error))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Problem::new(format!("`{}` is not text", path.display())))?;
        Self::parse_with(&path.display().to_string(), &text, settings)
    }

    /// Parses a network file after applying settings to its text, in the order given.
    ///
    /// # Errors
    /// Returns an error if a setting leads nowhere, or as [`NetworkFile::parse`] does.
    pub fn parse_with(path: &str, text: &str, settings: &[Setting]) -> Result<Self, Problem> {
        let grammar = Grammar {
            kind: KIND,
            lists: LISTS,
            names: NAMES,
            read: &|text| toml_reader::read::<typed::NetworkFile>(text).map(drop),
        };
        match apply_to_text(text, settings, &grammar)? {
            Some(changed) => Self::parse(&name_with_settings(path), &changed),
            None => Self::parse(path, text),
        }
    }

    /// Uses another seed for everything random, including the start times of flows with a spread.
    pub fn reseed(&mut self, seed: u64) {
        self.topology.seed = seed;
        let has_round_trips =
            |(_, spread): &(_, Option<Spread>)| matches!(spread, Some(Spread::RoundTrips(..)));
        let routes = { self.starts.iter() }
            .any(has_round_trips)
            .then(|| Routes::of(&self.topology));
        for (number, (start, spread)) in self.starts.iter().enumerate() {
            let round_trip =
                { routes.as_ref() }.map_or(0, |routes| routes.round_trip(&self.topology, number));
            let flow = &mut self.topology.flows[number];
            let late = match spread.map_or(0, |spread| spread.of(round_trip)) {
                0 => 0,
                spread => Random::new(seed, START ^ stream(&flow.name)).below(spread),
            };
            flow.start = start.saturating_add(late);
        }
    }

    /// Turns this into another run of the same network: everything random is drawn from this seed,
    /// and flows without a `spread` start within one of their round-trip times, so that runs differ
    /// even if nothing else is random.
    pub fn replicate(&mut self, seed: u64) {
        for (_, spread) in &mut self.starts {
            spread.get_or_insert(Spread::ROUND_TRIP);
        }
        self.reseed(seed);
    }

    /// Rejects hosts that must be provided from outside of the simulation.
    ///
    /// # Errors
    /// Returns an error for the first of them.
    pub fn refuse_interfaces(&self) -> Result<(), Problem> {
        let Some(PlacedHost { node, place }) = self.interfaces.first() else {
            return Ok(());
        };
        let name = &self.topology.nodes[*node].name;
        let message = format!("nothing is connected to the interface `{name}`");
        Err(Problem::new(message)
            .at(place.clone())
            .help("`npsim live` connects it, and `--recorded` repeats such a run; without `kind` it is an end host of npsim's own"))
    }

    /// Rejects a scale, since times outside of the simulation cannot be scaled.
    ///
    /// # Errors
    /// Returns an error if the scale is not 1.
    pub fn refuse_scale(&self) -> Result<(), Problem> {
        if self.scale == 1 {
            return Ok(());
        }
        Err(Problem::new(format!(
            "the network's times are divided by {}, and those of real hosts are not",
            self.scale
        ))
        .help("leave `scale` out of the file, or give `--set scale=1`"))
    }

    /// Parses a network file; `path` is its name in messages.
    ///
    /// # Errors
    /// Returns the first error, with its place.
    pub fn parse(path: &str, text: &str) -> Result<Self, Problem> {
        let text = FileText {
            path: path.to_owned(),
            text: text.into(),
        };
        let file: typed::NetworkFile = toml_reader::read(&text.text)
            .map_err(|error| toml_errors::problem(&error, KIND, &text.path, &text.text))?;
        let scale = file.scale.as_ref().map_or(1, |scale| *scale.get_ref());
        if let Some(placed) = file.scale.as_ref().filter(|_| scale == 0) {
            return Err(text.problem(
                placed.span(),
                "a scale of 0 is not possible: times are divided by it",
            ));
        }
        let quantities = Quantities { scale };
        let mut reading = FileReading {
            text,
            quantities,
            names: NodeRanges::new(),
            chips: Vec::new(),
            interfaces: Vec::new(),
            stacks: Vec::new(),
            addresses: BTreeSet::new(),
            folder: Path::new(path).parent().unwrap_or(Path::new("")).into(),
            topology: Topology {
                seed: file.seed.unwrap_or(1),
                ..Topology::default()
            },
            flows: Vec::new(),
            spreads: Vec::new(),
        };
        reading.nodes(&file)?;
        for link in &file.link {
            reading.link(link)?;
        }
        for flow in &file.flow {
            reading.flow(flow)?;
        }
        for transfer in &file.transfer {
            reading.transfer(transfer)?;
        }
        let until = reading.time(&file.until)?;
        let from = match &file.from {
            Some(from) => reading.time(from)?,
            None => 0,
        };
        if from >= until {
            let place = file.from.as_ref().unwrap_or(&file.until);
            let message = "nothing is measured: the run ends before that begins";
            return Err(reading.text.problem(place.span(), message));
        }
        reading.check(&file)?;
        let starts = reading.topology.flows.iter().map(|flow| flow.start);
        let starts = starts.zip(reading.spreads).collect();
        let seed = reading.topology.seed;
        let mut file = Self {
            name: file.name,
            scale,
            until,
            from,
            topology: reading.topology,
            flows: reading.flows,
            chips: reading.chips,
            interfaces: reading.interfaces,
            stacks: reading.stacks,
            route_blocks: None,
            starts,
        };
        file.reseed(seed);
        Ok(file)
    }
}

impl FileReading {
    fn nodes(&mut self, file: &typed::NetworkFile) -> Result<(), Problem> {
        for host in &file.host {
            self.hosts(host)?;
        }
        for switch in &file.switch {
            self.name(&switch.name, 1)?;
            self.topology.nodes.push(Node {
                name: switch.name.get_ref().clone(),
                kind: NodeKind::Switch,
            });
        }
        for router in &file.router {
            self.name(&router.name, 1)?;
            let kind = self.router(router)?;
            self.topology.nodes.push(Node {
                name: router.name.get_ref().clone(),
                kind,
            });
        }
        Ok(())
    }

    /// Rejects nodes beyond those that a network may have.
    fn room(&self, place: Range<usize>, more: usize) -> Result<(), Problem> {
        if self.topology.nodes.len() + more <= MAX_NODES {
            return Ok(());
        }
        let message = format!(
            "a network has at most {MAX_NODES} nodes, and with {} the file has more",
            if more == 1 { "this one" } else { "these" }
        );
        let problem = self.text.problem(place, message);
        Err(problem.help("hosts, switches, routers and chips count; a smaller `count` makes fewer"))
    }

    /// Gives a name to the next nodes.
    fn name(&mut self, placed: &PlacedText, count: usize) -> Result<(), Problem> {
        let name = placed.get_ref();
        if name.is_empty() || name.contains([':', ' ', '=']) {
            let message = format!("`{name}` is not a valid name of a node");
            let problem = self.text.problem(placed.span(), message);
            return Err(problem.help("use letters, digits, `-` and `_`"));
        }
        self.room(placed.span(), count)?;
        let begin = self.topology.nodes.len();
        let before = self.names.insert(name.clone(), begin..begin + count);
        if before.is_some() {
            let message = format!("there are two nodes with the name `{name}`");
            return Err(self.text.problem(placed.span(), message));
        }
        Ok(())
    }

    /// Returns the nodes of a name.
    fn group(&self, placed: &PlacedText) -> Result<Range<usize>, Problem> {
        let known = self.names.keys().map(String::as_str);
        let found = self.names.get(placed.get_ref()).cloned();
        found.ok_or_else(|| self.text.unknown(placed, "node", known))
    }

    fn time(&self, placed: &PlacedText) -> Result<Time, Problem> {
        let time = self.quantities.time(placed.get_ref());
        time.map_err(|message| self.text.problem(placed.span(), message))
    }

    fn rate(&self, placed: &PlacedText) -> Result<u64, Problem> {
        let rate = self.quantities.rate(placed.get_ref());
        rate.map_err(|message| self.text.problem(placed.span(), message))
    }

    fn share(&self, placed: &toml::Spanned<f64>, most: f64) -> Result<u32, Problem> {
        let share = quantities::share(*placed.get_ref(), most);
        share.map_err(|message| self.text.problem(placed.span(), message))
    }

    /// Looks up one of several words.
    fn word<T: Copy>(
        &self,
        placed: &PlacedText,
        what: &str,
        words: &[(&str, T)],
    ) -> Result<T, Problem> {
        let found = words.iter().find(|(word, _)| word == placed.get_ref());
        let known = words.iter().map(|(word, _)| *word);
        found
            .map(|(_, meaning)| *meaning)
            .ok_or_else(|| self.text.unknown(placed, what, known))
    }

    /// Checks what only the whole network shows: missing paths, parameters out of range.
    fn check(&self, file: &typed::NetworkFile) -> Result<(), Problem> {
        let topology = &self.topology;
        let nodes = topology.nodes.iter().map(|it| ("nodes", &it.name));
        let links = topology.links.iter().map(|it| ("links", &it.name));
        let flows = topology.flows.iter().map(|it| ("flows", &it.name));
        let transfers = topology.transfers.iter().map(|it| ("transfers", &it.name));
        let mut names = BTreeSet::new();
        for (what, name) in nodes.chain(links).chain(flows).chain(transfers) {
            if !names.insert((what, name)) {
                let problem = self
                    .text
                    .problem(0..0, format!("two {what} are called `{name}`"));
                return Err(problem.help(
                    "give each a name of its own; members of a group have a number after theirs",
                ));
            }
        }
        let Err(error) = Simulation::new(self.topology.clone()) else {
            return Ok(());
        };
        let place = match &error {
            NetworkError::Route(route) => {
                let flows = file.flow.iter();
                self.origin(flows.map(|it| (&it.from, &it.to)), Ends::Hosts, route.flow)
            }
            NetworkError::Transfer { number, .. } => {
                let transfers = file.transfer.iter();
                self.origin(
                    transfers.map(|it| (&it.from, &it.to)),
                    Ends::Stacks,
                    *number,
                )
            }
            NetworkError::Law { router, .. } => file
                .router
                .iter()
                .find(|it| it.name.get_ref() == router)
                .map(|it| it.name.span()),
            _ => None,
        };
        Err(self.text.problem(place.unwrap_or(0..0), error.to_string()))
    }
    /// Returns the place in the file from which flow or transfer `number` of the network came.
    fn origin<'a>(
        &self,
        mut sections: impl Iterator<Item = (&'a PlacedText, &'a PlacedText)>,
        ends: Ends,
        mut number: usize,
    ) -> Option<Range<usize>> {
        sections.find_map(|(from, to)| {
            let count = self.pairs(from, to, ends).map_or(0, |pairs| pairs.len());
            let found = number < count;
            number = number.saturating_sub(count);
            found.then(|| from.span())
        })
    }
}
