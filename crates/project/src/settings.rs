//! Settings that override a project file: `--set me.processing.id=4-7` changes one key of the file,
//! one parameter of the chip profile, or one define.
//!
//! A path consists of keys separated by dots. An entry of a list (`[[port]]`) is identified by its
//! number from 0, by its name (a route by its prefix, a microengine without a name by its source),
//! or by `*`, which means all of them. Other kinds of files whose keys can be set have a
//! [`Grammar`]. Two first keys are not in a project file: `profile.GROUP.NAME` is a parameter of
//! the chip profile, and `define.NAME` is the same as `-D NAME=VALUE`.

use std::fmt;
use std::net::Ipv4Addr;
use std::path::Path;
use std::str::FromStr;

use npsim_asm::spelling::closest;
use npsim_net::load::Prefix;
use npsim_profile::{Parameter, Profile, ProfileError, Schema};
use serde::Serialize;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

use super::file;
use super::project_text::ProjectText;
use super::registry::Registry;
use super::text::is_name;
use super::toml_errors::{FileKind, KeyError, PROJECT};
use crate::problem::Problem;

/// Lists of a project file whose entries have numbers and names.
const LISTS: &[&str] = &[
    "me",
    "port",
    "ring",
    "queue",
    "memory",
    "counter",
    "lock",
    "route",
    "route_change",
    "stall",
    "goal",
];

/// How their entries are named.
const NAMES: &[EntryName] = &[
    EntryName::Key("name"),
    EntryName::Key("prefix"),
    EntryName::Path("source"),
];

/// A kind of file whose keys can be set.
pub struct Grammar<'a> {
    /// The kind of file.
    pub kind: FileKind<'a>,
    /// Lists whose entries have numbers and names.
    pub lists: &'a [&'a str],
    /// Where entries of a list have their name: the first of these that is present.
    pub names: &'a [EntryName],
    /// Checks that a text is such a file, and returns the error if not.
    pub read: &'a dyn Fn(&str) -> Result<(), KeyError>,
}

/// Where an entry of a list has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryName {
    /// In a key.
    Key(&'static str),
    /// In two keys, joined by a dash.
    Pair(&'static str, &'static str),
    /// In a key that is a list of texts, joined by dashes.
    List(&'static str),
    /// In a key that is a path, without its folders and extension.
    Path(&'static str),
}

impl EntryName {
    fn of(self, entry: &Table) -> Option<String> {
        let text = |key: &str| entry.get(key).and_then(Item::as_str);
        match self {
            Self::Key(key) => text(key).map(str::to_owned),
            Self::Pair(one, other) => Some(format!("{}-{}", text(one)?, text(other)?)),
            Self::List(key) => {
                let texts = entry.get(key)?.as_array()?.iter();
                let texts: Vec<&str> = texts.filter_map(Value::as_str).collect();
                Some(texts.join("-"))
            }
            Self::Path(key) => {
                let stem = Path::new(text(key)?).file_stem()?;
                Some(stem.to_string_lossy().into_owned())
            }
        }
    }
}

impl fmt::Debug for Grammar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grammar")
            .field("noun", &self.kind.noun)
            .field("lists", &self.lists)
            .finish_non_exhaustive()
    }
}

/// `PATH=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Setting {
    keys: Vec<String>,
    value: String,
}

/// How a network changes the routes of a router in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkRoutes {
    /// Replaces the project's routes by these.
    Given(Vec<NetworkRoute>),
    /// Keeps the project's routes, but redirects those through the ports of these next hops to
    /// them.
    Own(Vec<NetworkHop>),
}

/// A route that a network gives to a router in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkRoute {
    /// Destination of the route.
    pub prefix: Prefix,
    /// Next hop on the way.
    pub hop: NetworkHop,
}

/// A next hop in a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkHop {
    /// Output port.
    pub port: u8,
    /// Its MAC address on the link.
    pub mac: [u8; 6],
    /// Its IPv4 address, if the router is to resolve it by ARP.
    pub next_hop: Option<Ipv4Addr>,
}

