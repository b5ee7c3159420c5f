//! The Python package `npsim`: projects, runs, the debugger, networks and sweeps for Python, with
//! results as tables that NumPy, pandas, polars and Arrow read without a copy.
//!
//! Each module has one class or function of the package; `stubtest` checks the type stubs
//! (`python/npsim/__init__.pyi`) against it. Work is done without the interpreter's lock
//! (`detached.rs`).

mod arrow;
mod chip;
mod column;
mod column_data;
mod command;
mod debugger;
mod detached;
mod device;
mod document;
mod error;
mod event_batches;
mod exclusive;
mod instance;
mod keys;
mod kind_name;
mod kinds;
mod memory;
mod network;
mod observers;
mod packet_table;
mod packet_task;
mod pickled;
mod program;
mod progress;
mod project;
mod run;
mod series_table;
mod sweep;
mod table;
mod table_data;
mod text;
mod timer_task;
mod traffic;

use pyo3::prelude::*;

/// The native part of the package.
#[pymodule]
fn _npsim(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::register(module)?;
    module.add_class::<column::Column>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<program::Program>()?;
    module.add_class::<project::Project>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<run::Router>()?;
    module.add_class::<run::Page>()?;
    module.add_class::<chip::Chip>()?;
    module.add_class::<chip::Departure>()?;
    module.add_class::<debugger::Debugger>()?;
    module.add_class::<debugger::Bookmark>()?;
    module.add_class::<packet_task::SlowPathPacket>()?;
    module.add_class::<timer_task::Read>()?;
    module.add_class::<timer_task::Write>()?;
    module.add_class::<network::Network>()?;
    module.add_class::<network::NetworkRun>()?;
    module.add_class::<sweep::Sweep>()?;
    module.add_class::<sweep::Point>()?;
    module.add_class::<progress::Progress>()?;
    module.add_function(wrap_pyfunction!(program::assemble, module)?)?;
    module.add_function(wrap_pyfunction!(program::disassemble, module)?)?;
    module.add_function(wrap_pyfunction!(program::read_image, module)?)?;
    module.add_function(wrap_pyfunction!(program::program_again, module)?)?;
    module.add_function(wrap_pyfunction!(pickled::again, module)?)?;
    module.add_function(wrap_pyfunction!(project::load, module)?)?;
    module.add_function(wrap_pyfunction!(network::network, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::point_again, module)?)?;
    module.add_function(wrap_pyfunction!(command::command, module)?)?;
    Ok(())
}
