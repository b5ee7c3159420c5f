//! Commands that show state.

use npsim_chip::core::IndexName;
use npsim_image::TransferDirection as Side;
use npsim_inspect::Inspect;
use npsim_inspect::QueueView;
use npsim_isa::{Bank, Operand, Unit};

use super::table::Verb;
use super::{Call, Reply, last_count, show};
use crate::error::DebugError;
use crate::expression::{Expression, Lvalue};
use crate::names::{NamedRegister, Ring, live_at, owner_text};

/// Longwords per line.
const PER_LINE: usize = 4;
/// Maximum number of longwords shown.
const MAX_WORDS: u32 = 4096;

/// Makes the operand for a register of a file from its number.
type RegisterOfFile = fn(u8) -> Operand;

fn value(value: u32) -> String {
    format!("{value} ({value:#x})")
}

impl Call<'_, '_> {
    pub(super) fn look(&mut self, verb: Verb) -> Result<Reply, DebugError> {
        Ok(Reply::lines(match verb {
            Verb::Where => show::where_text(self.debugger, self.thread()?),
            Verb::Contexts => {
                let me = match self.rest {
                    "" => None,
                    rest => Some(self.microengine(rest)?),
                };
                show::contexts_text(self.debugger, me)
            }
            Verb::List => self.list()?,
            Verb::Disassemble => self.disassemble()?,
            Verb::Print => {
                let thread = self.debugger.thread();
                let value = self.debugger.evaluate(self.rest, thread)?;
                vec![format!("{} = {value} ({value:#x})", self.rest)]
            }
            Verb::Names => self.names(),
            Verb::Registers => self.registers(),
            Verb::Signals => self.signals(),
            Verb::Memory => self.memory()?,
            Verb::Rings => self.rings(),
            Verb::Ring => self.ring()?,
            Verb::Flights => self.flights()?,
            Verb::Rbuf => self.rbuf(),
            Verb::Tbuf => self.tbuf(),
            Verb::Cam => self.cam(),
            Verb::Csrs => self.csrs(),
            Verb::Hash => self.hash(),
            Verb::Files => self.debugger.files(),
            _ => self.status(),
        }))
    }

    /// Parses the index of a microengine with a program.
    fn microengine(&self, text: &str) -> Result<u8, DebugError> {
        let threads = self.debugger.threads();
        let mut those: Vec<u8> = threads.iter().map(|it| it.thread.me).collect();
        those.dedup();
        let number = text.parse().ok().filter(|me| those.contains(me));
        number.ok_or_else(|| {
            let those: Vec<_> = those.iter().map(u8::to_string).collect();
            let which = those.join(", ");
            DebugError::new(format!("`{text}` is not a microengine that runs a program"))
                .help(format!("choose one of {which}"))
        })
    }

    fn list(&self) -> Result<Vec<String>, DebugError> {
        let thread = self.debugger.thread();
        let frames = self.debugger.frames(thread);
        let (file, line) = match frames.first() {
            Some(frame) => (frame.file.clone(), frame.line),
            None => (String::new(), 0),
        };
        let (file, line) = if self.rest.is_empty() {
            (file, line)
        } else {
            let (named, number) = self.rest.rsplit_once(':').unwrap_or((&file, self.rest));
            let number = number
                .parse()
                .map_err(|_| DebugError::new(format!("`{number}` is not a line number")))?;
            let cores = self.debugger.chip().microengines().iter();
            let mut files = cores.flat_map(|core| &core.program().image().files);
            let known = files.find(|it| npsim_image::same_file(it, named));
            (known.map_or(named, String::as_str).to_owned(), number)
        };
        let lines = show::listed(self.sources, &file, line);
        if lines.is_empty() {
            return Err(DebugError::new(format!(
                "`{file}` has no line {line} to show"
            )));
        }
        Ok(lines)
    }

    fn disassemble(&self) -> Result<Vec<String>, DebugError> {
        let count: u16 = match self.rest {
            "" => 8,
            rest => rest
                .parse()
                .map_err(|_| DebugError::new(format!("`{rest}` is not a number of words")))?,
        };
        let thread = self.debugger.thread();
        let pc = self.debugger.pc(thread);
        let Some(image) = self.debugger.image(thread.me) else {
            return Ok(Vec::new());
        };
        let first = pc.saturating_sub(count / 2);
        let last = (first + count).min(image.words.len() as u16);
        Ok((first..last)
            .map(|at| {
                let mark = if at == pc { ">" } else { " " };
                let text = image.instruction(at).map_or_else(
                    || format!(".word {:#012x}", image.words[usize::from(at)]),
                    |it| it.to_string(),
                );
                format!("{mark}{at:>5}  {text}")
            })
            .collect())
    }

