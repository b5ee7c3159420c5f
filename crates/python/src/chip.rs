//! Chips that are fed frame by frame.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use npsim::checkpoint;
use npsim::chip::Cycle;
use npsim::chip::kernel::observer::NoObserver;
use npsim::diagnostics::render_fault;
use npsim::inspect::stats::Stats;
use npsim::links::{FrameOrigin, LinkFrame};
use npsim::net::pace::{line_end_ps, line_free_ps};
use npsim::net::recording::{cycle, picoseconds};
use npsim::node::{NetworkedState, Node};
use npsim::problem::Problem;
use npsim::simulation::{Ending, RunSettings};
use npsim::system::System;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sha2::{Digest, Sha256};

use crate::column::Column;
use crate::detached::{StopFlag, detached};
use crate::error::{self, Fault, mistake, not_pickled};
use crate::exclusive::Exclusive;
use crate::memory;
use crate::project::{Project, frame_bytes, time};
use crate::run::{checks, core};

/// Minimum frame length without the frame check sequence; shorter frames are padded on the line.
const MIN_FRAME: usize = 60;
/// Maximum frame length in bytes.
const MAX_FRAME: usize = 65_535;

/// A chip with its lines.
struct FedChip {
    node: Node,
    /// When the line of each port is free for the next frame, in picoseconds.
    free: Vec<u128>,
    /// The number of frames fed so far.
    count: u64,
}

/// A chip that accepts frames while it runs and returns those that leave.
///
/// Created by `Project.chip`. Cycles are those of the microengines. Only one thread may use a chip
/// at a time; a call during another raises `npsim.Error`.
#[pyclass(frozen, module = "npsim")]
pub struct Chip {
    system: System,
    hertz: u64,
    lines: Vec<u64>,
    fed: Exclusive<FedChip>,
    stop: StopFlag,
}

/// A frame that has begun to leave the chip.
#[pyclass(frozen, get_all, module = "npsim")]
pub struct Departure {
    /// The port, from 0.
    port: u8,
    /// The cycle in which its first bit leaves.
    start: u64,
    /// The cycle in which its last bit leaves.
    end: u64,
    /// The bytes of the frame, without the frame check sequence.
    frame: Py<PyBytes>,
    /// The number of the fed frame that it was made from, counted from 0 in the order of feeding;
    /// `None` if unknown.
    origin: Option<u64>,
}

#[pymethods]
impl Departure {
    fn __bytes__(&self, py: Python<'_>) -> Py<PyBytes> {
        self.frame.clone_ref(py)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled(
            "a departure",
            "send its `frame` and what else is needed of it",
        ))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let bytes = self.frame.as_bytes(py).len();
        format!(
            "<npsim.Departure of {bytes} bytes, port {}, cycle {}>",
            self.port, self.end
        )
    }
}

#[pymethods]
impl Project {
    /// Create a chip at cycle 0 that is fed frame by frame.
    ///
    /// The chip has no end of its own: timers of the core continue as long as it runs.
    #[pyo3(signature = (*, seed = None, core = "engine", allow = None))]
    fn chip(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        core: &str,
        allow: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Chip> {
        let settings = RunSettings {
            allow: checks(allow.as_ref())?,
            seed,
            ..RunSettings::new(crate::chip::core(core)?)
        };
        let project = self.system.project();
        let ports = &project.boot.ports;
        // Frames may be fed in response to others, at any time not before the chip's current time.
        let answer = vec![Cycle::MAX; ports.len()];
        let stop = StopFlag::default();
        let node = detached(py, &stop, || {
            Node::networked(project, self.system.programs(), settings, answer)
        })?;
        let node = node.map_err(|it| error::problem(&it))?;
        Ok(Chip {
            system: self.system.clone(),
            hertz: project.capacity.hertz,
            lines: ports.iter().map(|port| port.bits_per_second).collect(),
            fed: Exclusive::new(FedChip {
                node,
                free: vec![0; ports.len()],
                count: 0,
            }),
            stop,
        })
    }
}

impl Chip {
    /// A digest that differs between chips that cannot continue from each other's states.
    fn digest(&self) -> [u8; 32] {
        let project = self.system.project();
        let mut all = Sha256::new();
        all.update(env!("CARGO_PKG_VERSION"));
        for input in checkpoint::inputs::of_system(project, self.system.programs()) {
            all.update(input.digest);
        }
        for setting in &project.settings {
            all.update(setting.to_string());
        }
        all.finalize().into()
    }

