//! Python tasks of the core that answer packets.

use std::collections::VecDeque;
use std::sync::Arc;

use npsim::chip::Cycle;
use npsim::chip::gpp::exceptions::Exception;
use npsim::chip::gpp::lookup::TablePlace;
use npsim::chip::gpp::packets::{Descriptor, PacketSender};
use npsim::chip::gpp::{Access, LoadError, Memories, NextAction, Start, Task};
use npsim::chip::kernel::row::Row;
use npsim::project::keys::Spanned;
use npsim::project::registry::{PlannedTask, TaskKind};
use npsim::project::resolve::Resolver;
use npsim::protocols::routed_reply::{ReplyOutcome, RoutedReply};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};

use crate::instance::Instance;
use crate::keys::{Keys, as_json};
use crate::kind_name::KindName;

/// Maximum number of packets waiting for a task; more are refused.
const MAX_WAITING: usize = 64;
/// Bytes of an Ethernet header.
const LINK_HEADER: usize = 14;
/// Position of the destination address in an IPv4 datagram.
const DESTINATION: std::ops::Range<usize> = 16..20;

/// An exception packet that microcode passed to the core, as seen by a task written in Python.
#[pyclass(frozen, get_all, module = "npsim")]
pub struct SlowPathPacket {
    /// The cycle in which the core took the packet off its ring.
    cycle: u64,
    /// The microcode's reason code.
    reason: u8,
    /// The input port.
    port: u32,
    /// The length of the frame in bytes, without the frame check sequence.
    length: u32,
    /// The first 64 bytes of the frame, or all of a shorter frame.
    header: Py<PyBytes>,
}

impl SlowPathPacket {
    fn of(py: Python<'_>, packet: &Exception) -> Self {
        let Descriptor { length, input, .. } = Descriptor::of(packet);
        Self {
            cycle: packet.cycle,
            reason: packet.reason,
            port: input,
            length,
            header: PyBytes::new(py, &packet.header).unbind(),
        }
    }
}

/// A Python class as a kind of task.
pub struct PacketTaskKind {
    pub name: KindName,
    pub class: Arc<Py<PyAny>>,
}

impl TaskKind for PacketTaskKind {
    const NAME: &'static str = "python";
    const LISTED: bool = false;
    type Keys = Keys;

    fn resolve(&self, section: &Spanned<Keys>, resolver: &mut Resolver<'_>) -> Option<PlannedTask> {
        let before = resolver.mistakes();
        let (span, keys) = (section.span(), section.get_ref());
        let ring = keys.get("ring").and_then(|ring| {
            let name = ring.get_ref().as_str()?;
            Some(Spanned::new(ring.span(), name.to_owned()))
        });
        let Some(ring) = ring else {
            let message = format!(
                "the task `{}` has no ring by which its answers leave",
                self.name.0
            );
            resolver.fail(span, message, "", "name it: `ring = \"CORE_RING\"`");
            return None;
        };
        let sender = resolver.sender(&ring);
        let table = resolver.table_place(span.clone());
        resolver.require_exceptions(self.name.0, span, before);
        (resolver.mistakes() == before).then_some(())?;
        let class = Python::attach(|py| self.class.clone_ref(py));
        Some(PlannedTask {
            text: format!(
                "answers packets by ring {}, in Python",
                sender.as_ref()?.ring
            ),
            task: Box::new(PacketTask {
                name: self.name,
                instance: Instance::new(class, as_json(keys)),
                sender: sender?,
                table: table?,
                waiting: VecDeque::new(),
                job: None,
                counts: Counts::default(),
            }),
        })
    }
}

/// Counters of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Counts {
    answered: u64,
    handed_on: u64,
    silent: u64,
    given_up: u64,
}

/// A packet being answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Job {
    packet: Exception,
    /// The frame as far as it has been read.
    frame: Vec<u8>,
    reply: Option<RoutedReply>,
    /// Whether the reply is an answer, rather than only freeing the buffer.
    answers: bool,
}

/// A task that answers packets.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PacketTask {
    name: KindName,
    instance: Instance,
    sender: PacketSender,
    table: TablePlace,
    waiting: VecDeque<Exception>,
    job: Option<Job>,
    counts: Counts,
}

