//! Look-aside devices written in Python.

use npsim::chip::kernel::row::Row;
use npsim::project::look_aside::{KeyMistake, LookAside, LookAsideAnswer};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::column::Column;
use crate::column_data::{ColumnBuilder, Values};
use crate::instance::Instance;
use crate::keys::{Keys, without_class};
use crate::kind_name::KindName;

/// A Python device on an SRAM channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PythonDevice {
    name: KindName,
    instance: Instance,
    longwords: u32,
    questions: u64,
}

impl PythonDevice {
    /// Creates the device of a section.
    pub fn of(name: KindName, class: &Py<PyAny>, keys: &Keys) -> Result<Self, KeyMistake> {
        let (instance, longwords) = Instance::sized(("device", name), class, keys, "longwords")?;
        Ok(Self {
            name,
            instance,
            longwords,
            questions: 0,
        })
    }
}

impl LookAside for PythonDevice {
    const NAME: &'static str = "python";
    type Keys = Keys;

    fn name(&self) -> &'static str {
        self.name.0
    }

    fn new(_: &Keys) -> Result<Self, KeyMistake> {
        Err(without_class())
    }

    fn longwords(&self) -> u32 {
        self.longwords
    }

    fn answer(&mut self, table: &[u32], question: u32) -> LookAsideAnswer {
        self.questions += 1;
        let answer = self.instance.call("answer", |answer| {
            let mut column = ColumnBuilder::new(Values::U32(Vec::new()));
            for word in table {
                column.put(Some(*word));
            }
            let answer = answer.call1((Column(column.finish()), question))?;
            answer.extract::<(u32, u64)>()
        });
        let (value, cycles) = answer.unwrap_or_default();
        LookAsideAnswer { value, cycles }
    }

    fn counts(&self) -> Row {
        Row::default().with("questions", self.questions)
    }
}
