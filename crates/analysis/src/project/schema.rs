//! The schema of project files, queried by key path.

use std::sync::LazyLock;

use npsim_project::schema;
use serde_json::Value;

/// The schema of projects that the server can read.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| schema::schema(&npsim_protocols::registry()));

/// A node of the schema: the possible forms of a value.
#[derive(Clone, Copy, Debug)]
pub struct Node(&'static Value);

/// The node of the whole file.
#[must_use]
pub fn root() -> Node {
    Node(&SCHEMA)
}

impl Node {
    /// The node, what it refers to, and its alternatives. The entries of a list have the path of
    /// the list.
    fn subschemas(self) -> Vec<&'static Value> {
        let mut subschemas = self.own_subschemas();
        let mut at = 0;
        while at < subschemas.len() {
            if let Some(entry) = subschemas[at].get("items") {
                subschemas.extend(Self(entry).own_subschemas());
            }
            at += 1;
        }
        subschemas
    }

    /// Like [`Self::subschemas`], without the entries of lists.
    fn own_subschemas(self) -> Vec<&'static Value> {
        let mut subschemas = vec![self.0];
        let mut at = 0;
        while at < subschemas.len() {
            let way = subschemas[at];
            at += 1;
            if let Some(name) = way.get("$ref").and_then(Value::as_str) {
                subschemas.extend(SCHEMA.pointer(name.trim_start_matches('#')));
            }
            for key in ["anyOf", "oneOf", "allOf"] {
                subschemas.extend(way.get(key).and_then(Value::as_array).into_iter().flatten());
            }
        }
        subschemas
    }

    /// The keys below it.
    #[must_use]
    pub fn keys(self) -> Vec<(&'static str, Self)> {
        let subschemas = self.subschemas().into_iter();
        let objects = subschemas.filter_map(|it| it.get("properties")?.as_object());
        objects
            .flatten()
            .map(|(key, node)| (key.as_str(), Self(node)))
            .collect()
    }

    /// The node of a key below it.
    #[must_use]
    pub fn key(self, name: &str) -> Option<Self> {
        let own = self.keys().into_iter().find(|(key, _)| *key == name);
        own.map(|(_, node)| node).or_else(|| {
            let mut subschemas = self.subschemas().into_iter();
            // Keys that are arbitrary names: of defines and import variables.
            let any = subschemas
                .find_map(|it| it.get("additionalProperties").filter(|it| it.is_object()));
            any.map(Self)
        })
    }

    /// The node at a path.
    #[must_use]
    pub fn at(self, path: &[String]) -> Option<Self> {
        path.iter().try_fold(self, |node, key| node.key(key))
    }

    /// The key's meaning, from the comment in its source.
    #[must_use]
    pub fn text(self) -> Option<&'static str> {
        let mut subschemas = self.subschemas().into_iter();
        subschemas.find_map(|it| it.get("description")?.as_str())
    }

    /// Whether it can be a section of a single table, and of an array of tables.
    #[must_use]
    pub fn section(self) -> (bool, bool) {
        let is_table =
            |subschemas: &[&Value]| subschemas.iter().any(|it| it.get("properties").is_some());
        let one = self.own_subschemas();
        let mut entries = one.iter().filter_map(|it| it.get("items"));
        let several = entries.any(|entry| is_table(&Self(entry).own_subschemas()));
        (is_table(&one), several)
    }

    /// The kind of thing that a text in it names (`x-names`).
    #[must_use]
    pub fn names(self) -> Option<&'static str> {
        let mut subschemas = self.subschemas().into_iter();
        subschemas.find_map(|it| it.get(schema::NAMES_KEY)?.as_str())
    }

    /// The possible values, if they are listed, each with its meaning.
    #[must_use]
    pub fn values(self) -> Vec<(String, &'static str)> {
        let mut values = Vec::new();
        for way in self.subschemas() {
            let text = way.get("description").and_then(Value::as_str);
            let text = text.unwrap_or_default();
            let listed = way.get("enum").and_then(Value::as_array);
            for value in listed.into_iter().flatten().chain(way.get("const")) {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                // The description of an enumeration is that of the key.
                let own = if way.get("const").is_some() { text } else { "" };
                values.push((value, own));
            }
            if way["type"] == "boolean" {
                values.extend(["true", "false"].map(|it| (it.to_owned(), "")));
            }
        }
        values
    }

    /// Whether its values are written in quotes.
    #[must_use]
    pub fn is_text(self) -> bool {
        let is = |it: &Value| {
            it == "string"
                || it
                    .as_array()
                    .is_some_and(|it| it.contains(&"string".into()))
        };
        self.subschemas()
            .into_iter()
            .any(|it| is(&it["type"]) || it.get("enum").is_some() || it.get("const").is_some())
    }

    /// A description of the values that it takes.
    #[must_use]
    pub fn kind(self) -> String {
        let mut kinds: Vec<String> = Vec::new();
        for way in self.subschemas() {
            let types = way.get("type");
            let one = types.and_then(Value::as_str).into_iter();
            let several = types.and_then(Value::as_array).into_iter().flatten();
            for kind in one.chain(several.filter_map(Value::as_str)) {
                let limit = |key: &str| way.get(key).and_then(Value::as_u64);
                let kind = match (kind, limit("minimum"), limit("maximum")) {
                    ("integer", Some(least), Some(most)) => {
                        format!("a number from {least} to {most}")
                    }
                    ("integer", Some(least), None) => format!("a number from {least}"),
                    ("integer", ..) => "a whole number".to_owned(),
                    ("number", ..) => "a number".to_owned(),
                    ("string", ..) => "a text".to_owned(),
                    ("boolean", ..) => "true or false".to_owned(),
                    ("array", ..) => "a list".to_owned(),
                    _ => "a table".to_owned(),
                };
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
        }
        kinds.join(", ")
    }
}