impl NetworkRoutes {
    /// Returns a line for each route or next hop.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Given(routes) => routes.iter().map(ToString::to_string).collect(),
            Self::Own(hops) => hops.iter().map(ToString::to_string).collect(),
        }
    }
}

impl fmt::Display for NetworkRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.prefix, self.hop)
    }
}

impl fmt::Display for NetworkHop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port {} ", self.port)?;
        match self.next_hop {
            Some(address) => write!(f, "next hop {address}"),
            None => write!(f, "mac {}", show_mac(self.mac)),
        }
    }
}

impl NetworkHop {
    /// Makes a route of the file lead to this next hop.
    fn put_into(&self, route: &mut dyn TableLike) {
        let (key, other, value) = match self.next_hop {
            Some(address) => ("next_hop", "mac", address.to_string()),
            None => ("mac", "next_hop", show_mac(self.mac)),
        };
        route.remove(other);
        route.insert(key, toml_edit::value(value));
    }
}

/// Formats a MAC address as `02:00:00:00:01:00`.
fn show_mac(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

/// A profile parameter changed for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProfileChange {
    /// `group.name`.
    pub parameter: String,
    /// The profile's value.
    pub from: npsim_profile::ParameterValue,
    /// The value in the run.
    pub to: npsim_profile::ParameterValue,
}

/// Effects of settings other than the changed text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// `define.NAME=VALUE`, in the order given.
    pub defines: Vec<(String, String)>,
    /// `profile.GROUP.NAME=VALUE`, in the order given.
    pub profile: Vec<Setting>,
}

impl Setting {
    /// Creates a setting from its path and its value.
    ///
    /// # Errors
    /// Returns an error if the path is empty, has an empty key or an unclosed quote.
    pub fn new(path: &str, value: &str) -> Result<Self, String> {
        Ok(Self {
            keys: keys(path)?,
            value: value.to_owned(),
        })
    }

    /// Returns the path in written form.
    #[must_use]
    pub fn path(&self) -> String {
        let shown = |key: &String| {
            let plain = !key.is_empty() && !key.contains(['.', '=', '"']);
            if plain {
                key.clone()
            } else {
                format!("\"{key}\"")
            }
        };
        self.keys.iter().map(shown).collect::<Vec<_>>().join(".")
    }

    /// Returns the keys of the path.
    #[must_use]
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Returns the value as written.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    fn wrong(&self, message: impl fmt::Display) -> Problem {
        Problem::new(format!("`{self}` cannot be set: {message}"))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.path(), self.value)
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut quoted = false;
        let end = text.char_indices().find_map(|(at, c)| {
            quoted ^= c == '"';
            (c == '=' && !quoted).then_some(at)
        });
        let end = end.ok_or_else(|| {
            format!("`{text}` has no `=`; write for example `port.0.rate=10Gbps`")
        })?;
        Self::new(text[..end].trim(), text[end + 1..].trim())
    }
}

/// Most keys in a path; the file readers' own limit is slightly higher.
const MAX_KEYS: usize = 32;

fn keys(path: &str) -> Result<Vec<String>, String> {
    let mut keys = vec![String::new()];
    let mut quoted = false;
    for c in path.chars() {
        match c {
            '"' => quoted = !quoted,
            '.' if !quoted => keys.push(String::new()),
            _ => {
                if let Some(key) = keys.last_mut() {
                    key.push(c);
                }
            }
        }
    }
    if quoted {
        return Err(format!("the quote in `{path}` is not closed"));
    }
    if keys.len() > MAX_KEYS {
        let (first, deep) = (&keys[0], keys.len());
        return Err(format!(
            "a path has at most {MAX_KEYS} keys, and the one that begins with `{first}` has {deep}"
        ));
    }
    if keys.iter().any(String::is_empty) {
        return Err(format!(
            "`{path}` is not a path: write keys with dots between them, such as `port.0.rate`"
        ));
    }
    Ok(keys)
}

