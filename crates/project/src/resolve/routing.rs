//! The routing table and the tasks of the general-purpose core.

use std::ops::Range;

use npsim_chip::gpp::boot::{ExceptionsSetup, RouterRoutes, RoutesSetup};
use npsim_chip::gpp::exceptions::Exceptions;
use npsim_chip::gpp::routes::{
    NEXT_HOP_LONGWORDS, NextHop, Route, RouteError, RoutePrefix, Routes,
};

use super::super::file::{ProjectFile, RouteSection};
use super::super::text::{parse_mac, parse_prefix};
use super::port_address::Gateway;
use super::resolver::Resolver;
use super::{hex, suggestion};
use crate::keys::Spanned;
use crate::problem::Problem;
use crate::project_text::ProjectText;
use crate::quantity::{Time, show_nanoseconds};
use crate::registry::{PlannedTask, Registry};

/// The tasks that are always available.
const TASKS: [&str; 2] = ["routes", "exceptions"];

/// Returns the names of all available tasks.
pub(crate) fn known_tasks(registry: &Registry) -> Vec<&'static str> {
    TASKS.into_iter().chain(registry.tasks()).collect()
}

impl Resolver<'_> {
    /// Checks the list of tasks and makes them.
    pub(super) fn tasks(&mut self, file: &ProjectFile, registry: &Registry) {
        let known = known_tasks(registry);
        for (i, task) in file.gpp.tasks.iter().enumerate() {
            if !known.contains(&task.get_ref().as_str()) {
                let help = suggestion(task.get_ref(), known.iter().copied(), "task");
                self.fail(
                    task.span(),
                    format!("there is no task `{}`", task.get_ref()),
                    "",
                    &help,
                );
            } else if file.gpp.tasks[..i]
                .iter()
                .any(|other| other.get_ref() == task.get_ref())
            {
                self.fail(
                    task.span(),
                    format!("the task `{}` is listed twice", task.get_ref()),
                    "",
                    "",
                );
            }
        }
        self.replaced(file, &known);
        self.exceptions(file);
        for name in registry.tasks() {
            if let Some(planned) = self.registered(file, name) {
                self.plan(planned);
            }
        }
    }

    /// Checks the list of tasks whose work a program does.
    fn replaced(&mut self, file: &ProjectFile, known: &[&str]) {
        let program = file.sections.tasks.iter().any(|section| section.runs);
        for task in &file.gpp.replaced {
            let name = task.get_ref().as_str();
            let mistake = if !known.contains(&name) {
                let help = suggestion(name, known.iter().copied(), "task");
                (format!("there is no task `{name}`"), help)
            } else if has_task(file, name) {
                let message = format!("the task `{name}` is both run and replaced by a program");
                (
                    message,
                    "remove it from `tasks` or from `replaced`".to_owned(),
                )
            } else if !program {
                let message = format!("no program does the work of the task `{name}`");
                (
                    message,
                    "add [gpp.program] with `elf = \"FILE\"`".to_owned(),
                )
            } else {
                continue;
            };
            self.fail(task.span(), mistake.0, "", &mistake.1);
        }
    }

    /// Makes a task of a registered kind, if it runs and has a section.
    fn registered(&mut self, file: &ProjectFile, name: &str) -> Option<PlannedTask> {
        let listed = file.gpp.tasks.iter().find(|task| task.get_ref() == name);
        let section = file.sections.tasks.iter().find(|it| it.name == name);
        match (listed, section) {
            (None, Some(section)) if section.runs => return (section.resolve)(self),
            (Some(_), Some(section)) => return (section.resolve)(self),
            (None, Some(_)) if is_replaced(file, name) => {}
            (None, Some(section)) => self.fail(
                section.span.clone(),
                format!("[gpp.{name}] is given, but the task does not run"),
                "",
                &format!("add \"{name}\" to `tasks` in [gpp]"),
            ),
            (Some(listed), None) => self.fail(
                Spanned::span(listed),
                format!("the {name} task has no section"),
                "",
                &format!("add [gpp.{name}]; it may be empty where every key has a default"),
            ),
            (None, None) => {}
        }
        None
    }

    fn plan(&mut self, PlannedTask { task, text }: PlannedTask) {
        self.tasks.push(format!("{}: {text}", task.name()));
        self.boot.tasks.push(task);
    }

    /// Builds the table and allocates its memory. `blocks` is the number of blocks for changes at
    /// run time, if any can come.
    pub(super) fn routes(&mut self, file: &ProjectFile, blocks: Option<u32>) {
        let wanted = has_task(file, "routes");
        if !wanted {
            self.no_routes(file);
            if blocks.is_some() {
                let message = "routes are to change while the chip runs, but no task keeps them";
                let problem = Problem::new(message).at(self.text.excerpt(0..0, ""));
                let help = "add \"routes\" to `tasks` in [gpp], or run it without such changes";
                self.problems.push(problem.help(help));
            }
            return;
        }
        let channel = match file.routes.as_ref().and_then(|r| r.channel.as_ref()) {
            Some(channel) => match self.channel(channel) {
                Some(channel) => channel,
                None => return,
            },
            None => u8::from(self.sram.len() > 1),
        };
        let before = self.problems.len();
        let routes: Vec<_> = file
            .route
            .iter()
            .filter_map(|section| self.route(file, section))
            .collect();
        if self.problems.len() > before {
            return;
        }
        let own = self.own_routes(file, &routes);
        let Ok(typed) = self.typed_changes(file) else {
            return;
        };
        // Next hops that `arp` resolves are in the table from the start, since the task knows their
        // places.
        let mut reserved: Vec<NextHop> = self.gateways.iter().map(Gateway::next_hop).collect();
        // So is the next hop of the router's own addresses, which would otherwise be missing if the
        // project gives all of those routes itself.
        reserved.extend(own.iter().flatten().next().map(|route| route.next_hop));
        let mut routers = Vec::with_capacity(own.len());
        for own in own {
            let mut all = routes.clone();
            all.extend(own);
            match RouterRoutes::new(all, reserved.clone()) {
                Ok(router) => routers.push(router),
                Err(error) => {
                    self.route_error(file, &routes, &error);
                    return;
                }
            }
        }
        let Ok(changes) = self.route_changes(file, &routers, typed, blocks) else {
            return;
        };
        let tables = || routers.iter().map(RouterRoutes::table);
        let mut trie = tables().map(|table| table.trie().len()).max().unwrap_or(0);
        let mut hops = { tables().map(|table| table.next_hops().len()) }
            .max()
            .unwrap_or(0);
        if let Some(planned) = &changes {
            trie = trie.max(planned.entries());
            hops = hops.max(planned.next_hop_longwords());
        }
        let owner = "the routes";
        let space = &mut self.sram[usize::from(channel)];
        let (trie_bytes, hop_bytes) = (trie as u64 * 4, hops as u64 * 4);
        let placed = space
            .place("the routes", 0, trie_bytes, 64)
            .and_then(|root| Ok((root, space.place("the next hops", 0, hop_bytes, 16)?)));
        let (root, next_hops) = match placed {
            Ok((root, next_hops)) => (root as u32, next_hops as u32),
            Err(reason) => {
                let name = space.name.clone();
                let bytes = trie_bytes + hop_bytes;
                let blocks = file.routes.as_ref().and_then(|it| it.blocks.as_ref());
                let first = || file.route.first().map(|route| route.prefix.span());
                let span = blocks.map(Spanned::span).or_else(first).unwrap_or(0..0);
                self.no_place(span, "the routing table", bytes, &name, &reason);
                return;
            }
        };
        self.define(
            "ROUTE_ROOT".into(),
            hex(u32::from(channel) << 30 | root),
            owner,
            0..0,
        );
        self.define(
            "NEXT_HOPS".into(),
            hex(u32::from(channel) << 30 | next_hops),
            owner,
            0..0,
        );
        let changing = changes.as_ref().map_or_else(String::new, |planned| {
            let known = planned.setup.changes.len();
            let more = planned.setup.open.map_or("", |_| " and more while it runs");
            format!(", {known} changes{more}")
        });
        let text = format!(
            "{trie} longwords of table, {} next hops{changing}",
            hops / NEXT_HOP_LONGWORDS - 1
        );
        let task = Box::new(Routes::new(RoutesSetup {
            channel,
            root,
            next_hops,
            routers,
            changes: changes.map(|planned| planned.setup),
        }));
        self.plan(PlannedTask { task, text });
    }

    /// Reports routes and route changes in a project without the task `routes`.
    fn no_routes(&mut self, file: &ProjectFile) {
        let given = [
            ("routes", file.route.first().map(|it| it.prefix.span())),
            ("route changes", first_change(file)),
        ];
        if let Some((what, Some(span))) = given.into_iter().find(|it| it.1.is_some()) {
            self.fail(
                span,
                format!("{what} are given, but no task keeps them"),
                "",
                "add \"routes\" to `tasks` in [gpp]",
            );
        }
    }

    fn route(&mut self, file: &ProjectFile, section: &RouteSection) -> Option<Route> {
        let typed = TypedRoute {
            prefix: &section.prefix,
            port: section.port.as_ref(),
            mac: section.mac.as_ref(),
            mtu: section.mtu.as_ref(),
            local: section.local,
            discard: section.discard,
            next_hop: section.next_hop.as_ref(),
        };
        let made = self.typed_route(finds_next_hops(file), &typed);
        made.map_err(|mistake| self.problems.push(mistake.at(self.text)))
            .ok()
    }

    /// Resolves a route to one of the project's ports; `has_arp` tells whether the task `arp` can
    /// find next hops.
    pub(super) fn typed_route(
        &mut self,
        has_arp: bool,
        typed: &TypedRoute<'_>,
    ) -> Result<Route, Mistake> {
        if let Some(mtu) = typed.mtu.filter(|mtu| *mtu.get_ref() < MIN_MTU) {
            let message = format!(
                "an MTU of {} is less than the {MIN_MTU} bytes that every IPv4 link must carry whole (RFC 791)",
                mtu.get_ref()
            );
            return Err(Mistake::new(
                mtu.span(),
                message,
                "give 68 or more, or leave it out for 1500",
            ));
        }
        let Some(address) = typed.next_hop else {
            return typed.route(&self.macs);
        };
        let (RoutePrefix { prefix, length }, port) = typed.network_and_port(self.macs.len())?;
        Ok(Route {
            prefix,
            length,
            next_hop: self.gateway(has_arp, typed, address, port)?,
        })
    }

    fn route_error(&mut self, file: &ProjectFile, routes: &[Route], error: &RouteError) {
        let place = match error {
            RouteError::Length(it) | RouteError::HostBits(it) | RouteError::Conflicting(it) => {
                routes.iter().rposition(|route| route.network() == *it)
            }
            RouteError::TooManyNextHops => None,
        };
        match place.and_then(|at| file.route.get(at)) {
            Some(section) => self.fail(section.prefix.span(), error.to_string(), "", ""),
            None => self.problems.push(Problem::new(error.to_string())),
        }
    }

    fn exceptions(&mut self, file: &ProjectFile) {
        let Some(section) = &file.gpp.exceptions else {
            if let Some(task) = file
                .gpp
                .tasks
                .iter()
                .find(|task| task.get_ref() == "exceptions")
            {
                self.fail(
                    task.span(),
                    "the exceptions task has no ring",
                    "",
                    "add [gpp.exceptions] with `ring = \"NAME\"`",
                );
            }
            return;
        };
        let replaced = is_replaced(file, "exceptions");
        if !replaced && !has_task(file, "exceptions") {
            self.fail(
                section.ring.span(),
                "[gpp.exceptions] is given, but the task does not run",
                "",
                "add \"exceptions\" to `tasks` in [gpp]",
            );
            return;
        }
        let known = file.ring.iter().map(|ring| ring.name.get_ref().as_str());
        let name = section.ring.get_ref();
        if !known.clone().any(|ring| ring == name) {
            let help = suggestion(name, known, "[[ring]]");
            self.fail(
                section.ring.span(),
                format!("there is no ring `{name}`"),
                "",
                &help,
            );
            return;
        }
        let Some(number) = self
            .defines
            .get(&format!("{name}_NUMBER"))
            .and_then(|d| d.value.parse().ok())
        else {
            // The ring itself is wrong, which has been reported.
            return;
        };
        let mut period = Time::Picoseconds(2_000_000);
        if let Some(text) = &section.period {
            match text.get_ref().parse() {
                Ok(time) => period = time,
                Err(message) => self.fail(text.span(), message, "", ""),
            }
        }
        let Some(buffers) = self.boot.buffers else {
            if file.buffers.is_none() {
                self.fail(
                    section.ring.span(),
                    "the exceptions task needs [buffers], to which it returns packets",
                    "",
                    "",
                );
            }
            return;
        };
        let hertz = self.capacity.hertz;
        let period = period.cycles(hertz).max(1);
        let text = format!(
            "polls ring {number} every {}",
            show_nanoseconds(period as f64 * 1e9 / hertz as f64)
        );
        let setup = ExceptionsSetup {
            ring: number,
            period,
            reasons: section.reasons.clone(),
            buffers,
        };
        if replaced {
            self.replaced_exceptions = Some(setup);
            return;
        }
        let task = Box::new(Exceptions::new(setup));
        self.plan(PlannedTask { task, text });
    }
}

