//! Scopes and their variables.

use npsim_chip::core::signal_name_at;
use npsim_debug::console::holder_text;
use npsim_debug::core::REGISTERS;
use npsim_debug::names::{NamedRegister, live_at, owner_text};
use npsim_debug::view::{self, RingKind};
use npsim_debug::{DebugError, Thread};
use npsim_image::TransferDirection as Side;
use npsim_inspect::Inspect;
use npsim_isa::{Bank, Operand};
use serde_json::{Value, json};

use super::address;
use super::arguments::{SetVariable, ValueFormat, Variables};
use super::session::Session;

/// A group of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VariableGroup {
    Names,
    Registers,
    Transfer,
    Signals,
    Local,
    Cam,
    Csrs,
    Rings,
    Commands,
    Buffers,
}

const KINDS: [(VariableGroup, &str, bool); 10] = [
    (VariableGroup::Names, "Names", false),
    (VariableGroup::Registers, "Registers", true),
    (VariableGroup::Transfer, "Transfer registers", true),
    (VariableGroup::Signals, "Signals", false),
    (VariableGroup::Local, "Local memory", true),
    (VariableGroup::Cam, "CAM", true),
    (VariableGroup::Csrs, "Local CSRs", true),
    (VariableGroup::Rings, "Rings and queues", true),
    (VariableGroup::Commands, "Commands in flight", true),
    (VariableGroup::Buffers, "RBUF and TBUF", true),
];

/// A constructor of a register operand from its number.
type RegisterOfFile = fn(u8) -> Operand;

fn reference(thread: Thread, kind: usize) -> i64 {
    address::thread_id(thread) << 4 | kind as i64
}

fn split(reference: i64) -> Result<(Thread, VariableGroup), DebugError> {
    let thread = address::thread(reference >> 4)?;
    let kind = KINDS.get((reference & 15) as usize);
    kind.map(|it| (thread, it.0))
        .ok_or_else(|| DebugError::new(format!("there are no variables {reference}")))
}

/// The thread that a variables reference belongs to.
pub(super) fn thread_of(reference: i64) -> Result<Thread, DebugError> {
    split(reference).map(|it| it.0)
}

/// The expression that denotes a variable.
pub(super) fn expression(reference: i64, name: &str) -> String {
    match split(reference) {
        Ok((_, VariableGroup::Rings)) => format!("ring({name}).fill"),
        Ok((_, VariableGroup::Csrs)) => format!("csr({name})"),
        Ok((_, VariableGroup::Signals)) => format!("signal({name})"),
        Ok((_, VariableGroup::Cam)) => format!("cam({name}).tag"),
        Ok((_, VariableGroup::Local)) => format!("lm[{name}]"),
        _ => name.to_owned(),
    }
}

pub(super) fn scopes(thread: Thread) -> Value {
    let scope = |(at, (kind, name, expensive)): (usize, &(VariableGroup, &str, bool))| {
        let mut scope = json!({
            "name": name,
            "variablesReference": reference(thread, at),
            "expensive": expensive,
        });
        match kind {
            VariableGroup::Names => scope["presentationHint"] = "locals".into(),
            VariableGroup::Registers => scope["presentationHint"] = "registers".into(),
            _ => {}
        }
        scope
    };
    let of_thread = |it: &(usize, &(VariableGroup, &str, bool))| {
        !thread.is_core()
            || matches!(
                it.1.0,
                VariableGroup::Registers
                    | VariableGroup::Rings
                    | VariableGroup::Commands
                    | VariableGroup::Buffers
            )
    };
    let scopes = KINDS.iter().enumerate().filter(of_thread);
    let scopes: Vec<_> = scopes.map(scope).collect();
    json!({ "scopes": scopes })
}

/// Formats a value.
pub(super) fn text(value: u64, format: &ValueFormat) -> String {
    if format.hex {
        format!("{value:#x}")
    } else {
        format!("{value} ({value:#x})")
    }
}

fn variable(name: impl Into<String>, value: impl Into<String>) -> Value {
    json!({ "name": name.into(), "value": value.into(), "variablesReference": 0 })
}

