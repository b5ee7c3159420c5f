//! The routing table and the tasks of the general-purpose core.

use npsim_chip::gpp::boot::{ExceptionsSetup, RoutesSetup};
use npsim_chip::gpp::exceptions::Exceptions;
use npsim_chip::gpp::routes::{NEXT_HOP_LONGWORDS, NextHop, Route, RouteError, RouteTable, Routes};

use super::super::file::{ProjectFile, RouteSection};
use super::super::text::parse_prefix;
use super::{Resolver, hex, suggestion};
use crate::keys::Spanned;
use crate::problem::Problem;
use crate::quantity::{Time, show_nanoseconds};
use crate::registry::{PlannedTask, Registry};

/// The tasks that every project can have.
const TASKS: [&str; 2] = ["routes", "exceptions"];

/// All tasks that a project can have.
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
        self.exceptions(file);
        for name in registry.tasks() {
            if let Some(planned) = self.registered(file, name) {
                self.plan(planned);
            }
        }
    }

    /// A task of a registered kind, if it runs and has a section.
    fn registered(&mut self, file: &ProjectFile, name: &str) -> Option<PlannedTask> {
        let listed = file.gpp.tasks.iter().find(|task| task.get_ref() == name);
        let section = file.sections.tasks.iter().find(|it| it.name == name);
        match (listed, section) {
            (Some(_), Some(section)) => return (section.resolve)(self),
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

    /// Builds the table and gives it its place.
    pub(super) fn routes(&mut self, file: &ProjectFile) {
        let wanted = has_task(file, "routes");
        if !wanted {
            if let Some(route) = file.route.first() {
                self.fail(
                    route.prefix.span(),
                    "routes are given, but nothing keeps them",
                    "",
                    "add \"routes\" to `tasks` in [gpp]",
                );
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
            .filter_map(|section| self.route(section))
            .collect();
        if self.problems.len() > before {
            return;
        }
        let table = match RouteTable::build(&routes) {
            Ok(table) => table,
            Err(error) => {
                self.route_error(file, &routes, &error);
                return;
            }
        };
        let owner = "the routes";
        let space = &mut self.sram[usize::from(channel)];
        let trie = table.trie().len() as u64 * 4;
        let hops = table.next_hops().len() as u64 * 4;
        let placed = space
            .place("the routes", 0, trie, 64)
            .and_then(|root| Ok((root, space.place("the next hops", 0, hops, 16)?)));
        let (root, next_hops) = match placed {
            Ok((root, next_hops)) => (root as u32, next_hops as u32),
            Err(reason) => {
                let name = space.name.clone();
                let span = file.route.first().map_or(0..0, |route| route.prefix.span());
                self.no_place(span, "the routing table", trie + hops, &name, &reason);
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
        let text = format!(
            "{} longwords of table, {} next hops",
            table.trie().len(),
            table.next_hops().len() / NEXT_HOP_LONGWORDS - 1
        );
        let task = Box::new(Routes::new(RoutesSetup {
            channel,
            root,
            next_hops,
            table,
        }));
        self.plan(PlannedTask { task, text });
    }

    fn route(&mut self, section: &RouteSection) -> Option<Route> {
        let text = section.prefix.get_ref();
        let Some((prefix, length)) = parse_prefix(text) else {
            self.fail(
                section.prefix.span(),
                format!("`{text}` is not an IPv4 prefix"),
                "",
                "write for example `10.0.0.0/8`; `0.0.0.0/0` is the default route",
            );
            return None;
        };
        let port = match &section.port {
            Some(port) if usize::from(*port.get_ref()) < self.macs.len() => *port.get_ref(),
            Some(port) => {
                let message = format!("there is no port {}", port.get_ref());
                let label = match self.macs.len() {
                    0 => "the project has no [[port]]".to_string(),
                    n => format!("the project has 0 to {}", n - 1),
                };
                self.fail(port.span(), message, label, "");
                return None;
            }
            None if section.local || section.discard => 0,
            None => {
                self.fail(
                    section.prefix.span(),
                    format!("the route {text} leads to no port"),
                    "",
                    "add `port`, or `local = true` for the router's own address, or `discard = true`",
                );
                return None;
            }
        };
        let destination = match &section.mac {
            Some(mac) => self.mac(mac)?,
            None if section.local || section.discard => [0; 6],
            None => {
                self.fail(
                    section.prefix.span(),
                    format!("the route {text} has no next hop"),
                    "",
                    "add `mac`, the next hop's address",
                );
                return None;
            }
        };
        let source = self
            .macs
            .get(usize::from(port))
            .copied()
            .unwrap_or_default();
        let mtu = section.mtu.unwrap_or(1500);
        Some(Route {
            prefix,
            length,
            next_hop: NextHop {
                port,
                mtu,
                local: section.local,
                discard: section.discard,
                destination,
                source,
            },
        })
    }

    fn route_error(&mut self, file: &ProjectFile, routes: &[Route], error: &RouteError) {
        let place = match error {
            RouteError::Length(r) | RouteError::HostBits(r) | RouteError::Twice(r) => {
                routes.iter().rposition(|route| route == r)
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
                    "the exceptions task does not know its ring",
                    "",
                    "add [gpp.exceptions] with `ring = \"NAME\"`",
                );
            }
            return;
        };
        if !has_task(file, "exceptions") {
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
            // The ring itself is wrong, which has been said.
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
        let task = Box::new(Exceptions::new(ExceptionsSetup {
            ring: number,
            period,
            reasons: section.reasons.clone(),
            buffers,
        }));
        self.plan(PlannedTask { task, text });
    }
}

fn has_task(file: &ProjectFile, name: &str) -> bool {
    file.gpp.tasks.iter().any(|task| task.get_ref() == name)
}
