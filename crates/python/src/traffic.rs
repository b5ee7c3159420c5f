//! Traffic as given by Python callers.

use std::path::PathBuf;

use npsim::load as project_load;
use npsim::net::capture::{CaptureOptions, LinkTypes, Padding};
use npsim::net::load::Load;
use npsim::net::pace::Pace;
use npsim::project::Project;
use npsim::traffic::{CaptureTraffic, Traffic};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::error::mistake;
use crate::text::{check_depth, parsed, text_of};

/// The arguments about a capture: `trace`, `pace`, `ports`, `link` and `pad`.
#[derive(Debug)]
pub struct CaptureArguments {
    pub trace: PathBuf,
    pub pace: String,
    pub ports: String,
    pub link: bool,
    pub pad: Option<String>,
}

impl CaptureArguments {
    /// Collects the arguments about a capture, if there is one.
    pub fn of(
        trace: Option<PathBuf>,
        pace: Option<&Bound<'_, PyAny>>,
        ports: Option<&Bound<'_, PyAny>>,
        link: bool,
        pad: Option<String>,
    ) -> PyResult<Option<Self>> {
        let Some(trace) = trace else {
            if pace.is_some() || ports.is_some() || link || pad.is_some() {
                return Err(mistake(
                    "`pace`, `ports`, `link` and `pad` apply only to a capture, and there is none",
                    "give it as `trace`",
                ));
            }
            return Ok(None);
        };
        Ok(Some(Self {
            trace,
            pace: pace.map_or(Ok("trace".into()), |it| text_of("pace", it))?,
            ports: ports.map_or(Ok("interface".into()), |it| text_of("ports", it))?,
            link,
            pad,
        }))
    }
}

/// Determines the traffic: a capture, a load, or the project's own `[load]`. `load` is a rate
/// (`0.5`, `"1Mpps"`), a dictionary with keys of `[load]`, or `False` for no traffic.
pub fn traffic(
    project: &Project,
    capture: Option<CaptureArguments>,
    load: Option<&Bound<'_, PyAny>>,
    seed: Option<u64>,
) -> PyResult<Traffic> {
    if let Some(capture) = capture {
        if load.is_some() {
            return Err(mistake(
                "`trace` and `load` are given, and traffic comes from one of them",
                "",
            ));
        }
        let pace: Pace = parsed("pace", &capture.pace)?;
        let padding = capture.pad.as_deref();
        let padding: Option<Padding> = padding.map(|it| parsed("pad", it)).transpose()?;
        return Ok(Traffic::Capture(Box::new(CaptureTraffic {
            path: capture.trace,
            bytes: None,
            pace,
            ports: parsed("ports", &capture.ports)?,
            options: CaptureOptions {
                links: if capture.link {
                    LinkTypes::Framed
                } else {
                    LinkTypes::Ethernet
                },
                padding: padding.unwrap_or_default(),
            },
        })));
    }
    let mut made = project.load.clone().unwrap_or_default();
    match load {
        None => {}
        Some(load) if load.is_instance_of::<PyBool>() => {
            if load.extract()? {
                let help = "give a rate, such as 0.5, or leave it out for the project's own";
                return Err(mistake("`load` is True, which gives no rate", help));
            }
            return Ok(Traffic::None);
        }
        Some(load) => match load.cast::<PyDict>() {
            Ok(keys) => made = override_load(&made, keys)?,
            Err(_) => made.rate = Some(parsed("load", &text_of("load", load)?)?),
        },
    }
    made.seed = seed.unwrap_or(made.seed);
    if made.rate.is_none() {
        return match load {
            None => Ok(Traffic::None),
            Some(_) => Err(mistake(
                "`load` shapes traffic, and no traffic is asked for",
                "say how much: `load={\"rate\": 0.5, ...}`",
            )),
        };
    }
    Ok(Traffic::Load(Box::new(project_load::resolved(
        made, project,
    ))))
}

/// A load with some keys replaced.
fn override_load(load: &Load, keys: &Bound<'_, PyDict>) -> PyResult<Load> {
    let defect = |error: serde_json::Error| mistake(format!("`load`: {error}"), "");
    let mut all = serde_json::to_value(load).map_err(defect)?;
    for (key, value) in keys {
        let key: String = key
            .extract()
            .map_err(|_| PyTypeError::new_err("a key of `load` is not a text"))?;
        let value = json_of(&format!("load[{key:?}]"), &value, 0)?;
        all[&key] = value;
    }
    serde_json::from_value(all).map_err(|error| {
        mistake(
            format!("`load`: {error}"),
            "the keys are those of a project's [load], `npsim docs traffic`",
        )
    })
}

/// Converts a value, nested in `depth` containers, for the keys of a load. Rates and times become
/// texts.
fn json_of(place: &str, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<serde_json::Value> {
    check_depth(place, depth)?;
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().into());
    }
    if let Ok(keys) = value.cast::<PyDict>() {
        let mut all = serde_json::Map::new();
        for (key, value) in keys {
            let key: String = key.extract()?;
            let value = json_of(&format!("{place}[{key:?}]"), &value, depth + 1)?;
            all.insert(key, value);
        }
        return Ok(all.into());
    }
    if let Ok(number) = value.extract::<u64>() {
        return Ok(number.into());
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(number.into());
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(text.into());
    }
    let list = value.extract::<Vec<Bound<'_, PyAny>>>().map_err(|_| {
        PyTypeError::new_err(format!("{place} is not a text, number, list or dictionary"))
    })?;
    let list = list.iter().map(|it| json_of(place, it, depth + 1));
    Ok(list.collect::<PyResult<Vec<_>>>()?.into())
}
