//! Changes of the routes while packets flow: the list in the project file, or in a file of
//! its own with a change a line.

use std::path::Path;

use npsim_chip::gpp::boot::RouteChangesSetup;
use npsim_chip::gpp::routes::{
    BLOCK_ENTRIES, Change, ChangeError, NEXT_HOP_LONGWORDS, Needs, ROOT_ENTRIES, Route,
    RouteChange, needs,
};

use super::routing::{Mistake, TypedRoute, network};
use super::{ProjectText, Resolver};
use crate::file::{ProjectFile, RouteChangeSection, RoutesSection};
use crate::files::join;
use crate::keys::Spanned;
use crate::problem::Problem;
use crate::quantity::Time;

/// Mistakes of a file of changes that are told; what made them is then clear.
const TOLD: usize = 10;
/// What a line of the file is.
const LINE: &str = "write `TIME,add,PREFIX,PORT,MAC` or `change` in place of `add`, perhaps with `,MTU` behind it; `local` or `discard` in place of port and MAC; or `TIME,remove,PREFIX`";

/// U+FEFF, which says that a text is in UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// There are mistakes, which have been told.
pub(super) struct Refused;

/// Changes with the room that they need.
pub(super) struct PlannedChanges {
    pub setup: RouteChangesSetup,
    next_hops: usize,
}

impl PlannedChanges {
    /// Longwords of the trie.
    pub fn entries(&self) -> usize {
        ROOT_ENTRIES + self.setup.blocks as usize * BLOCK_ENTRIES
    }

    /// Longwords of the table of next hops, of which index 0 is not used.
    pub fn next_hop_longwords(&self) -> usize {
        (self.next_hops + 1) * NEXT_HOP_LONGWORDS
    }
}