fn named(name: &str, value: String, expression: &str) -> Value {
    let mut variable = variable(name, value);
    variable["evaluateName"] = expression.into();
    variable
}

impl Session<'_> {
    pub(super) fn variables(&self, asked: &Variables) -> Result<Value, DebugError> {
        let (thread, kind) = split(asked.variables_reference)?;
        let format = &asked.format;
        let all = match kind {
            VariableGroup::Names => self.names(thread, format),
            VariableGroup::Registers if thread.is_core() => self.core_registers(format),
            VariableGroup::Registers => self.registers(thread, format),
            VariableGroup::Transfer => self.transfer(thread, format),
            VariableGroup::Signals => self.signals(thread),
            VariableGroup::Local => {
                let core = self
                    .debugger
                    .chip()
                    .microengines()
                    .get(usize::from(thread.me));
                let words = core.map_or(&[][..], |core| core.local_memory());
                let words = (0..).step_by(4).zip(words);
                words
                    .map(|(at, word)| {
                        let expression = format!("lm[{at}]");
                        named(&at.to_string(), text((*word).into(), format), &expression)
                    })
                    .collect()
            }
            VariableGroup::Cam => {
                let inspect = Inspect::new(self.debugger.chip());
                let cam = inspect.microengine(thread.me).map(|it| it.cam());
                let entries = cam.iter().flatten().enumerate();
                entries
                    .map(|(entry, (tag, state))| {
                        let value = format!("tag {}, state {state}", text((*tag).into(), format));
                        named(&entry.to_string(), value, &format!("cam({entry}).tag"))
                    })
                    .collect()
            }
            VariableGroup::Csrs => {
                let inspect = Inspect::new(self.debugger.chip());
                let view = inspect.microengine(thread.me);
                let csrs = view.iter().flat_map(|view| view.csrs(thread.context));
                csrs.map(|it| {
                    let expression = format!("csr({})", it.name);
                    named(it.name, text(it.value.into(), format), &expression)
                })
                .collect()
            }
            VariableGroup::Rings => self.rings(),
            VariableGroup::Commands => {
                let inspect = Inspect::new(self.debugger.chip());
                let now = inspect.now();
                let flights = inspect.flights().iter();
                let flights = flights.map(|it| variable(it.text(now), it.location_text()));
                flights.collect()
            }
            VariableGroup::Buffers => self.buffers(),
        };
        let count = if asked.count == 0 {
            all.len()
        } else {
            asked.count
        };
        let part: Vec<_> = all.into_iter().skip(asked.start).take(count).collect();
        Ok(json!({ "variables": part }))
    }

    fn core_registers(&self, format: &ValueFormat) -> Vec<Value> {
        let Some(core) = self.debugger.core() else {
            return Vec::new();
        };
        let cpu = core.cpu();
        let registers = (0..).zip(REGISTERS);
        let registers = registers.map(|(at, name)| (name, cpu.register(at)));
        let all = registers.chain([("cpsr", cpu.cpsr())]);
        all.map(|(name, value)| variable(name, text(value.into(), format)))
            .collect()
    }

    fn names(&self, thread: Thread, format: &ValueFormat) -> Vec<Value> {
        let inspect = Inspect::new(self.debugger.chip());
        let (Some(image), Some(view)) = (
            self.debugger.image(thread.me),
            inspect.microengine(thread.me),
        ) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for it in live_at(image, self.debugger.point(thread)) {
            let NamedRegister::Register(symbol, side) = it else {
                continue;
            };
            let Some(register) = view.register(symbol.operand, side, thread.context) else {
                continue;
            };
            let mut value = text(register.value.into(), format);
            if let Some(owner) = register.owner {
                value += ", kept for ";
                value += &owner_text(&inspect, thread.me, &owner);
            }
            let mut variable = named(&symbol.name, value, &symbol.name);
            variable["type"] = symbol.operand.to_string().into();
            all.push(variable);
        }
        all
    }

    fn registers(&self, thread: Thread, format: &ValueFormat) -> Vec<Value> {
        let inspect = Inspect::new(self.debugger.chip());
        let Some(view) = inspect.microengine(thread.me) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for (bank, letter) in [(Bank::A, 'a'), (Bank::B, 'b')] {
            for number in 0..view.registers_per_context() {
                let operand = Operand::Gpr(bank, number);
                let it = view.register(operand, Side::Both, thread.context);
                let name = format!("{letter}{number}");
                let value = it.map_or(0, |it| it.value);
                all.push(named(&name, text(value.into(), format), &name));
            }
        }
        all
    }

    fn transfer(&self, thread: Thread, format: &ValueFormat) -> Vec<Value> {
        let inspect = Inspect::new(self.debugger.chip());
        let Some(view) = inspect.microengine(thread.me) else {
            return Vec::new();
        };
        let files: [(&str, RegisterOfFile); 2] =
            [("$", Operand::STransfer), ("$$", Operand::DTransfer)];
        let mut all = Vec::new();
        for (sigil, make) in files {
            for side in [Side::Read, Side::Write] {
                for number in 0..view.registers_per_context() {
                    let Some(it) = view.register(make(number), side, thread.context) else {
                        continue;
                    };
                    let plain = format!("{sigil}{number}");
                    let name = match side {
                        Side::Write => format!("out({plain})"),
                        _ => plain,
                    };
                    let mut value = text(it.value.into(), format);
                    if let Some(owner) = it.owner {
                        value += ", kept for ";
                        value += &owner_text(&inspect, thread.me, &owner);
                    }
                    all.push(named(&name, value, &name));
                }
            }
        }
        all
    }

    fn signals(&self, thread: Thread) -> Vec<Value> {
        let core = self
            .debugger
            .chip()
            .microengines()
            .get(usize::from(thread.me));
        let Some(core) = core else {
            return Vec::new();
        };
        let view = core.context(thread.context);
        let pc = self.debugger.pc(thread);
        (1..16)
            .map(|number: u8| {
                let come = view.signals >> number & 1 == 1;
                let waited = view.wakeup >> number & 1 == 1;
                let value = match (come, waited) {
                    (true, true) => "has come, waited for",
                    (true, false) => "has come",
                    (false, true) => "waited for",
                    (false, false) => "has not come",
                };
                let mut variable = named(
                    &number.to_string(),
                    value.to_owned(),
                    &format!("signal({number})"),
                );
                variable["type"] = signal_name_at(core.program().image(), number, pc).into();
                variable
            })
            .collect()
    }

    fn rings(&self) -> Vec<Value> {
        let rings = view::rings(self.debugger.chip(), self.debugger.names()).into_iter();
        let rings = rings.filter_map(|ring| {
            let what = match ring.kind {
                RingKind::Scratch { .. } => "longwords",
                RingKind::Queue => "entries",
                // No expression denotes these rings.
                RingKind::Neighbour { .. } => return None,
            };
            let value = format!("{} {what}", ring.fill);
            let expression = format!("ring({}).fill", ring.name);
            Some(named(&ring.name, value, &expression))
        });
        rings.collect()
    }

    fn buffers(&self) -> Vec<Value> {
        let inspect = Inspect::new(self.debugger.chip());
        let packet =
            |frame: Option<u64>| frame.map(|it| format!(", packet {it}")).unwrap_or_default();
        let rbuf = inspect.rbuf().filter_map(|it| {
            let holder = holder_text(it.holder)?;
            let value = format!("{holder}{}", packet(it.frame));
            Some(variable(format!("RBUF {}", it.element), value))
        });
        let mut all: Vec<_> = rbuf.collect();
        all.extend(inspect.tbuf().filter_map(|it| {
            it.valid_since?;
            let value = format!("valid{}", packet(it.frame));
            Some(variable(format!("TBUF {}", it.element), value))
        }));
        all
    }

    pub(super) fn set_variable(&mut self, asked: &SetVariable) -> Result<Value, DebugError> {
        let (thread, _) = split(asked.variables_reference)?;
        let name = expression(asked.variables_reference, &asked.name);
        let value = self.debugger.evaluate_word(&asked.value, thread)?;
        self.debugger.set(&name, value, thread)?;
        Ok(json!({ "value": text(value.into(), &ValueFormat::default()) }))
    }
}
