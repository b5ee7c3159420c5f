//! Paths into the counts of a chip: `units.sram*.commands.*.count`.
//!
//! A key names a field of an object. In a list it is an index, or the `name`,
//! `operation` or `reason` of an entry. A `*` matches any letters.

use serde_json::Value;

/// Returns the growth of the numbers at the path, summed.
///
/// # Errors
/// Returns an error if the path leads to no number.
pub fn growth(before: &Value, after: &Value, path: &str) -> Result<f64, String> {
    let keys: Vec<&str> = path.split('.').collect();
    let now = sum(after, &keys);
    // A count that did not exist yet was zero.
    let then = sum(before, &keys).unwrap_or(0.0);
    now.map(|now| now - then)
        .ok_or_else(|| format!("there is no count `{path}` (`npsim docs stats` lists them)"))
}

fn sum(value: &Value, keys: &[&str]) -> Option<f64> {
    let Some((key, rest)) = keys.split_first() else {
        return value.as_f64();
    };
    let found: Vec<f64> = match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| fits(key, name))
            .filter_map(|(_, inner)| sum(inner, rest))
            .collect(),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .filter(|(index, entry)| {
                let name = ["name", "operation", "reason"]
                    .iter()
                    .find_map(|field| entry[*field].as_str());
                name.is_some_and(|name| fits(key, name)) || fits(key, &index.to_string())
            })
            .filter_map(|(_, entry)| sum(entry, rest))
            .collect(),
        _ => return None,
    };
    (!found.is_empty()).then(|| found.iter().sum())
}

/// Whether a name matches a pattern with `*`.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(rest) = name.strip_prefix(head) else {
        return false;
    };
    (0..=rest.len()).any(|skip| rest.get(skip..).is_some_and(|rest| fits(tail, rest)))
}

#[cfg(test)]
mod tests {
    use super::{fits, growth};
    use serde_json::json;

    #[test]
    fn stars_match_any_characters() {
        for (pattern, name, expected) in [
            ("sram*", "sram0", true),
            ("sram*", "scratch", false),
            ("*", "", true),
            ("s*m*", "sram1", true),
            ("*0", "sram0", true),
            ("*0", "sram1", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn path_sums_all_matching_counters() {
        let before = json!({"units": [{"name": "sram0", "words": 1}]});
        let after =
            json!({"units": [{"name": "sram0", "words": 5}, {"name": "sram1", "words": 7}]});
        assert_eq!(growth(&before, &after, "units.sram*.words"), Ok(11.0));
        assert_eq!(growth(&before, &after, "units.0.words"), Ok(4.0));
        assert!(
            growth(&before, &after, "units.dram.words")
                .unwrap_err()
                .contains("units.dram.words")
        );
        assert!(growth(&before, &after, "units").is_err());
    }
}