    fn run(&self, py: Python<'_>, until: Cycle) -> PyResult<()> {
        let mut fed = self.fed.claim("the chip")?;
        fed.detached(py, &self.stop, |FedChip { node, .. }| {
            let go_on = &mut |_: Cycle| {
                if self.stop.load(Ordering::Relaxed) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            while node.ending().is_none() && node.handled() < until {
                node.run_open(until, &mut NoObserver, go_on);
            }
        })?;
        let text = match fed.node.ending() {
            Some(Ending::Fault(fault)) => {
                error::plain(&render_fault(fault, self.system.programs()))
            }
            Some(Ending::Interrupted) => {
                let message = "the chip was interrupted and runs no further";
                return Err(mistake(
                    message,
                    "make a new one, or `restore` a state of it",
                ));
            }
            _ => return Ok(()),
        };
        Err(Fault::new_err(text))
    }
}

#[pymethods]
impl Chip {
    /// The current cycle: everything before it has happened.
    #[getter]
    fn now(&self) -> PyResult<u64> {
        Ok(self.fed.claim("the chip")?.node.handled())
    }

    /// Feed a frame to a port, and return the cycle of its first bit.
    ///
    /// `frame` is the bytes without the frame check sequence, or an object that converts to them,
    /// such as a scapy packet. The first bit arrives at `at`, a cycle or a string such as "2ms", or
    /// as soon afterwards as the port's line is free; by default, as soon as the line is free.
    /// Frames for one port are fed in the order of their times.
    ///
    /// Raises `npsim.Error` if the port does not exist, the frame does not have 1 to 65,535 bytes,
    /// or `at` is in the past.
    #[pyo3(signature = (frame, *, port = 0, at = None))]
    fn feed(
        &self,
        frame: &Bound<'_, PyAny>,
        port: usize,
        at: Option<Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let mut bytes = frame_bytes(frame)?;
        if bytes.is_empty() || bytes.len() > MAX_FRAME {
            let message = format!("a frame cannot have {} bytes", bytes.len());
            return Err(mistake(message, "a frame has 1 to 65,535 bytes"));
        }
        let Some(&rate) = self.lines.get(port) else {
            let message = format!("there is no port {port}");
            let help = match self.lines.len() {
                0 => "the project has no ports; add a [[port]]".to_owned(),
                count => format!("the project has ports 0 to {}", count - 1),
            };
            return Err(mistake(message, &help));
        };
        bytes.resize(bytes.len().max(MIN_FRAME), 0);
        let mut fed = self.fed.claim("the chip")?;
        let now = fed.node.handled();
        let asked = at.map(|at| Ok::<_, PyErr>(time("at", &at)?.cycles(self.hertz)));
        let asked = asked.transpose()?.unwrap_or(now);
        if asked < now {
            return Err(mistake(
                format!("cycle {asked} is over: the chip is at {now}"),
                "feed frames before the chip runs past them",
            ));
        }
        let free = u64::try_from(fed.free[port]).unwrap_or(u64::MAX);
        let start = asked.max(cycle(free, self.hertz));
        let begins = picoseconds(start, self.hertz);
        let end = line_end_ps(begins, bytes.len(), rate);
        fed.free[port] = line_free_ps(begins, bytes.len(), rate);
        let end = cycle(u64::try_from(end).unwrap_or(u64::MAX), self.hertz);
        let frame = fed.count;
        fed.count += 1;
        fed.node.put(LinkFrame {
            start,
            end,
            port: port as u8,
            bytes,
            origin: Some(FrameOrigin {
                frame,
                arrived: end,
            }),
        });
        Ok(start)
    }

    /// Run until a time: a cycle, or a string such as "2ms".
    ///
    /// Raises `npsim.Fault` if a check stops the chip. `KeyboardInterrupt` ends the run; an
    /// interrupted chip can only continue from a restored state.
    fn run_to(&self, py: Python<'_>, until: Bound<'_, PyAny>) -> PyResult<()> {
        let until = time("until", &until)?.cycles(self.hertz);
        self.run(py, until)
    }

