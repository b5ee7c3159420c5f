//! Route changes while packets flow: listed in the project file, or in a separate file with one
//! change per line.

use std::net::Ipv4Addr;
use std::path::Path;

use npsim_chip::gpp::boot::{RouteChangesSetup, RouterRoutes};
use npsim_chip::gpp::routes::{
    BLOCK_ENTRIES, Change, ChangeError, NEXT_HOP_LONGWORDS, ROOT_ENTRIES, Route, RouteChange,
    RoutePrefix, TableNeeds, needs,
};

use super::routing::{Mistake, TypedRoute, finds_next_hops, network};
use super::{ProjectText, Resolver};
use crate::file::{ProjectFile, RouteChangeSection, RoutesSection};
use crate::files::join;
use crate::keys::Spanned;
use crate::problem::Problem;
use crate::quantity::Time;

/// Most errors reported for a file of changes; more would not help.
const REPORTED: usize = 10;
/// Format of a line of the file.
const LINE: &str = "write `TIME,add,PREFIX,PORT,NEXT-HOP`, a MAC address or an IPv4 address for the task `arp`, or `change` in place of `add`, optionally followed by `,MTU`; `local` or `discard` in place of port and next hop; or `TIME,remove,PREFIX`";

/// U+FEFF, which marks a text as UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// There were errors, which have been reported.
pub(super) struct Refused;

/// Changes in written form.
pub(super) struct TypedChanges {
    list: Vec<RouteChange>,
    /// The file that they were read from, if not the project's own, and its lines.
    read: Option<(ProjectText, Vec<RouteChangeSection>)>,
}

/// Changes with the memory that they need.
pub(super) struct PlannedChanges {
    pub setup: RouteChangesSetup,
    next_hops: usize,
}

impl PlannedChanges {
    /// Returns the number of longwords of the trie.
    pub fn entries(&self) -> usize {
        ROOT_ENTRIES.saturating_add((self.setup.blocks as usize).saturating_mul(BLOCK_ENTRIES))
    }

    /// Returns the number of longwords of the next-hop table, whose index 0 is unused.
    pub fn next_hop_longwords(&self) -> usize {
        (self.next_hops + 1) * NEXT_HOP_LONGWORDS
    }
}

