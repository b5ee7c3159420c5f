//! The published schema of project files accepts the shipped projects and rejects wrong ones.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::harness::root;

/// The ways in which a value violates a schema; empty if it conforms. Only the JSON Schema keywords
/// that the published schema uses are supported.
fn faults(schema: &Value, whole: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    if schema == &json!(true) {
        return found;
    }
    if schema == &json!(false) {
        return vec![format!("{at}: not allowed")];
    }
    for (word, says) in schema.as_object().expect("a schema") {
        let list = || says.as_array().expect("a list").iter();
        let way = |it: &Value| faults(it, whole, value, at);
        match word.as_str() {
            "$ref" => {
                let name = says.as_str().expect("a name").trim_start_matches('#');
                found.extend(way(whole.pointer(name).expect("a definition")));
            }
            "type" => {
                let is = |kind: &Value| match kind.as_str().expect("a type") {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    "boolean" => value.is_boolean(),
                    other => panic!("no type {other}"),
                };
                let fits = match says {
                    Value::Array(kinds) => kinds.iter().any(is),
                    kind => is(kind),
                };
                found.extend((!fits).then(|| format!("{at}: is no {says}")));
            }
            "enum" if !list().any(|it| it == value) => {
                found.push(format!("{at}: not among {says}"));
            }
            "const" if says != value => found.push(format!("{at}: not {says}")),
            "anyOf" if list().all(|it| !way(it).is_empty()) => {
                found.push(format!("{at}: none of the ways"));
            }
            "oneOf" if list().filter(|it| way(it).is_empty()).count() != 1 => {
                found.push(format!("{at}: not one of the ways"));
            }
            "allOf" => found.extend(list().flat_map(way)),
            "minimum" if value.as_f64() < says.as_f64() && value.is_number() => {
                found.push(format!("{at}: below {says}"));
            }
            "maximum" if value.as_f64() > says.as_f64() => {
                found.push(format!("{at}: above {says}"));
            }
            "pattern" => {
                // The schema has one.
                assert_eq!(says, "^(scratch|sram[0-9]+|dram)$");
                let text = value.as_str().unwrap_or_default();
                let channel = text.strip_prefix("sram").unwrap_or_default();
                let number = !channel.is_empty() && channel.bytes().all(|it| it.is_ascii_digit());
                let fits = number || ["scratch", "dram"].contains(&text);
                found.extend((!fits).then(|| format!("{at}: no memory")));
            }
            "items" => {
                for (place, entry) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(faults(says, whole, entry, &format!("{at}[{place}]")));
                }
            }
            "properties" => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    if let Some(of_key) = says.get(key) {
                        found.extend(faults(of_key, whole, value, &format!("{at}.{key}")));
                    }
                }
            }
            "additionalProperties" => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    if schema["properties"].get(key).is_none() {
                        found.extend(faults(says, whole, value, &format!("{at}.{key}")));
                    }
                }
            }
            // Keywords handled above, and keywords that do not constrain the value.
            "enum" | "const" | "anyOf" | "oneOf" | "minimum" | "maximum" | "$schema" | "title"
            | "description" | "default" | "definitions" | "x-names" => {}
            other => panic!("the schema has the word `{other}`, which this test does not know"),
        }
    }
    found
}

fn schema() -> Value {
    let file = root().join("editors/npsim-project.schema.json");
    let text = std::fs::read_to_string(file).expect("the schema");
    serde_json::from_str(&text).expect("JSON")
}

fn faults_of(schema: &Value, text: &str) -> Vec<String> {
    let table: toml::Table = text.parse().expect("TOML");
    let value = serde_json::to_value(table).expect("values");
    faults(schema, schema, &value, "")
}

fn projects(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder");
    for path in entries.map(|it| it.expect("an entry").path()) {
        if path.is_dir() {
            projects(&path, found);
        } else if path.extension().is_some_and(|it| it == "toml") {
            found.push(path);
        }
    }
}

#[test]
fn shipped_projects_conform_to_the_schema() {
    let schema = schema();
    let mut files = Vec::new();
    projects(&root().join("microcode"), &mut files);
    projects(&root().join("crates/systems/tests/firmware"), &mut files);
    files.retain(|it| !it.ends_with("Cargo.toml"));
    assert!(files.len() > 60, "{}", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a file");
        let faults = faults_of(&schema, &text);
        assert_eq!(faults, [""; 0], "{}", file.display());
    }
}

#[test]
fn schema_rejects_malformed_values_like_the_loader() {
    let schema = schema();
    for (text, expected) in [
        ("nmae = \"x\"", ".nmae: not allowed"),
        ("name = 3", ".name: is no \"string\""),
        ("extends = 3", ".extends: is no"),
        ("[chip]\nprofil = \"ixp2400\"", ".chip.profil: not allowed"),
        (
            "[[ring]]\nname = \"R\"\nstatus = \"half\"",
            ".ring[0].status: not one of the ways",
        ),
        (
            "[[ring]]\nname = \"R\"\nnumber = 256",
            ".ring[0].number: above 255",
        ),
        (
            "[[ring]]\nname = \"R\"\nnumber = -1",
            ".ring[0].number: below 0",
        ),
        ("[[me]]\nid = true", ".me[0].id: none of the ways"),
        (
            "[[memory]]\nspace = \"sramx\"",
            ".memory[0].space: no memory",
        ),
        ("[gpp]\ntasks = [\"route\"]", ".gpp.tasks[0]: not among"),
        (
            "[gpp.srp]\nclass = [{ clas = 1 }]",
            ".gpp.srp.class[0].clas: not allowed",
        ),
        (
            "[gpp.xcp]\nlayout = \"both\"",
            ".gpp.xcp.layout: not one of the ways",
        ),
        (
            "[load]\nspecial = { tpc = 0.1 }",
            ".load.special.tpc: not allowed",
        ),
        (
            "[coprocessor]\nnmae = \"C\"",
            ".coprocessor: none of the ways",
        ),
    ] {
        let faults = faults_of(&schema, text);
        let told = faults.iter().any(|it| it.starts_with(expected));
        assert!(told, "{text}: {faults:?}");
        // The loader rejects the same values.
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("npsim.toml");
        std::fs::write(&file, text).expect("write it");
        let loaded = npsim::project::Project::load(
            &file,
            &npsim::project::Overrides::default(),
            &npsim::registry(),
        );
        assert!(loaded.is_err(), "{text}");
    }
}

#[test]
fn every_key_has_a_description() {
    let schema = schema();
    let definitions = schema["definitions"].as_object().expect("definitions");
    for (name, part) in definitions
        .iter()
        .chain([(&"the file".to_owned(), &schema)])
    {
        // Shares of frame kinds use the names of the kinds.
        if name == "Special" {
            continue;
        }
        for (key, of_key) in part["properties"].as_object().into_iter().flatten() {
            let refers = of_key.get("$ref").is_some() || of_key.get("anyOf").is_some();
            assert!(of_key["description"].is_string() || refers, "{name}: {key}");
        }
    }
}
