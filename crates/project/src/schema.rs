//! The JSON schema of project files, for editors: generated from the types that read them, so that
//! it has the same keys, with their doc comments.
//!
//! The schema is less strict than the loader: a file that extends another may omit any key, so none
//! is required, and the contents of a text are described only by the kind of name that it is
//! (`x-names`).

use npsim_profile::{Board, Profile};
use schemars::generate::SchemaSettings;
use schemars::{SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::file::ProjectFile;
use crate::registry::Registry;
use crate::resolve::known_tasks;

/// Schema key that tells what a text names: `chips`, `boards`, `sources`, `folders`, `projects`,
/// `tasks` and `spaces`, or the list of the project whose entries have that name, such as `ring`.
pub const NAMES_KEY: &str = "x-names";

/// Returns the schema of project files that may have sections of the registered kinds.
#[must_use]
pub fn schema(registry: &Registry) -> Value {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft07());
    let tasks = registry.task_schemas(&mut generator);
    let devices = registry.device_schemas(&mut generator);
    let mut root = generator.into_root_schema_for::<ProjectFile>().to_value();
    root["title"] = json!("npsim project");
    root["description"] =
        json!("The microcode that runs on a chip, and the initial contents of its memories");
    let extends = json!({
        "description": "Projects to inherit from: a project file, its folder, or a list of them.",
        "type": ["string", "array"],
        "items": { "type": "string" },
        NAMES_KEY: "projects"
    });
    add(&mut root["properties"], crate::extends::KEY, extends);
    for (name, section) in devices {
        let several = json_schema!({ "type": "array", "items": section });
        let either = json!({ "anyOf": [section, several] });
        add(&mut root["properties"], name, either);
    }
    for (name, section) in tasks {
        let gpp = &mut root["definitions"]["GppSection"]["properties"];
        add(gpp, name, section.to_value());
    }
    let task = json!({ "enum": known_tasks(registry) });
    root["definitions"]["GppSection"]["properties"]["tasks"]["items"] = task;
    for (key, names) in [
        ("profile", Profile::names().collect::<Vec<_>>()),
        ("board", Board::names().collect()),
    ] {
        // A built-in name, or the path of any other file.
        let either = json!([{ "enum": names }, { "type": "string" }]);
        let key = &mut root["definitions"]["ChipSection"]["properties"][key];
        key["anyOf"] = either;
        if let Some(key) = key.as_object_mut() {
            key.remove("type");
        }
    }
    relax(&mut root);
    root
}

fn add(properties: &mut Value, key: &str, schema: Value) {
    if let Some(properties) = properties.as_object_mut() {
        properties.insert(key.to_owned(), schema);
    }
}

/// Removes requirements that hold only for a merged file, and formats that are not part of JSON
/// schema.
fn relax(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.remove("required");
            object.remove("format");
            // The lines of a doc comment form one text.
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            // `null` would stand for an omitted key, and TOML has none.
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|it| it != "null");
                if let [one] = types.as_slice() {
                    let one = one.clone();
                    object.insert("type".to_owned(), one);
                }
            }
            without_null(object);
            object.values_mut().for_each(relax);
        }
        Value::Array(values) => values.iter_mut().for_each(relax),
        _ => {}
    }
}

fn without_null(object: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = object.get_mut("anyOf") else {
        return;
    };
    choices.retain(|it| it.get("type").and_then(Value::as_str) != Some("null"));
    if let [Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        object.remove("anyOf");
        // Other keys beside a reference are ignored.
        if only.contains_key("$ref") && object.contains_key("description") {
            object.insert("allOf".to_owned(), json!([only]));
        } else {
            object.extend(only);
        }
    }
}