impl Resolver<'_> {
    /// The changes of a project with such routes, if it has any.
    pub(super) fn route_changes(
        &mut self,
        file: &ProjectFile,
        routes: &[Route],
    ) -> Result<Option<PlannedChanges>, Refused> {
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
        let text = text.as_ref().unwrap_or(self.text);
        let hertz = self.capacity.hertz;
        let mut list = Vec::with_capacity(sections.len());
        for section in sections {
            match route_change(section, &self.macs, hertz) {
                Ok(change) => list.push(change),
                Err(mistake) if self.problems.len() - before < TOLD => {
                    self.problems.push(mistake.at(text));
                }
                Err(_) => break,
            }
        }
        if self.problems.len() > before {
            return Err(Refused);
        }
        if list.is_empty() {
            let keys = [section.blocks.as_ref().map(Spanned::span)];
            let keys = keys
                .into_iter()
                .chain([section.grace.as_ref().map(Spanned::span)]);
            if let Some(span) = keys.flatten().next() {
                let message = "there are no route changes that this could be for";
                self.fail(span, message, "", "add [[route_change]], or remove the key");
                return Err(Refused);
            }
            return Ok(None);
        }
        let room = section.blocks.as_ref().map(|it| *it.get_ref());
        let found = needs(routes, &list, room.map_or(usize::MAX, |room| room as usize));
        let found = match found {
            Ok(found) => found,
            Err((place, error)) => {
                let problem = told(&sections[place], &error, section).at(match error {
                    ChangeError::Full { .. } => self.text,
                    _ => text,
                });
                self.problems.push(problem);
                return Err(Refused);
            }
        };
        let Needs {
            first_blocks,
            most_blocks,
            all_blocks,
            next_hops,
        } = found;
        if let Some(typed) = &section.blocks
            && (*typed.get_ref() as usize) < first_blocks
        {
            let message = format!("the routes alone need {first_blocks} blocks");
            self.fail(
                typed.span(),
                message,
                "",
                "leave `blocks` out for what is needed",
            );
            return Err(Refused);
        }
        // Half of it may be in its grace time.
        let fitted = all_blocks.min(2 * most_blocks) as u32;
        let grace = self.time(section.grace.as_ref(), "100us");
        Ok(Some(PlannedChanges {
            setup: RouteChangesSetup {
                routes: routes.to_vec(),
                changes: list,
                blocks: room.unwrap_or(fitted),
                grace,
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
        self.read.push(path.clone());
        Some(ProjectText {
            path: path.display().to_string(),
            folder: self.text.folder.clone(),
            text: text.into(),
            files: Vec::new(),
            origins: None,
        })
    }

    /// The lines of a file of changes.
    fn lines(&mut self, text: &ProjectText) -> Vec<RouteChangeSection> {
        let (mut sections, mut told) = (Vec::new(), 0);
        // Some editors put a mark before a text in UTF-8.
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
                        if told == TOLD {
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

/// A line of a file of changes, whose first byte is at `start`.
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
        return Err(wrong("a change has a time, what it is, and a prefix"));
    };
    let mut section = RouteChangeSection {
        at,
        add: None,
        change: None,
        remove: None,
        port: None,
        mac: None,
        mtu: None,
        local: false,
        discard: false,
    };
    let slot = match what.get_ref().as_str() {
        "add" => &mut section.add,
        "change" => &mut section.change,
        "remove" => &mut section.remove,
        other => {
            let message = format!("`{other}` is none of `add`, `change` and `remove`");
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
            section.mac = fields.next();
        }
    }
    if let Some(mtu) = fields.next() {
        section.mtu = Some(mtu.get_ref().parse().map_err(|_| {
            let message = format!("`{}` is not a number of bytes up to 65535", mtu.get_ref());
            Mistake::new(mtu.span(), message, LINE)
        })?);
    }
    match fields.next() {
        Some(more) => Err(Mistake::new(
            more.span(),
            "there is more than a change has",
            LINE,
        )),
        None => Ok(section),
    }
}

/// What a section or a line says.
fn route_change(
    section: &RouteChangeSection,
    macs: &[[u8; 6]],
    hertz: u64,
) -> Result<RouteChange, Mistake> {
    let time: Result<Time, String> = section.at.get_ref().parse();
    let at = time
        .map_err(|message| Mistake::new(section.at.span(), message, ""))?
        .cycles(hertz);
    let route = |prefix: &Spanned<String>| {
        let typed = TypedRoute {
            prefix,
            port: section.port.as_ref(),
            mac: section.mac.as_ref(),
            mtu: section.mtu,
            local: section.local,
            discard: section.discard,
            no_next_hop: "add `mac`, the next hop's address; next hops that the task `arp` finds are those of [[route]] alone",
        };
        typed.route(macs)
    };
    let change = match (&section.add, &section.change, &section.remove) {
        (Some(prefix), None, None) => Change::Add(route(prefix)?),
        (None, Some(prefix), None) => Change::Redirect(route(prefix)?),
        (None, None, Some(prefix)) => {
            let leads = section.port.is_some() || section.mac.is_some() || section.mtu.is_some();
            if leads || section.local || section.discard {
                return Err(Mistake::new(
                    prefix.span(),
                    "a route that is removed leads nowhere",
                    "leave out where it leads to",
                ));
            }
            Change::Remove(network(prefix)?)
        }
        _ => {
            return Err(Mistake::new(
                section.at.span(),
                "a route change is one of `add`, `change` and `remove`",
                "give one of them, with the prefix of the route",
            ));
        }
    };
    Ok(RouteChange { at, change })
}

/// What is wrong with a change among the others, at its place.
fn told(change: &RouteChangeSection, error: &ChangeError, section: &RoutesSection) -> Mistake {
    let prefix = [&change.add, &change.change, &change.remove];
    let prefix = prefix.into_iter().flatten().next();
    let prefix = prefix.map_or(change.at.span(), Spanned::span);
    let (span, help) = match error {
        ChangeError::Route(_) => (prefix, ""),
        ChangeError::There(_) => (prefix, "use `change` to give it another next hop"),
        ChangeError::NotThere(_) => (prefix, "use `add` for a route that is new"),
        ChangeError::Early => (change.at.span(), "give changes in the order of their times"),
        ChangeError::Full { .. } => {
            let blocks = section.blocks.as_ref().map(Spanned::span);
            let help = "give more `blocks`, or leave the key out for what is needed";
            (blocks.unwrap_or(prefix), help)
        }
    };
    Mistake::new(span, error.to_string(), help)
}