/// Largest packet that every IPv4 link carries without fragmentation.
const MIN_MTU: u16 = 68;

/// A route in written form.
pub(super) struct TypedRoute<'a> {
    pub prefix: &'a Spanned<String>,
    pub port: Option<&'a Spanned<u8>>,
    pub mac: Option<&'a Spanned<String>>,
    pub mtu: Option<&'a Spanned<u16>>,
    pub local: bool,
    pub discard: bool,
    /// The next hop's IPv4 address, for the task `arp`.
    pub next_hop: Option<&'a Spanned<String>>,
}

/// An error at a place in a file.
pub(super) struct Mistake {
    pub span: Range<usize>,
    pub message: String,
    pub label: String,
    pub help: &'static str,
}

impl Mistake {
    pub fn new(span: Range<usize>, message: impl Into<String>, help: &'static str) -> Self {
        Self {
            span,
            message: message.into(),
            label: String::new(),
            help,
        }
    }

    /// Converts the error to a problem in this file.
    pub fn at(self, text: &ProjectText) -> Problem {
        let problem = Problem::new(self.message).at(text.excerpt(self.span, self.label));
        match self.help {
            "" => problem,
            help => problem.help(help),
        }
    }
}

/// Parses the address and length of a prefix.
pub(super) fn network(typed: &Spanned<String>) -> Result<RoutePrefix, Mistake> {
    let text = typed.get_ref();
    let Some((prefix, length)) = parse_prefix(text) else {
        return Err(Mistake::new(
            typed.span(),
            format!("`{text}` is not an IPv4 prefix"),
            "write for example `10.0.0.0/8`; `0.0.0.0/0` is the default route",
        ));
    };
    Ok(RoutePrefix { prefix, length })
}