impl Resolver<'_> {
    /// Reads the changes of a project in written form.
    pub(super) fn typed_changes(&mut self, file: &ProjectFile) -> Result<TypedChanges, Refused> {
        let nothing = RoutesSection::default();
        let section = file.routes.as_ref().unwrap_or(&nothing);
        let before = self.problems.len();
        let (changes, text) = match &section.changes {
            Some(path) => {
                if let Some(first) = file.route_change.first() {
                    self.fail(
                        first.at.span(),
                        "route changes are given here and in a file",
                        "",
                        "leave [[route_change]] or `changes` of [routes] out",
                    );
                    return Err(Refused);
                }
                let text = self.changes_file(path).ok_or(Refused)?;
                let lines = self.lines(&text);
                if lines.is_empty() && self.problems.len() == before {
                    let message = format!("`{}` has no route changes", path.get_ref());
                    let help = format!("leave `changes` out, or {LINE}");
                    self.fail(path.span(), message, "", &help);
                }
                (lines, Some(text))
            }
            None => (Vec::new(), None),
        };
        let sections = match &text {
            Some(_) => &changes,
            None => &file.route_change,
        };
        let in_text = text.as_ref().unwrap_or(self.text);
        let mut list = Vec::with_capacity(sections.len());
        for section in sections {
            match self.route_change(finds_next_hops(file), section) {
                Ok(change) => list.push(change),
                Err(mistake) if self.problems.len() - before < REPORTED => {
                    self.problems.push(mistake.at(in_text));
                }
                Err(_) => break,
            }
        }
        if self.problems.len() > before {
            return Err(Refused);
        }
        Ok(TypedChanges {
            list,
            read: text.map(|text| (text, changes)),
        })
    }

    /// Resolves the changes of a project, if it has any, against its routers' routes. `reserved` is
    /// the number of blocks for changes at run time, if any can come.
    pub(super) fn route_changes(
        &mut self,
        file: &ProjectFile,
        routers: &[RouterRoutes],
        typed: TypedChanges,
        reserved: Option<u32>,
    ) -> Result<Option<PlannedChanges>, Refused> {
        let nothing = RoutesSection::default();
        let section = file.routes.as_ref().unwrap_or(&nothing);
        let TypedChanges { list, read } = typed;
        let (text, sections) = match &read {
            Some((text, sections)) => (text, sections),
            None => (self.text, &file.route_change),
        };
        if list.is_empty() && reserved.is_none() {
            let keys = [section.blocks.as_ref().map(Spanned::span)];
            let keys = keys
                .into_iter()
                .chain([section.grace.as_ref().map(Spanned::span)]);
            if let Some(span) = keys.flatten().next() {
                let message = "the key has no effect without route changes";
                self.fail(span, message, "", "add [[route_change]], or remove the key");
                return Err(Refused);
            }
            return Ok(None);
        }
        let room = section.blocks.as_ref().map(|it| *it.get_ref());
        // In a chain, each router makes all changes, in a table with its own addresses.
        let mut found = TableNeeds::default();
        for router in routers {
            match needs(router, &list, room.map_or(usize::MAX, |room| room as usize)) {
                Ok(needs) => found = found.most(needs),
                Err((place, error)) => {
                    let problem = told(&sections[place], &error, section).at(match error {
                        ChangeError::Full { .. } => self.text,
                        _ => text,
                    });
                    self.problems.push(problem);
                    return Err(Refused);
                }
            }
        }
        let TableNeeds {
            initial_blocks,
            peak_blocks,
            blocks_without_reuse,
            next_hops,
        } = found;
        if let Some(typed) = &section.blocks
            && (*typed.get_ref() as usize) < initial_blocks
        {
            let message = format!("the routes alone need {initial_blocks} blocks");
            self.fail(
                typed.span(),
                message,
                "",
                "leave `blocks` out to get as many as needed",
            );
            return Err(Refused);
        }
        // Half of the blocks may be in their grace period.
        let fitted = blocks_without_reuse.min(2 * peak_blocks) as u32;
        let grace = self.time(section.grace.as_ref(), "100us");
        // A change needs one or two blocks, and one next hop.
        let more = reserved.unwrap_or(0);
        let next_hops = next_hops.saturating_add(more as usize);
        let next_hops = next_hops.min(usize::from(u16::MAX));
        Ok(Some(PlannedChanges {
            setup: RouteChangesSetup {
                changes: list,
                blocks: room.unwrap_or(fitted).saturating_add(more),
                grace,
                open: reserved.map(|_| next_hops),
            },
            next_hops,
        }))
    }

    fn changes_file(&mut self, typed: &Spanned<String>) -> Option<ProjectText> {
        let path = join(&self.text.folder, Path::new(typed.get_ref()));
        let excerpt = |label: &str| self.text.excerpt(typed.span(), label);
        let bytes = match self.files.read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let label = "looked for relative to the project's folder";
                let problem = Problem::io("read", &path, &error).at(excerpt(label));
                self.problems.push(problem);
                return None;
            }
        };
        let Ok(text) = String::from_utf8(bytes) else {
            let message = format!("`{}` is not text", path.display());
            self.fail(typed.span(), message, "", LINE);
            return None;
        };
        Some(ProjectText {
            path: path.display().to_string(),
            folder: self.text.folder.clone(),
            text: text.into(),
            files: Vec::new(),
            source_map: None,
        })
    }

    /// Parses the lines of a file of changes.
    fn lines(&mut self, text: &ProjectText) -> Vec<RouteChangeSection> {
        let (mut sections, mut told) = (Vec::new(), 0);
        // Some editors put a byte order mark before a UTF-8 text.
        let body = text.text.trim_start_matches(BYTE_ORDER_MARK);
        let mut start = text.text.len() - body.len();
        for line in body.split_inclusive('\n') {
            let body = line.split('#').next().unwrap_or_default();
            if !body.trim().is_empty() {
                match fields(body, start) {
                    Ok(section) => sections.push(section),
                    Err(mistake) => {
                        self.problems.push(mistake.at(text));
                        told += 1;
                        if told == REPORTED {
                            break;
                        }
                    }
                }
            }
            start += line.len();
        }
        sections
    }
}

