//! Look-aside devices in Python.

use npsim::chip::kernel::row::Row;
use npsim::project::keys::Spanned;
use npsim::project::look_aside::{KeyMistake, LookAside, LookAsideAnswer};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::column::Column;
use crate::column_data::{ColumnBuilder, Values};
use crate::instance::Instance;
use crate::kind_name::KindName;
use crate::packet_task::{Keys, as_json};

/// A device of Python's beside an SRAM channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PythonDevice {
    name: KindName,
    instance: Instance,
    longwords: u32,
    questions: u64,
}

impl PythonDevice {
    /// A device of a section.
    pub fn of(name: KindName, class: &Py<PyAny>, keys: &Keys) -> Result<Self, KeyMistake> {
        let class = Python::attach(|py| class.clone_ref(py));
        let mut made = Self {
            name,
            instance: Instance::new(class, as_json(keys)),
            longwords: 0,
            questions: 0,
        };
        let longwords = made.instance.call("longwords", |it| it.extract::<u32>());
        made.longwords = longwords.ok_or_else(|| {
            let place = Spanned::new(0..0, ());
            KeyMistake::new(
                &place,
                format!("the device `{}` could not be made", name.0),
                "",
            )
        })?;
        Ok(made)
    }
}

impl LookAside for PythonDevice {
    const NAME: &'static str = "python";
    type Keys = Keys;

    fn name(&self) -> &'static str {
        self.name.0
    }

    fn new(_: &Keys) -> Result<Self, KeyMistake> {
        let place = Spanned::new(0..0, ());
        Err(KeyMistake::new(
            &place,
            "a device of Python's has a class",
            "",
        ))
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