    fn names(&self) -> Vec<String> {
        let thread = self.debugger.thread();
        let Some(image) = self.debugger.image(thread.me) else {
            return Vec::new();
        };
        let inspect = Inspect::new(self.debugger.chip());
        let Some(view) = inspect.microengine(thread.me) else {
            return Vec::new();
        };
        let come = view.context(thread.context).signals;
        let mut lines = Vec::new();
        for named in live_at(image, self.debugger.point(thread)) {
            match named {
                NamedRegister::Register(symbol, side) => {
                    let Some(it) = view.register(symbol.operand, side, thread.context) else {
                        continue;
                    };
                    let mut text = format!(
                        "{} = {} in {}",
                        symbol.name,
                        value(it.value),
                        symbol.operand
                    );
                    if side == Side::Write {
                        text += " (OUT)";
                    }
                    if it.initialised == Some(false) {
                        text += ", never written";
                    }
                    if let Some(owner) = it.owner {
                        text += ", kept for ";
                        text += &owner_text(&inspect, thread.me, &owner);
                    }
                    lines.push(text);
                }
                NamedRegister::Signal(symbol) => {
                    let has = come >> symbol.number & 1 == 1;
                    let state = if has { "has come" } else { "has not come" };
                    lines.push(format!(
                        "{} is signal {}, {state}",
                        symbol.name, symbol.number
                    ));
                }
            }
        }
        if lines.is_empty() {
            lines.push("no name is live here".to_owned());
        }
        lines
    }

    fn registers(&self) -> Vec<String> {
        let thread = self.debugger.thread();
        let inspect = Inspect::new(self.debugger.chip());
        let Some(view) = inspect.microengine(thread.me) else {
            return Vec::new();
        };
        let each = view.registers_per_context();
        let files: [(&str, RegisterOfFile, Side); 6] = [
            ("a", |n| Operand::Gpr(Bank::A, n), Side::Both),
            ("b", |n| Operand::Gpr(Bank::B, n), Side::Both),
            ("$ in", Operand::STransfer, Side::Read),
            ("$ out", Operand::STransfer, Side::Write),
            ("$$ in", Operand::DTransfer, Side::Read),
            ("$$ out", Operand::DTransfer, Side::Write),
        ];
        let mut lines = Vec::new();
        for (name, make, side) in files {
            for first in (0..each).step_by(8) {
                let words = (first..(first + 8).min(each)).map(|number| {
                    let it = view.register(make(number), side, thread.context);
                    format!("{:08x}", it.map_or(0, |it| it.value))
                });
                let words: Vec<_> = words.collect();
                lines.push(format!("{name:<6} {first:>2}: {}", words.join(" ")));
            }
        }
        lines
    }

    fn signals(&self) -> Vec<String> {
        let thread = self.debugger.thread();
        let core = &self.debugger.chip().microengines()[usize::from(thread.me)];
        let view = core.context(thread.context);
        let pc = self.debugger.pc(thread);
        let image = core.program().image();
        let name = |number| npsim_chip::core::signal_name_at(image, number, pc);
        let list = |mask: u16| -> Vec<String> {
            (1..16).filter(|it| mask >> it & 1 == 1).map(name).collect()
        };
        let line = |what: &str, mask: u16| match list(mask) {
            none if none.is_empty() => format!("{what}: none"),
            some => format!("{what}: {}", some.join(", ")),
        };
        let how = if view.any {
            "waited for, one is enough"
        } else {
            "waited for"
        };
        vec![line("come", view.signals), line(how, view.wakeup)]
    }

    fn memory(&self) -> Result<Vec<String>, DebugError> {
        let (text, count) = last_count(self.rest, 1);
        if count > MAX_WORDS {
            return Err(DebugError::new(format!("{count} longwords are too many"))
                .help(format!("at most {MAX_WORDS} are shown")));
        }
        let thread = self.debugger.thread();
        let scope = self.debugger.scope(thread);
        let expression: Expression = text.parse()?;
        let Lvalue::Word(memory, first) = expression.location(&scope)? else {
            return Err(
                DebugError::new(format!("`{text}` is not a longword of a memory"))
                    .help("write `scratch[0x100]`, `sram0[64]`, `dram[0]` or `lm[0]`"),
            );
        };
        let words = (0..count).map(|n| scope.word(memory, first.saturating_add(4 * n)));
        let words: Vec<_> = words.collect::<Result<_, _>>()?;
        let lines = words.chunks(PER_LINE).enumerate();
        Ok(lines
            .map(|(line, words)| {
                let address = first as usize + 4 * PER_LINE * line;
                let words: Vec<_> = words.iter().map(|word| format!("{word:08x}")).collect();
                format!("{} {address:#010x}: {}", memory.name(), words.join(" "))
            })
            .collect())
    }

