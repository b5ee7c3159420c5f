//! JSON Schemas of what commands print with `--format json`, generated from the tables of the page
//! `docs/src/json.md`, which is the only place where the output is described.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::docs::markdown::tables;

/// The page of the book that describes the output of commands.
const PAGE: &str = "json";
/// The JSON Schema dialect.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The output of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The command line, with `NAME` as a placeholder: `npsim chip NAME`.
    pub command: String,
    /// The properties, in page order.
    pub properties: Vec<Property>,
}

/// One property of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The path, with `[]` for the entries of a list, and `*` for properties described elsewhere.
    pub path: String,
    /// The possible types: `string`, `integer`, `null`, `absent` and others.
    pub types: Vec<String>,
    /// The description.
    pub what: String,
}

/// All outputs that the page describes: it has a section for each command, with one table.
#[must_use]
pub fn described() -> Vec<Described> {
    let page = npsim_book::page(PAGE).unwrap_or_default();
    let tables = tables(page).into_iter().map(|table| Described {
        command: table.heading.trim_matches('`').to_owned(),
        properties: { table.rows.iter().skip(1) }
            .filter_map(|row| property(row))
            .collect(),
    });
    tables.collect()
}

/// Parses a row of a table.
fn property(row: &[String]) -> Option<Property> {
    let [path, types, what] = row else {
        return None;
    };
    Some(Property {
        path: path.strip_prefix('`')?.strip_suffix('`')?.to_owned(),
        types: types.split(" or ").map(str::to_owned).collect(),
        what: what.clone(),
    })
}

impl Described {
    /// The path of the schema file, below `docs/schemas`.
    #[must_use]
    pub fn file(&self) -> String {
        let words = self.command.to_lowercase().replace("--", "");
        format!("docs/schemas/{}.json", words.replace(' ', "-"))
    }

    /// The JSON Schema.
    #[must_use]
    pub fn schema(&self) -> Value {
        let mut root = SchemaNode::default();
        for property in &self.properties {
            root.add(&property.path, property);
        }
        let mut schema = root.schema();
        if let Value::Object(fields) = &mut schema {
            fields.insert("$schema".to_owned(), DIALECT.into());
            fields.insert(
                "title".to_owned(),
                json!(format!("{} --format json", self.command)),
            );
        }
        schema
    }
}

/// The paths and contents of the files below `docs/schemas`.
#[must_use]
pub fn files() -> Vec<(String, String)> {
    let files = described().into_iter().map(|it| {
        let text = format!("{:#}\n", it.schema());
        (it.file(), text)
    });
    files.collect()
}

/// A node of the output's structure.
#[derive(Default)]
struct SchemaNode<'a> {
    own: Option<&'a Property>,
    /// The entries, if the node is a list.
    entries: Option<Box<SchemaNode<'a>>>,
    /// The properties, if the node is an object.
    properties: BTreeMap<&'a str, SchemaNode<'a>>,
}

impl<'a> SchemaNode<'a> {
    fn add(&mut self, path: &'a str, property: &'a Property) {
        if path.is_empty() {
            self.own = Some(property);
        } else if let Some(rest) = path.strip_prefix("[]") {
            let rest = rest.strip_prefix('.').unwrap_or(rest);
            self.entries.get_or_insert_default().add(rest, property);
        } else if path != "*" {
            let end = path.find(['.', '[']).unwrap_or(path.len());
            let (name, rest) = path.split_at(end);
            let rest = rest.strip_prefix('.').unwrap_or(rest);
            self.properties.entry(name).or_default().add(rest, property);
        }
    }

    /// Whether the property is always present.
    fn is_required(&self) -> bool {
        if let Some(own) = self.own {
            return !own.types.iter().any(|it| it == "absent");
        }
        let below = self.entries.iter().map(|it| &**it);
        below.chain(self.properties.values()).any(Self::is_required)
    }

    fn schema(&self) -> Value {
        let mut fields = Map::new();
        if let Some(own) = self.own {
            let types = own.types.iter().map(String::as_str);
            let types = types.filter(|it| !["absent", "any"].contains(it));
            let types: Vec<_> = types
                .map(|it| if it == "list" { "array" } else { it })
                .collect();
            match types[..] {
                [] => {}
                [one] => drop(fields.insert("type".to_owned(), one.into())),
                _ => drop(fields.insert("type".to_owned(), json!(types))),
            }
            fields.insert("description".to_owned(), json!(own.what));
        } else if let Some(entries) = &self.entries {
            fields.insert("type".to_owned(), "array".into());
            fields.insert("items".to_owned(), entries.schema());
        } else {
            fields.insert("type".to_owned(), "object".into());
            let required = self.properties.iter().filter(|(_, it)| it.is_required());
            let required: Vec<_> = required.map(|(name, _)| *name).collect();
            fields.insert("required".to_owned(), json!(required));
            let properties = self.properties.iter();
            let properties = properties.map(|(name, it)| ((*name).to_owned(), it.schema()));
            fields.insert("properties".to_owned(), Value::Object(properties.collect()));
        }
        Value::Object(fields)
    }
}
