//! The counters of a chip as JSON, looked up by name.

use npsim_inspect::stats::Stats;
use npsim_project::problem::Problem;
use serde_json::{Map, Value, json};

/// Formats JSON as text.
pub(crate) fn pretty_json(value: &Value) -> Result<String, Problem> {
    serde_json::to_string_pretty(value).map_err(|error| Problem::new(error.to_string()))
}

/// A counter, a part of the statistics selected by its path, or an overview if the name is empty.
pub(crate) fn counted(stats: &Stats, name: &str) -> Result<Value, Problem> {
    let counters = { stats.counters.iter() }.map(|it| (it.name.clone(), it.value.into()));
    let counters: Map<String, Value> = counters.collect();
    if name.is_empty() {
        return Ok(json!({
            "counters": counters,
            "drops": stats.media.drops,
            "gpp": stats.gpp,
        }));
    }
    if let Some(value) = counters.get(name) {
        return Ok(json!({ name: value }));
    }
    let all = serde_json::to_value(stats).map_err(|error| Problem::new(error.to_string()))?;
    if name == "all" {
        return Ok(all);
    }
    let part = name.split('.').try_fold(&all, |part, key| match part {
        Value::Array(rows) => rows.get(key.parse::<usize>().ok()?),
        part => part.get(key),
    });
    if let Some(part) = part {
        // A value that is neither an object nor a list is shown with its name.
        return Ok(match part {
            Value::Object(_) | Value::Array(_) => part.clone(),
            part => json!({ name: part }),
        });
    }
    let parts = all.as_object().into_iter().flat_map(Map::keys);
    let names: Vec<_> = counters.keys().chain(parts).cloned().collect();
    Err(
        Problem::new(format!("there is no counter `{name}`")).help(format!(
            "choose one of {}; `all` has everything",
            names.join(", ")
        )),
    )
}