impl PacketTask {
    /// The answer to a completely read frame, as returned by Python.
    fn answer(&mut self, packet: Exception, frame: &[u8]) -> (RoutedReply, bool) {
        let answer = self.instance.call("answer", |answer| {
            let py = answer.py();
            let about = SlowPathPacket::of(py, &packet);
            let answer = answer.call1((about, PyBytes::new(py, frame)))?;
            answer.extract::<Option<Vec<u8>>>().map_err(|_| {
                let kind = answer.get_type().name();
                let kind = kind.map_or_else(|_| String::new(), |it| it.to_string());
                PyTypeError::new_err(format!(
                    "`answer` gives a {kind}; give the bytes of a datagram of IPv4, or None"
                ))
            })
        });
        match answer.flatten() {
            None => (RoutedReply::none(packet), false),
            Some(datagram) if datagram.len() < DESTINATION.end => {
                self.instance.call("answer", |_| {
                    Err::<(), _>(PyValueError::new_err(format!(
                        "an answer of {} bytes is not an IPv4 datagram",
                        datagram.len()
                    )))
                });
                (RoutedReply::none(packet), false)
            }
            Some(datagram) => {
                let to = datagram[DESTINATION].iter();
                let to = to.fold(0, |to, byte| to << 8 | u32::from(*byte));
                (RoutedReply::new(packet, &datagram, to, self.table), true)
            }
        }
    }

    fn begin(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let Some(packet) = self.waiting.pop_front() else {
            let next = NextAction::Wait { cost: 0, due: None };
            return ("nothing", next);
        };
        self.job = Some(Job {
            frame: packet.header.clone(),
            packet,
            reply: None,
            answers: false,
        });
        ("make the answer", NextAction::After(access.costs().reply))
    }

    /// Reads the rest of the packet, or makes the next access of the answer.
    fn continue_job(
        &mut self,
        mut job: Job,
        access: &mut Access<'_>,
    ) -> (&'static str, NextAction) {
        let length = Descriptor::of(&job.packet).length;
        let known = job.frame.len() as u32;
        if known < length {
            let (bytes, cost) = self
                .sender
                .read(job.packet.buffer, known, length - known, access);
            job.frame.extend_from_slice(&bytes);
            // A frame longer than its buffer is answered as if it ended there.
            job.packet.descriptor[1] = job.frame.len() as u32;
            self.job = Some(job);
            return ("read the rest of the packet", NextAction::After(cost));
        }
        let mut reply = if let Some(reply) = job.reply.take() {
            reply
        } else {
            job.frame.truncate(length as usize);
            let (reply, answers) = self.answer(job.packet.clone(), &job.frame);
            job.answers = answers;
            reply
        };
        let (doing, outcome, cost) = reply.step(&self.sender, access);
        match outcome {
            ReplyOutcome::InProgress => {
                job.reply = Some(reply);
                self.job = Some(job);
                return (doing, NextAction::After(cost));
            }
            ReplyOutcome::GivenUp if job.answers => self.counts.given_up += 1,
            ReplyOutcome::GivenUp => self.counts.silent += 1,
            ReplyOutcome::Sent => self.counts.answered += 1,
            ReplyOutcome::Delegated => {
                self.counts.answered += 1;
                self.counts.handed_on += 1;
            }
        }
        let next = NextAction::next_packet(access.now(), cost, !self.waiting.is_empty());
        (doing, next)
    }
}

impl Task for PacketTask {
    fn name(&self) -> &'static str {
        self.name.0
    }

    fn prepare(&mut self, _: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        // The object is made here, so that a failing class ends the run at once.
        self.instance.call("answer", |_| Ok(()));
        Ok(Some(1))
    }

    fn is_timer(&self) -> bool {
        false
    }

    fn polls(&self) -> bool {
        false
    }

    fn held_buffers(&self) -> Vec<u32> {
        let waiting = self.waiting.iter().map(|packet| packet.buffer);
        let job = self.job.iter().map(|job| job.packet.buffer);
        waiting.chain(job).collect()
    }

    fn made(&self) -> u64 {
        self.counts.answered - self.counts.handed_on
    }

    fn offer(&mut self, packet: &Exception, _: Cycle) -> bool {
        if self.waiting.len() >= MAX_WAITING || packet.header.len() < LINK_HEADER {
            return false;
        }
        let taken = self.instance.call("takes", |takes| {
            takes
                .call1((SlowPathPacket::of(takes.py(), packet),))?
                .is_truthy()
        });
        if taken != Some(true) {
            return false;
        }
        self.waiting.push_back(packet.clone());
        true
    }

    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        match self.job.take() {
            None => self.begin(access),
            Some(job) => self.continue_job(job, access),
        }
    }

    fn rows(&self, _: Memories<'_>) -> Vec<Row> {
        let Counts {
            answered,
            silent,
            given_up,
            ..
        } = self.counts;
        let row = Row::default().with("answered", answered);
        vec![row.with("silent", silent).with("given_up", given_up)]
    }

    fn summary(&self, _: Memories<'_>) -> Vec<String> {
        let Counts {
            answered,
            silent,
            given_up,
            ..
        } = self.counts;
        vec![format!(
            "{answered} answered, {silent} taken and not answered, {given_up} answers without a way"
        )]
    }

    fn is_compatible_with(&self, saved: &Self) -> bool {
        (self.name, &self.sender) == (saved.name, &saved.sender)
    }
}