/// Applies settings to the text of a project file, in the order given, and the routes that a
/// network imposes; returns separately what does not belong to the file.
///
/// # Errors
/// Returns an error if a path leads nowhere, or a value does not fit its key. A text that was
/// invalid before is returned unchanged, for the reader of projects to report.
pub fn apply(
    text: &ProjectText,
    settings: &[Setting],
    routes: Option<&NetworkRoutes>,
    registry: &Registry,
) -> Result<(ProjectText, Applied), Problem> {
    let mut applied = Applied::default();
    let grammar = Grammar {
        kind: PROJECT,
        lists: LISTS,
        names: NAMES,
        read: &|text| file::parse(text, registry).map(drop),
    };
    let mut of_file = Vec::new();
    for setting in settings {
        match setting.keys.as_slice() {
            [first, _, _] if first == "profile" => applied.profile.push(setting.clone()),
            [first, ..] if first == "profile" => {
                return Err(setting
                    .wrong("a parameter of the profile has a group and a name")
                    .help(
                        "write for example `profile.sram.read=120`; `npsim chip NAME` lists them",
                    ));
            }
            [first, name] if first == "define" && is_name(name) => {
                applied.defines.push((name.clone(), setting.value.clone()));
            }
            [first, ..] if first == "define" => {
                return Err(setting
                    .wrong("a define is one name that sources can use")
                    .help("write for example `define.ACCEPT_ANY_MAC=1`"));
            }
            _ => of_file.push(setting.clone()),
        }
    }
    let routed = routes.and_then(|routes| with_routes(&text.text, routes));
    let before = routed.as_deref().unwrap_or(&text.text);
    let changed = apply_to_text(before, &of_file, &grammar)?;
    let Some(changed) = changed.or(routed) else {
        return Ok((text.clone(), applied));
    };
    let text = ProjectText {
        path: name_with_settings(&text.path),
        text: changed.into(),
        ..text.clone()
    };
    Ok((text, applied))
}

/// Returns the text with the routes that a network imposes; `None` if it was invalid before.
fn with_routes(text: &str, routes: &NetworkRoutes) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    match routes {
        NetworkRoutes::Given(routes) => {
            let mut list = ArrayOfTables::new();
            for NetworkRoute { prefix, hop } in routes {
                let mut table = Table::new();
                table.insert("prefix", toml_edit::value(prefix.to_string()));
                table.insert("port", toml_edit::value(i64::from(hop.port)));
                hop.put_into(&mut table);
                list.push(table);
            }
            document.insert("route", Item::ArrayOfTables(list));
        }
        NetworkRoutes::Own(hops) => {
            let list = document.get_mut("route").into_iter();
            for route in list.flat_map(tables) {
                let port = route.get("port").and_then(Item::as_integer);
                let hop = hops.iter().find(|hop| Some(i64::from(hop.port)) == port);
                // Routes to the router itself, or that discard packets, have no next hop.
                let leads = route.contains_key("mac") || route.contains_key("next_hop");
                if let Some(hop) = hop.filter(|_| leads) {
                    hop.put_into(route);
                }
            }
        }
    }
    Some(document.to_string())
}