    fn rings(&self) -> Vec<String> {
        let thread = self.debugger.thread();
        let scope = self.debugger.scope(thread);
        let units = self.debugger.chip().units();
        let named = self.debugger.names().rings();
        let mut lines: Vec<_> = named
            .iter()
            .map(|(name, ring)| {
                let fill = scope.fill(*ring);
                match ring {
                    Ring::Scratch(number) => {
                        let size = units.scratch.ring(*number).size();
                        format!("{name}, scratch ring {number}: {fill} of {size} longwords")
                    }
                    Ring::Queue { channel, entry } => {
                        format!("{name}, sram{channel}:{entry}: {fill} entries")
                    }
                }
            })
            .collect();
        let inspect = Inspect::new(self.debugger.chip());
        for view in inspect.microengines() {
            let me = view.index();
            if let Some(ring) = inspect.neighbour_ring(me)
                && (!ring.words.is_empty() || ring.under_way > 0)
            {
                lines.push(format!(
                    "next-neighbour ring of microengine {me}: {} longwords, {} in flight",
                    ring.words.len(),
                    ring.under_way
                ));
            }
        }
        if lines.is_empty() {
            lines.push("the project has no rings and queues".to_owned());
        }
        lines
    }

    fn ring(&self) -> Result<Vec<String>, DebugError> {
        let inspect = Inspect::new(self.debugger.chip());
        let hex = |words: &[u32]| -> Vec<String> {
            let lines = words.chunks(8).enumerate();
            lines
                .map(|(line, words)| {
                    let words: Vec<_> = words.iter().map(|word| format!("{word:08x}")).collect();
                    format!("  {:>4}: {}", line * 8, words.join(" "))
                })
                .collect()
        };
        let (title, words) = match self.debugger.names().ring(self.rest)? {
            Ring::Scratch(number) => {
                let ring = inspect.ring(number);
                let ring = ring.ok_or_else(|| DebugError::new("there is no such ring"))?;
                let title = format!(
                    "scratch ring {number} at {:#x}: {} of {} longwords, the oldest first",
                    ring.address,
                    ring.words.len(),
                    ring.size
                );
                (title, ring.words)
            }
            Ring::Queue { channel, entry } => {
                let queue = inspect.queue(channel, entry);
                let queue = queue.ok_or_else(|| DebugError::new("there is no such queue"))?;
                let QueueView {
                    count,
                    buffers,
                    words,
                    ..
                } = queue;
                let title = format!("sram{channel}:{entry}: {count} entries, the first first");
                (title, buffers.unwrap_or(words))
            }
        };
        let mut lines = vec![title];
        lines.extend(hex(&words));
        Ok(lines)
    }

    /// The names of the inlets that commands are sent to: `scratch`, `sram0`, `sram1`.
    fn targets(&self) -> Vec<String> {
        let profile = self.debugger.chip().profile();
        let channels = |unit: &str| {
            let mut all = profile.parameters();
            all.find(|it| it.group == unit && it.name == "channels")
        };
        let names = Unit::ALL.iter().map(|unit| unit.info().name);
        names
            .flat_map(|name| match channels(name) {
                Some(channels) => (0..channels.value.number().unwrap_or(0))
                    .map(|it| format!("{name}{it}"))
                    .collect(),
                None => vec![name.to_owned()],
            })
            .collect()
    }

    fn flights(&self) -> Result<Vec<String>, DebugError> {
        let targets = self.targets();
        if !self.rest.is_empty() && !targets.iter().any(|it| *it == self.rest) {
            let message = format!("there is no unit `{}`", self.rest);
            let help = format!("choose one of {}", targets.join(", "));
            return Err(DebugError::new(message).help(help));
        }
        let inspect = Inspect::new(self.debugger.chip());
        let flights = inspect.flights().iter();
        let those = flights.filter(|it| self.rest.is_empty() || it.target.name() == self.rest);
        let lines: Vec<_> = those
            .map(|it| format!("{}: {}", it.text(inspect.now()), it.location_text()))
            .collect();
        Ok(if lines.is_empty() {
            vec!["no command is in flight".to_owned()]
        } else {
            lines
        })
    }