impl TypedRoute<'_> {
    /// Returns the route's prefix and its port.
    fn network_and_port(&self, ports: usize) -> Result<(RoutePrefix, u8), Mistake> {
        let network = network(self.prefix)?;
        let text = self.prefix.get_ref();
        let port = match self.port {
            Some(port) if usize::from(*port.get_ref()) < ports => *port.get_ref(),
            Some(port) => {
                let mut mistake = Mistake::new(
                    port.span(),
                    format!("there is no port {}", port.get_ref()),
                    "",
                );
                mistake.label = match ports {
                    0 => "the project has no [[port]]".to_string(),
                    n => format!("the project has 0 to {}", n - 1),
                };
                return Err(mistake);
            }
            None if self.local || self.discard => 0,
            None => {
                return Err(Mistake::new(
                    self.prefix.span(),
                    format!("the route {text} leads to no port"),
                    "add `port`, or `local = true` for the router's own address, or `discard = true`",
                ));
            }
        };
        Ok((network, port))
    }

    /// Returns the route, on ports with these MAC addresses.
    pub fn route(&self, macs: &[[u8; 6]]) -> Result<Route, Mistake> {
        let (RoutePrefix { prefix, length }, port) = self.network_and_port(macs.len())?;
        let destination = match self.mac {
            Some(mac) => typed_mac(mac)?,
            None if self.local || self.discard => [0; 6],
            None => {
                return Err(Mistake::new(
                    self.prefix.span(),
                    format!("the route {} has no next hop", self.prefix.get_ref()),
                    "add `mac`, the next hop's address, or `next_hop`, its IPv4 address, for the task `arp`",
                ));
            }
        };
        Ok(Route {
            prefix,
            length,
            next_hop: NextHop {
                port,
                mtu: self.mtu.map_or(1500, |mtu| *mtu.get_ref()),
                local: self.local,
                discard: self.discard,
                destination,
                source: macs.get(usize::from(port)).copied().unwrap_or_default(),
            },
        })
    }
}

