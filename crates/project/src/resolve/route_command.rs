//! Route changes at run time: one-line commands that correspond to the keys of `[[route_change]]`.

use std::ops::Range;

use npsim_chip::Cycle;
use npsim_chip::gpp::routes::{ChangeError, RouteChange, Routes};

use super::routing::Mistake;
use super::{ProjectText, Resolver};
use crate::Project;
use crate::file::RouteChangeSection;
use crate::files::Disk;
use crate::keys::Spanned;
use crate::problem::Problem;

/// Format of a command.
const COMMAND: &str = "write `route add PREFIX port=N mac=ADDRESS`, or `next_hop=ADDRESS` in place of `mac`, or `local` or `discard` alone, optionally with `mtu=BYTES`; `route change ...` likewise; or `route remove PREFIX`";

impl Project {
    /// Whether a command is a route change.
    #[must_use]
    pub fn is_route_command(command: &str) -> bool {
        command.split_whitespace().next() == Some("route")
    }

    /// Parses a command to a route change at cycle `at`. The project must be
    /// [prepared](crate::Overrides::route_blocks) for route changes at run time.
    ///
    /// # Errors
    /// Returns the error in the command, with its place. Whether the change is possible after the
    /// others is checked by the chip.
    pub fn route_change(&self, command: &str, at: Cycle) -> Result<RouteChange, Problem> {
        let text = ProjectText {
            path: "the command".to_owned(),
            folder: self.text.folder.clone(),
            text: command.into(),
            files: Vec::new(),
            source_map: None,
        };
        let change = section(command).and_then(|section| self.resolved(&text, &section));
        let change = change.map_err(|mistake| mistake.at(&text))?;
        Ok(RouteChange { at, ..change })
    }

    fn resolved(
        &self,
        text: &ProjectText,
        section: &RouteChangeSection,
    ) -> Result<RouteChange, Mistake> {
        let mut resolver = Resolver::new(&Disk, text, &self.capacity);
        resolver.macs.clone_from(&self.macs);
        resolver.addresses.clone_from(&self.addresses);
        resolver.gateways.clone_from(&self.gateways);
        let has_arp = self.boot.tasks.iter().any(|task| task.name() == "arp");
        let change = resolver.route_change(has_arp, section)?;
        if resolver.gateways.len() > self.gateways.len() {
            let span = section.next_hop.as_ref().map_or(0..0, Spanned::span);
            return Err(Mistake::new(
                span,
                "no route of the project uses this next hop, so the task `arp` does not resolve it",
                "give its address on the link as `mac`, or add a route through it to the project",
            ));
        }
        Ok(change)
    }

    /// Adds changes [parsed](Self::route_change) from commands before the chip runs, which then
    /// behaves as it did when they came at run time.
    ///
    /// # Errors
    /// Returns an error if the project is not prepared for such changes, or one of them is
    /// impossible.
    pub fn plan_route_changes(&mut self, changes: &[RouteChange]) -> Result<(), Problem> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut tasks = self.boot.tasks.iter_mut();
        let routes = tasks.find_map(|task| task.downcast_mut::<Routes>());
        let planned = routes.map_or(Err((None, ChangeError::Closed)), |it| it.plan(changes));
        planned.map_err(|(change, error)| {
            Problem::new(match change {
                Some(RouteChange { at, change }) => format!(
                    "the change of {} at cycle {at} cannot be made: {error}",
                    change.network()
                ),
                None => error.to_string(),
            })
        })
    }
}

/// Parses a command to the keys of a section.
fn section(command: &str) -> Result<RouteChangeSection, Mistake> {
    let whole = 0..command.len();
    let mut words = words(command);
    let wrong = |span: Range<usize>, message: String| Mistake::new(span, message, COMMAND);
    match words.next() {
        Some(word) if word.get_ref() == "route" => {}
        _ => {
            let message = "the command changes no routes".to_owned();
            return Err(wrong(whole, message));
        }
    }
    let (Some(what), Some(prefix)) = (words.next(), words.next()) else {
        let message = "a change needs `add`, `change` or `remove`, and a prefix".to_owned();
        return Err(wrong(whole, message));
    };
    let mut section = RouteChangeSection::at(Spanned::new(whole, "0".to_owned()));
    let slot = match what.get_ref().as_str() {
        "add" => &mut section.add,
        "change" => &mut section.change,
        "remove" => &mut section.remove,
        other => {
            let message = format!("`{other}` is not `add`, `change` or `remove`");
            return Err(wrong(what.span(), message));
        }
    };
    *slot = Some(prefix);
    let mut given: Vec<&str> = Vec::new();
    for word in &words.collect::<Vec<_>>() {
        let (key, value) = word
            .get_ref()
            .split_once('=')
            .unwrap_or((word.get_ref(), ""));
        if given.contains(&key) {
            let message = format!("`{key}` is given twice");
            return Err(wrong(word.span(), message));
        }
        given.push(key);
        let start = word.span().start + key.len() + 1;
        let value = Spanned::new(start..start + value.len(), value.to_owned());
        let number = |what: &str| {
            let message = format!("`{}` is not {what}", value.get_ref());
            wrong(word.span(), message)
        };
        match key {
            "port" => {
                let port = value.get_ref().parse();
                let port = port.map_err(|_| number("the number of a port"))?;
                section.port = Some(Spanned::new(value.span(), port));
            }
            "mtu" => {
                let mtu = value.get_ref().parse();
                let mtu = mtu.map_err(|_| number("a number of bytes up to 65535"))?;
                section.mtu = Some(Spanned::new(value.span(), mtu));
            }
            "mac" => section.mac = Some(value),
            "next_hop" => section.next_hop = Some(value),
            "local" if word.get_ref() == key => section.local = true,
            "discard" if word.get_ref() == key => section.discard = true,
            _ => {
                let message = format!("a change of routes has no `{}`", word.get_ref());
                return Err(wrong(word.span(), message));
            }
        }
    }
    Ok(section)
}

/// Returns the words of a command with their places.
fn words(command: &str) -> impl Iterator<Item = Spanned<String>> {
    command.split_whitespace().map(move |word| {
        let start = word.as_ptr() as usize - command.as_ptr() as usize;
        Spanned::new(start..start + word.len(), word.to_owned())
    })
}