    fn rbuf(&self) -> Vec<String> {
        let inspect = Inspect::new(self.debugger.chip());
        let taken = inspect.rbuf().filter_map(|it| {
            let who = show::holder_text(it.holder)?;
            let packet = it.frame.map(|frame| format!(", packet {frame}"));
            let (element, port, bytes) = (it.element, it.port, it.bytes);
            let packet = packet.unwrap_or_default();
            Some(format!(
                "element {element} {who}{packet}, port {port}, {bytes} bytes"
            ))
        });
        let mut lines: Vec<_> = taken.collect();
        let waiting = inspect.freelists().map(|it| {
            let (me, context) = (it.waiter.me, it.waiter.context);
            format!(
                "{me}.{context} waits on freelist {}, {} before it",
                it.list, it.before
            )
        });
        lines.extend(waiting);
        if lines.is_empty() {
            lines.push("no element is taken and no thread waits".to_owned());
        }
        lines
    }

    fn tbuf(&self) -> Vec<String> {
        let inspect = Inspect::new(self.debugger.chip());
        let valid = inspect.tbuf().filter_map(|it| {
            let since = it.valid_since?;
            let packet = it.frame.map(|frame| format!(", packet {frame}"));
            let packet = packet.unwrap_or_default();
            let next = if it.next { ", sent next" } else { "" };
            Some(format!(
                "element {} is valid since cycle {since}{packet}{next}",
                it.element
            ))
        });
        let lines: Vec<_> = valid.collect();
        if lines.is_empty() {
            return vec!["no element is valid".to_owned()];
        }
        lines
    }

    fn cam(&self) -> Vec<String> {
        let me = self.debugger.thread().me;
        let inspect = Inspect::new(self.debugger.chip());
        let cam = inspect.microengine(me).map(|it| it.cam());
        let entries = cam.iter().flatten().enumerate();
        entries
            .map(|(entry, (tag, state))| format!("{entry:>2}: tag {tag:#010x}, state {state}"))
            .collect()
    }

    fn csrs(&self) -> Vec<String> {
        let thread = self.debugger.thread();
        let inspect = Inspect::new(self.debugger.chip());
        let Some(view) = inspect.microengine(thread.me) else {
            return Vec::new();
        };
        let csrs = view.csrs(thread.context);
        let mut lines: Vec<_> = csrs
            .map(|it| format!("{:<28} {:08x}", it.name, it.value))
            .collect();
        // Pending writes belong to the executing context.
        if view.executing() == Some(thread.context) {
            let writes = view.index_writes().into_iter().map(|it| {
                let (name, what) = match it.index {
                    IndexName::LocalMemory(pointer) => {
                        (format!("ACTIVE_LM_ADDR_{pointer}"), "longword ")
                    }
                    IndexName::Transfer => ("T_INDEX".to_owned(), "register "),
                    IndexName::Byte => ("BYTE_INDEX".to_owned(), ""),
                };
                format!(
                    "{name} becomes {what}{} at cycle {}, written at cycle {}",
                    it.value, it.effective, it.issued
                )
            });
            lines.extend(writes);
        }
        lines
    }

    fn hash(&self) -> Vec<String> {
        let multipliers = Inspect::new(self.debugger.chip()).hash_multipliers();
        let widths = [48_usize, 64, 128].into_iter().zip(multipliers);
        widths
            .map(|(bits, multiplier)| {
                let digits = bits / 4;
                format!("{bits:>3} bits: multiplier {multiplier:0digits$x}")
            })
            .collect()
    }

    fn status(&self) -> Vec<String> {
        let timeline = self.debugger.timeline();
        let hertz = timeline.hertz();
        let at = |cycle| format!("cycle {cycle} ({})", show::time_text(cycle, hertz));
        let (bytes, states) = timeline.memory();
        let mut lines = vec![
            format!("at {}", at(self.debugger.cycle())),
            format!("seen up to {}", at(timeline.recorded_to())),
            format!("{states} states of the past in {} KiB", bytes >> 10),
        ];
        if let Some(end) = timeline.end() {
            lines.push(format!(
                "{}, at {}",
                crate::view::end_text(&end.ending),
                at(end.cycle)
            ));
        }
        let changes = timeline.changes();
        if !changes.is_empty() {
            let changes: Vec<_> = changes.iter().map(ToString::to_string).collect();
            lines.push(format!("changed by hand in cycle {}", changes.join(", ")));
        }
        lines
    }
}