/// Parses the MAC address of a single port or next hop.
pub(super) fn typed_mac(typed: &Spanned<String>) -> Result<[u8; 6], Mistake> {
    let wrong = |why: &str| {
        Mistake::new(
            typed.span(),
            format!("`{}` is {why}", typed.get_ref()),
            "write six bytes in hexadecimal such as `02:00:00:00:01:00`",
        )
    };
    match parse_mac(typed.get_ref()) {
        None => Err(wrong("not a MAC address")),
        Some([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]) => Err(wrong(
            "the broadcast address, which no port and no next hop has",
        )),
        Some(mac) if mac[0] & 1 == 1 => Err(wrong(
            "the address of a group, which no port and no next hop has",
        )),
        Some([0, 0, 0, 0, 0, 0]) => Err(wrong("not an address: all of its bits are 0")),
        Some(mac) => Ok(mac),
    }
}

/// Returns the place of the first route change.
fn first_change(file: &ProjectFile) -> Option<Range<usize>> {
    let listed = file.route_change.first().map(|it| it.at.span());
    let read = || file.routes.as_ref()?.changes.as_ref().map(Spanned::span);
    listed.or_else(read)
}

pub(super) fn has_task(file: &ProjectFile, name: &str) -> bool {
    file.gpp.tasks.iter().any(|task| task.get_ref() == name)
}

/// Whether the core resolves next hops given by IPv4 address.
pub(super) fn finds_next_hops(file: &ProjectFile) -> bool {
    has_task(file, "arp") || is_replaced(file, "arp")
}

/// Whether a program does the work of a task.
fn is_replaced(file: &ProjectFile, name: &str) -> bool {
    file.gpp.replaced.iter().any(|task| task.get_ref() == name)
}