    /// Run for a further duration: a number of cycles, or a string such as "2ms".
    ///
    /// Raises the same exceptions as `run_to`.
    fn run_for(&self, py: Python<'_>, time: Bound<'_, PyAny>) -> PyResult<()> {
        let cycles = crate::project::time("time", &time)?.cycles(self.hertz);
        let now = self.now()?;
        self.run(py, now.saturating_add(cycles))
    }

    /// Return the frames that have begun to leave since the last call, in the order of their first
    /// bits.
    fn departures(&self, py: Python<'_>) -> PyResult<Vec<Departure>> {
        let left = self.fed.claim("the chip")?.node.take_departures();
        let left = left.into_iter().map(|frame| Departure {
            port: frame.port,
            start: frame.start,
            end: frame.end,
            frame: PyBytes::new(py, &frame.bytes).unbind(),
            origin: frame.origin.map(|origin| origin.frame),
        });
        Ok(left.collect())
    }

    /// Return the frames lost at the media interface since the last call, each as a cycle and a
    /// reason.
    fn lost(&self) -> PyResult<Vec<(u64, &'static str)>> {
        let lost = self.fed.claim("the chip")?.node.take_lost();
        let lost = lost.into_iter();
        Ok(lost.map(|it| (it.cycle, it.reason.text())).collect())
    }

    /// Return the longwords of a memory.
    ///
    /// `name` is a `[[memory]]` or `[[counter]]` of the project, or a whole memory (`scratch`,
    /// `sram0`..., `dram`), from which `words` longwords are read, starting at the byte address
    /// `address`.
    ///
    /// Raises `npsim.Error` if there is no such memory or part of it.
    #[pyo3(signature = (name, address = None, words = None))]
    fn memory(&self, name: &str, address: Option<u32>, words: Option<u32>) -> PyResult<Column> {
        let fed = self.fed.claim("the chip")?;
        memory::column(fed.node.chip(), self.system.project(), name, address, words)
    }

    /// All counters of the chip up to now, as in the stats file under `nodes[0].chip`.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let stats = Stats::collect(self.fed.claim("the chip")?.node.chip());
        let json = serde_json::to_string(&stats).map_err(|it| mistake(it.to_string(), ""))?;
        py.import("json")?.call_method1("loads", (json,))
    }

    /// Return the state as bytes, from which `restore` continues on a chip of the same project.
    ///
    /// The state does not include departures that have not been collected yet.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let own = self.digest();
        let mut fed = self.fed.claim("the chip")?;
        let saved = fed.detached(py, &self.stop, |fed| {
            let state = fed.node.save_networked()?;
            let saved = postcard::to_allocvec(&(own, state, &fed.free, fed.count));
            saved.map_err(|error| Problem::new(error.to_string()))
        })?;
        let saved = saved.map_err(|it| error::problem(&it))?;
        Ok(PyBytes::new(py, &saved))
    }

    /// Continue from a state that `save` returned.
    ///
    /// Tasks and devices written in Python are unpickled: only restore states that you saved
    /// yourself. Raises `npsim.Error` if the state is not of the same project and settings.
    fn restore(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let refused = |why: String| {
            let problem = Problem::new(format!("this is not a state of such a chip: {why}"));
            error::problem(&problem.help("restore what `save` gave for the same project"))
        };
        let read = postcard::take_from_bytes::<([u8; 32], NetworkedState, Vec<u128>, u64)>(state);
        let ((made_by, state, free, count), rest) = read.map_err(|it| refused(it.to_string()))?;
        if !rest.is_empty() {
            return Err(refused(format!("there are {} bytes after it", rest.len())));
        }
        if made_by != self.digest() {
            return Err(refused(
                "it is of another project, or of other settings".to_owned(),
            ));
        }
        let mut fed = self.fed.claim("the chip")?;
        if free.len() != fed.free.len() {
            return Err(refused("it has other ports".to_owned()));
        }
        let restored = fed.detached(py, &self.stop, |fed| {
            fed.node.restore_networked(state)?;
            fed.free = free;
            fed.count = count;
            Ok(())
        })?;
        restored.map_err(refused)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled(
            "a chip",
            "send the project and the bytes of `save`",
        ))
    }

    fn __repr__(&self) -> PyResult<String> {
        let name = &self.system.project().name;
        Ok(format!("<npsim.Chip {name} at cycle {}>", self.now()?))
    }
}

/// Checks that a chip can be shared between threads, as Python classes must be.
const _: fn() = || {
    fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<Arc<Chip>>();
};
