//! What a point's key is made from: hashes of its inputs, as far as a run depends on them.

use std::collections::BTreeMap;
use std::path::Path;

use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_project::problem::Problem;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::metric::Metric;

/// The digits that name an outcome: enough that no two inputs ever share them.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let digits: Vec<_> = digest.iter().take(16).map(|b| format!("{b:02x}")).collect();
    digits.concat()
}

/// What metrics are, without their titles: these change no value.
pub(crate) fn metrics_data(metrics: &BTreeMap<&str, &Metric>) -> Value {
    let data = metrics.iter().map(|(name, metric)| {
        let measure = format!("{:?}", metric.measure);
        ((*name).to_owned(), Value::String(measure))
    });
    Value::Object(data.collect())
}

/// All that a system is, as far as a run depends on it.
pub(crate) fn system_data(project: &Project, programs: &[Program]) -> Result<Value, Problem> {
    let inputs = project.inputs.iter();
    let inputs: Vec<_> = inputs.map(|input| hash(&input.bytes)).collect();
    Ok(json!({
        "project": project_data(project)?,
        "inputs": inputs,
        "profile": profile_data(project),
        "programs": programs_data(project, programs),
    }))
}

/// What the project says, without what people see only: comments, order, its
/// name.
fn project_data(project: &Project) -> Result<Value, Problem> {
    let mut table: toml::Table = toml::from_str(&project.text.text)
        .map_err(|error| Problem::new(error.message().to_owned()))?;
    table.remove("name");
    // Traffic is in the key as what it comes to.
    table.remove("load");
    serde_json::to_value(table).map_err(|error| Problem::new(error.to_string()))
}

/// All that the profile says in numbers.
fn profile_data(project: &Project) -> Value {
    let profile = &project.profile;
    let parameters: Vec<_> = profile
        .parameters()
        .map(|p| json!([p.group, p.name, p.value]))
        .collect();
    let errata: Vec<_> = profile
        .errata()
        .iter()
        .map(|erratum| json!([erratum.number, erratum.elements]))
        .collect();
    json!({
        "name": profile.name(),
        "id": profile.product_id(),
        "fingerprint": profile.fingerprint(),
        "parameters": parameters,
        "errata": errata,
    })
}

/// The texts that each microengine's program came from, or its words.
fn programs_data(project: &Project, programs: &[Program]) -> Value {
    let plan = |me: u8| project.programs.iter().find(|plan| plan.me == me);
    let data: Vec<_> = programs
        .iter()
        .map(|program| {
            let files: Vec<_> = program
                .sources
                .files()
                .iter()
                .map(|file| {
                    let name = Path::new(&*file.path).file_name();
                    let name = name.map(|name| name.to_string_lossy().into_owned());
                    json!([name, hash(file.text.as_bytes())])
                })
                .collect();
            // Firmware that is assembled has no texts.
            let words = files.is_empty().then(|| format!("{:?}", program.image));
            json!({
                "me": program.me,
                "files": files,
                "words": words.map(|words| hash(words.as_bytes())),
                "defines": plan(program.me).map(|plan| &plan.defines),
                "imports": plan(program.me).map(|plan| &plan.imports),
                "spill_moves": plan(program.me).map(|plan| plan.spill_moves),
            })
        })
        .collect();
    Value::Array(data)
}