/// Parses a line of a file of changes, whose first byte is at `start`.
fn fields(line: &str, start: usize) -> Result<RouteChangeSection, Mistake> {
    let mut at = start;
    let mut fields = line.split(',').map(|field| {
        let text = field.trim();
        let first = at + (field.len() - field.trim_start().len());
        at += field.len() + 1;
        Spanned::new(first..first + text.len(), text.to_owned())
    });
    let whole = start..start + line.trim_end().len();
    let wrong = |message: &str| Mistake::new(whole.clone(), message, LINE);
    let (Some(at), Some(what), Some(prefix)) = (fields.next(), fields.next(), fields.next()) else {
        return Err(wrong(
            "a change needs a time, `add`, `change` or `remove`, and a prefix",
        ));
    };
    let mut section = RouteChangeSection::at(at);
    let slot = match what.get_ref().as_str() {
        "add" => &mut section.add,
        "change" => &mut section.change,
        "remove" => &mut section.remove,
        other => {
            let message = format!("`{other}` is not `add`, `change` or `remove`");
            return Err(Mistake::new(what.span(), message, LINE));
        }
    };
    *slot = Some(prefix);
    match fields.next() {
        None => {}
        Some(word) if word.get_ref() == "local" => section.local = true,
        Some(word) if word.get_ref() == "discard" => section.discard = true,
        Some(port) => {
            let number = port.get_ref().parse().map_err(|_| {
                let message = format!("`{}` is not the number of a port", port.get_ref());
                Mistake::new(port.span(), message, LINE)
            })?;
            section.port = Some(Spanned::new(port.span(), number));
            let hop = fields.next();
            // An IPv4 address is resolved by ARP.
            let by_address = |hop: &Spanned<String>| hop.get_ref().parse::<Ipv4Addr>().is_ok();
            (section.next_hop, section.mac) = match hop {
                Some(hop) if by_address(&hop) => (Some(hop), None),
                hop => (None, hop),
            };
        }
    }
    if let Some(mtu) = fields.next() {
        let bytes = mtu.get_ref().parse().map_err(|_| {
            let message = format!("`{}` is not a number of bytes up to 65535", mtu.get_ref());
            Mistake::new(mtu.span(), message, LINE)
        })?;
        section.mtu = Some(Spanned::new(mtu.span(), bytes));
    }
    match fields.next() {
        Some(more) => Err(Mistake::new(
            more.span(),
            "a change has no further fields",
            LINE,
        )),
        None => Ok(section),
    }
}

impl Resolver<'_> {
    /// Resolves the change in a section or line.
    pub(super) fn route_change(
        &mut self,
        has_arp: bool,
        section: &RouteChangeSection,
    ) -> Result<RouteChange, Mistake> {
        let time: Result<Time, String> = section.at.get_ref().parse();
        let at = time
            .map_err(|message| Mistake::new(section.at.span(), message, ""))?
            .cycles(self.capacity.hertz);
        let (prefix, change) = match (&section.add, &section.change, &section.remove) {
            (Some(prefix), None, None) => (
                prefix,
                Change::Add(self.changed_route(has_arp, section, prefix)?),
            ),
            (None, Some(prefix), None) => (
                prefix,
                Change::Redirect(self.changed_route(has_arp, section, prefix)?),
            ),
            (None, None, Some(prefix)) => {
                let leads = section.port.is_some()
                    || section.mac.is_some()
                    || section.next_hop.is_some()
                    || section.mtu.is_some();
                if leads || section.local || section.discard {
                    return Err(Mistake::new(
                        prefix.span(),
                        "a route that is removed has no destination",
                        "leave the destination out",
                    ));
                }
                (prefix, Change::Remove(network(prefix)?))
            }
            _ => {
                return Err(Mistake::new(
                    section.at.span(),
                    "a route change is one of `add`, `change` and `remove`",
                    "give one of them, with the prefix of the route",
                ));
            }
        };
        let RoutePrefix {
            prefix: bits,
            length,
        } = change.network();
        let mut own = self.addresses.iter().flatten();
        if length == 32 && own.any(|own| own.address.to_bits() == bits) {
            return Err(Mistake::new(
                prefix.span(),
                format!("{} is an address of a port", prefix.get_ref()),
                "its route is in the table as long as the port has the address",
            ));
        }
        Ok(RouteChange { at, change })
    }

    /// Returns the route of a change.
    fn changed_route(
        &mut self,
        has_arp: bool,
        section: &RouteChangeSection,
        prefix: &Spanned<String>,
    ) -> Result<Route, Mistake> {
        let typed = TypedRoute {
            prefix,
            port: section.port.as_ref(),
            mac: section.mac.as_ref(),
            mtu: section.mtu.as_ref(),
            local: section.local,
            discard: section.discard,
            next_hop: section.next_hop.as_ref(),
        };
        self.typed_route(has_arp, &typed)
    }
}

/// Converts an error in the sequence of changes to a mistake at its place.
fn told(change: &RouteChangeSection, error: &ChangeError, section: &RoutesSection) -> Mistake {
    let prefix = [&change.add, &change.change, &change.remove];
    let prefix = prefix.into_iter().flatten().next();
    let prefix = prefix.map_or(change.at.span(), Spanned::span);
    let (span, help) = match error {
        ChangeError::Route(_) | ChangeError::Closed | ChangeError::TooManyNextHops { .. } => {
            (prefix, "")
        }
        ChangeError::AlreadyExists(_) => (prefix, "use `change` to give it another next hop"),
        ChangeError::NoSuchRoute(_) => (prefix, "use `add` for a new route"),
        ChangeError::OutOfOrder | ChangeError::TooLate { .. } => {
            (change.at.span(), "give changes in the order of their times")
        }
        ChangeError::Full { .. } => {
            let blocks = section.blocks.as_ref().map(Spanned::span);
            let help = "give more `blocks`, or leave the key out to get as many as needed";
            (blocks.unwrap_or(prefix), help)
        }
    };
    Mistake::new(span, error.to_string(), help)
}
