//! Memories of a chip as columns.

use npsim::chip::chip::Chip;
use npsim::memory_dump::{self, DumpRange};
use npsim::project::Project;
use pyo3::prelude::*;

use crate::column::Column;
use crate::column_data::{ColumnBuilder, Values};
use crate::error::{self, mistake};

/// Returns the longwords of a named memory, or of an address range.
pub fn column(
    chip: &Chip,
    project: &Project,
    name: &str,
    address: Option<u32>,
    words: Option<u32>,
) -> PyResult<Column> {
    let spaces: Vec<_> = project.spaces.iter().map(|it| it.name.as_str()).collect();
    let range = if spaces.contains(&name) {
        let (Some(start), Some(words)) = (address, words) else {
            let help = format!("such as `memory(\"{name}\", 0x100, 16)`");
            return Err(mistake(
                format!(
                    "`{name}` is a whole memory: say from which byte address, and how many longwords"
                ),
                &help,
            ));
        };
        let end = u64::from(start) + 4 * u64::from(words);
        let range = u32::try_from(end).ok().filter(|_| start.is_multiple_of(4));
        let Some(end) = range else {
            let message = format!("{words} longwords from {start:#x} on are not in a memory");
            return Err(mistake(message, "longwords begin at multiples of four"));
        };
        DumpRange::new(name, start, end)
    } else {
        if address.is_some() || words.is_some() {
            let help = format!("the memories are {}", spaces.join(", "));
            return Err(mistake(format!("there is no memory `{name}`"), &help));
        }
        memory_dump::find(project, name).map_err(|it| error::problem(&it))?
    };
    let found = memory_dump::words(chip, &range);
    if let Some(words) = words
        && found.len() != words as usize
    {
        let message = format!(
            "`{name}` has no {words} longwords from {:#x} on",
            address.unwrap_or(0)
        );
        return Err(mistake(
            message,
            "`Project.explain()` says how large each memory is",
        ));
    }
    let mut column = ColumnBuilder::new(Values::U32(Vec::new()));
    for (_, word) in found {
        column.put(Some(word));
    }
    Ok(Column(column.finish()))
}
