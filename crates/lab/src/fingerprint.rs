//! Data that a point's key is made from: hashes of the inputs that a run depends on.

use std::collections::BTreeMap;
use std::path::Path;

use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_project::problem::Problem;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::metric::Metric;

/// Hashes bytes to the digits that name an outcome; long enough to rule out
/// collisions.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let digits: Vec<_> = digest.iter().take(16).map(|b| format!("{b:02x}")).collect();
    digits.concat()
}

/// The metrics without their titles, which affect no value.
pub(crate) fn metrics_data(metrics: &BTreeMap<&str, &Metric>) -> Value {
    let data = metrics.iter().map(|(name, metric)| {
        let measure = format!("{:?}", metric.measure);
        ((*name).to_owned(), Value::String(measure))
    });
    Value::Object(data.collect())
}

/// Everything about a system that a run depends on.
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

/// The project file without what does not affect a run: comments, order, its name.
fn project_data(project: &Project) -> Result<Value, Problem> {
    let mut table: toml::Table = toml::from_str(&project.text.text)
        .map_err(|error| Problem::new(error.message().to_owned()))?;
    table.remove("name");
    // Traffic is in the key in its resolved form.
    table.remove("load");
    serde_json::to_value(table).map_err(|error| Problem::new(error.to_string()))
}

/// All numbers of the profile.
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

/// The source texts of each microengine's program, or its words.
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
            // Preassembled firmware has no source texts.
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
