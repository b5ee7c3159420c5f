//! Takes parameters and errata out of a profile's TOML table, removing everything recognized, so
//! that the remainder is unknown.

use toml::{Table, Value};

use crate::error::ProfileError;
use crate::parameter::{self, Domain, Erratum, Foundation, Parameter, Schema, choose};

pub(crate) fn wrong(key: &str, reason: &str) -> ProfileError {
    ProfileError::InvalidValue {
        key: key.to_owned(),
        reason: reason.to_owned(),
    }
}

/// Checks that a value is in a domain.
pub(crate) fn in_domain(
    key: &str,
    domain: &Domain,
    value: parameter::ParameterValue,
) -> Result<(), ProfileError> {
    match (*domain, value) {
        (Domain::Number { unit, least, most }, parameter::ParameterValue::Number(number)) => {
            if (least..=most).contains(&number) {
                return Ok(());
            }
            let reason = format!("{number} is not within {least} to {most} {unit}");
            Err(wrong(key, &reason))
        }
        (Domain::Number { unit, .. }, parameter::ParameterValue::Name(name)) => {
            let reason = format!("it must be a number of {unit}, not `{name}`");
            Err(wrong(key, &reason))
        }
        (Domain::Name(known), value) => choose(key, &value.to_string(), known).map(|_| ()),
    }
}

pub(crate) fn take_parameter(
    table: &mut Table,
    schema: &Schema,
) -> Result<Parameter, ProfileError> {
    let key = schema.key();
    let entry = table
        .get_mut(schema.group)
        .and_then(Value::as_table_mut)
        .and_then(|t| t.remove(schema.name));
    let Some(entry) = entry else {
        return Err(ProfileError::Missing {
            key,
            what: match schema.domain {
                Domain::Number { unit, .. } => unit.to_owned(),
                Domain::Name(names) => names.join(" or "),
            },
            meaning: schema.meaning.trim().to_owned(),
        });
    };
    let Rated {
        value,
        foundation,
        basis,
    } = take_rated(entry, &key, &schema.domain)?;
    Ok(Parameter {
        group: schema.group,
        name: schema.name,
        value,
        unit: match schema.domain {
            Domain::Number { unit, .. } => unit,
            Domain::Name(_) => "",
        },
        meaning: schema.meaning.trim_ascii(),
        foundation,
        basis,
    })
}

/// A value and how well it is founded.
pub(crate) struct Rated {
    pub value: parameter::ParameterValue,
    pub foundation: Foundation,
    pub basis: String,
}

/// Reads `{ value = 60, unit = "...", source = "..." }` or the form with provenance and basis; a
/// name has no unit.
pub(crate) fn take_rated(entry: Value, key: &str, domain: &Domain) -> Result<Rated, ProfileError> {
    let Value::Table(mut entry) = entry else {
        let form = match domain {
            Domain::Number { .. } => "write { value = ..., unit = \"...\", source = \"...\" }",
            Domain::Name(_) => "write { value = \"...\", source = \"...\" }",
        };
        return Err(wrong(key, form));
    };
    let value = match *domain {
        Domain::Number { unit, .. } => {
            let number = parameter::ParameterValue::Number(take_number(&mut entry, key, "value")?);
            in_domain(key, domain, number)?;
            let written = take_text(&mut entry, key, "unit")?;
            if written != unit {
                let reason = format!("the model counts it in {unit}, not in {written}");
                return Err(wrong(key, &reason));
            }
            number
        }
        Domain::Name(known) => choose(key, &take_text(&mut entry, key, "value")?, known)?,
    };
    let (foundation, basis) = if entry.contains_key("source") {
        (Foundation::Source, take_text(&mut entry, key, "source")?)
    } else if entry.contains_key("provenance") {
        let provenance = take_text(&mut entry, key, "provenance")?;
        let foundation = Foundation::ALL[1..]
            .iter()
            .copied()
            .find(|f| f.name() == provenance)
            .ok_or_else(|| {
                wrong(
                    key,
                    &format!("`{provenance}` is not a provenance; use likely, derived, calibrated or assumed"),
                )
            })?;
        (foundation, take_text(&mut entry, key, "basis")?)
    } else {
        return Err(wrong(
            key,
            "it needs a `source`, or a `provenance` and a `basis`",
        ));
    };
    if let Some(surplus) = entry.keys().next() {
        return Err(ProfileError::UnknownKey {
            key: format!("{key}.{surplus}"),
        });
    }
    Ok(Rated {
        value,
        foundation,
        basis,
    })
}

pub(crate) fn take_errata(table: &mut Table) -> Result<Vec<Erratum>, ProfileError> {
    let Some(list) = table.remove("erratum") else {
        return Ok(Vec::new());
    };
    let Value::Array(list) = list else {
        return Err(wrong("erratum", "write it as [[erratum]] tables"));
    };
    list.into_iter().map(erratum).collect()
}

fn erratum(value: Value) -> Result<Erratum, ProfileError> {
    let Value::Table(mut table) = value else {
        return Err(wrong("erratum", "write it as an [[erratum]] table"));
    };
    let number = take_number(&mut table, "erratum", "number")?;
    let number =
        u32::try_from(number).map_err(|_| wrong("erratum.number", "it must fit in 32 bits"))?;
    let mut elements = [const { Vec::new() }; 3];
    for (list, name) in elements
        .iter_mut()
        .zip(["elements_64", "elements_128", "elements_256"])
    {
        let Some(value) = table.remove(name) else {
            continue;
        };
        let key = format!("erratum.{name}");
        let items = value
            .as_array()
            .ok_or_else(|| wrong(&key, "it must be a list of element numbers"))?;
        for item in items {
            let element = item
                .as_integer()
                .and_then(|n| u8::try_from(n).ok())
                .filter(|n| *n < 128);
            list.push(element.ok_or_else(|| wrong(&key, "element numbers are 0 to 127"))?);
        }
    }
    let effect = take_text(&mut table, "erratum", "effect")?;
    let source = take_text(&mut table, "erratum", "source")?;
    if let Some(surplus) = table.keys().next() {
        return Err(ProfileError::UnknownKey {
            key: format!("erratum.{surplus}"),
        });
    }
    Ok(Erratum {
        number,
        effect,
        source,
        elements,
    })
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}.{name}")
    }
}

pub(crate) fn take_text(
    table: &mut Table,
    prefix: &str,
    name: &str,
) -> Result<String, ProfileError> {
    match table.remove(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        _ => Err(wrong(&join(prefix, name), "a non-empty text is required")),
    }
}

pub(crate) fn take_number(
    table: &mut Table,
    prefix: &str,
    name: &str,
) -> Result<u64, ProfileError> {
    let number = table
        .remove(name)
        .and_then(|v| v.as_integer())
        .and_then(|n| u64::try_from(n).ok());
    number.ok_or_else(|| wrong(&join(prefix, name), "a whole number from 0 is required"))
}