/// Returns the tables of a list in either notation.
fn tables(list: &mut Item) -> Vec<&mut dyn TableLike> {
    match list {
        Item::ArrayOfTables(list) => list.iter_mut().map(|it| it as _).collect(),
        Item::Value(Value::Array(list)) => { list.iter_mut() }
            .filter_map(|it| Some(it.as_inline_table_mut()? as _))
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the name of a file in messages once settings have changed its text.
#[must_use]
pub fn name_with_settings(path: &str) -> String {
    format!("{path} with settings")
}

/// Applies settings to the text of a file, in the order given; `None` if there are none, or if the
/// text was invalid before, which its reader reports.
///
/// # Errors
/// Returns an error if a path leads nowhere, or a value does not fit its key.
pub fn apply_to_text(
    text: &str,
    settings: &[Setting],
    grammar: &Grammar<'_>,
) -> Result<Option<String>, Problem> {
    if settings.is_empty() {
        return Ok(None);
    }
    let (Ok(mut document), Ok(())) = (text.parse::<DocumentMut>(), (grammar.read)(text)) else {
        return Ok(None);
    };
    for setting in settings {
        let root: &mut dyn TableLike = document.as_table_mut();
        set_in(root, &setting.keys, setting, grammar)?;
        (grammar.read)(&document.to_string()).map_err(|error| refused(setting, &error, grammar))?;
    }
    Ok(Some(document.to_string()))
}

/// Applies the `profile.GROUP.NAME` settings to a profile; returns it with the changes.
///
/// # Errors
/// Returns an error if there is no such parameter, or its value is out of range or an unknown
/// policy.
pub(crate) fn apply_to_profile(
    profile: Profile,
    settings: &[Setting],
) -> Result<(Profile, Vec<ProfileChange>), Problem> {
    let mut profile = profile;
    let mut changes = Vec::new();
    for setting in settings {
        let [_, group, name] = setting.keys.as_slice() else {
            continue;
        };
        let parameter = format!("{group}.{name}");
        let known = |p: &Parameter| format!("{}.{}", p.group, p.name);
        let found = { profile.parameters() }
            .find(|p| known(p) == parameter)
            .and_then(|p| Some((p.value, Schema::of(p)?)));
        let Some((from, schema)) = found else {
            let names: Vec<_> = profile.parameters().map(known).collect();
            let problem = setting.wrong(format!(
                "the profile {} has no parameter `{parameter}`",
                profile.name()
            ));
            let near = closest(&parameter, names.iter().map(String::as_str));
            return Err(match near {
                Some(near) => problem.help(format!("did you mean `profile.{near}`?")),
                None => problem.help(format!(
                    "`npsim chip {}` lists the parameters",
                    profile.name()
                )),
            });
        };
        let refused = |error| match error {
            ProfileError::InvalidValue { reason, .. } => setting.wrong(reason),
            other => setting.wrong(&other).help_with_names(&other),
        };
        let to = schema.parse(&setting.value).map_err(refused)?;
        profile = profile.with(group, name, to).map_err(refused)?;
        if from != to {
            changes.push(ProfileChange {
                parameter,
                from,
                to,
            });
        }
    }
    Ok((profile, changes))
}

/// Follows the path from a table and sets the value at its end.
fn set_in(
    table: &mut dyn TableLike,
    keys: &[String],
    setting: &Setting,
    grammar: &Grammar<'_>,
) -> Result<(), Problem> {
    let Some((key, rest)) = keys.split_first() else {
        return Ok(());
    };
    if rest.is_empty() {
        if table.get(key).is_some_and(Item::is_array_of_tables) {
            return Err(setting
                .wrong(format!("`{key}` is a list of tables"))
                .help(format!(
                    "write `{key}.NAME.KEY=VALUE`, or `{key}.*.KEY=VALUE` for all of them"
                )));
        }
        let value = typed(table.get(key), &setting.value);
        table.insert(key, Item::Value(value));
        return Ok(());
    }
    let top = std::ptr::eq(keys.as_ptr(), setting.keys.as_ptr());
    if top && grammar.lists.contains(&key.as_str()) && table.get(key).is_none() {
        return Err(setting.wrong(format!("the {} has no [[{key}]]", grammar.kind.noun)));
    }
    let item = table
        .entry(key)
        .or_insert_with(|| Item::Table(Table::new()));
    match item {
        Item::ArrayOfTables(list) => {
            for entry in entries(list, key, &rest[0], setting, grammar)? {
                let Some((_, rest)) = rest.split_first() else {
                    continue;
                };
                let Some(entry) = list.get_mut(entry) else {
                    continue;
                };
                if rest.is_empty() {
                    return Err(setting
                        .wrong("the path ends at a whole table")
                        .help(format!(
                            "say which of its keys, such as `{}.KEY`",
                            setting.path()
                        )));
                }
                set_in(entry, rest, setting, grammar)?;
            }
            Ok(())
        }
        Item::Value(Value::Array(values)) => {
            let [number] = rest else {
                return Err(setting.wrong(format!("`{key}` is a list of values")));
            };
            let count = values.len();
            let places: Vec<usize> = match number.parse() {
                _ if number == "*" => (0..count).collect(),
                Ok(place) if place < count => vec![place],
                _ => {
                    return Err(setting.wrong(format!(
                        "`{key}` is a list of {count} values, numbered from 0"
                    )));
                }
            };
            for place in places {
                let old = values.get(place).cloned().map(Item::Value);
                values.replace(place, typed(old.as_ref(), &setting.value));
            }
            Ok(())
        }
        _ => match item.as_table_like_mut() {
            Some(inner) => set_in(inner, rest, setting, grammar),
            None => Err(setting.wrong(format!("`{key}` is a single value and has no keys"))),
        },
    }
}

/// Returns the indices of the list entries that a key selects.
fn entries(
    list: &ArrayOfTables,
    name: &str,
    key: &str,
    setting: &Setting,
    grammar: &Grammar<'_>,
) -> Result<Vec<usize>, Problem> {
    if key == "*" {
        return Ok((0..list.len()).collect());
    }
    let called = |entry| { grammar.names.iter() }.find_map(|name| name.of(entry));
    let names: Vec<String> = { list.iter() }
        .map(|entry| called(entry).unwrap_or_default())
        .collect();
    let named: Vec<usize> = (0..names.len()).filter(|&at| names[at] == key).collect();
    match (named.as_slice(), key.parse::<usize>()) {
        ([_], _) => return Ok(named),
        ([], Ok(place)) if place < list.len() => return Ok(vec![place]),
        ([], _) => {}
        (several, _) => {
            return Err(setting
                .wrong(format!(
                    "{} of the [[{name}]] are called `{key}`",
                    several.len()
                ))
                .help(format!("give the number: `{name}.{}`", several[0])));
        }
    }
    let problem = setting.wrong(format!("no [[{name}]] is called `{key}`"));
    let known: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            if name.is_empty() {
                at.to_string()
            } else {
                format!("{at} or `{name}`")
            }
        })
        .collect();
    let problem = problem.note(format!("choose one of {}", known.join(", ")));
    let near = closest(
        key,
        names.iter().map(String::as_str).filter(|n| !n.is_empty()),
    );
    Err(match near {
        Some(near) => problem.help(format!("did you mean `{name}.{near}`?")),
        None => problem,
    })
}

/// Converts the value to TOML: to a string if the old value was one, otherwise to whatever it
/// parses as, or to a string if it does not parse.
fn typed(old: Option<&Item>, value: &str) -> Value {
    let as_toml = value.parse::<Value>().ok();
    match (old.and_then(Item::as_str), as_toml) {
        (_, Some(Value::String(text))) => Value::String(text),
        (None, Some(parsed)) => parsed,
        _ => Value::from(value),
    }
}

/// Explains why a text with a setting is no longer valid. Only the setting can be the cause.
fn refused(setting: &Setting, error: &KeyError, grammar: &Grammar<'_>) -> Problem {
    let Some((unknown, known)) = error.unknown_key() else {
        return setting.wrong(error.explain(grammar.kind).message);
    };
    let at = setting
        .keys
        .iter()
        .position(|key| key == unknown)
        .unwrap_or(0);
    let place = match &setting.keys[..at] {
        [] => format!("a {} file", grammar.kind.noun),
        before => format!("`{}`", before.join(".")),
    };
    let problem = setting.wrong(format!("there is no `{unknown}` in {place}"));
    let problem = problem.note(format!("choose one of {}", known.join(", ")));
    problem.suggest(unknown, known.iter().copied())
}

#[cfg(test)]
mod tests;
