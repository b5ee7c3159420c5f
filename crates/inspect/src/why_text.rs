//! Why a context does not go on, in words.

use std::fmt::Write;

use crate::inspect::Inspect;
use crate::liveness::{SignalSender, request_places};
use crate::why::{ContextStatus, SignalOrigin};

impl Inspect<'_> {
    /// An answer in sentences, most important first.
    #[must_use]
    pub fn why_text(&self, me: u8, context: u8, why: &ContextStatus) -> Vec<String> {
        let who = format!("ME {me} context {context}");
        let place = |me: u8, at: u16| {
            let core = self.chip().microengines().get(usize::from(me));
            core.map_or_else(|| at.to_string(), |core| core.program().image().place(at))
        };
        match why {
            ContextStatus::Inactive => vec![format!("{who} is not enabled")],
            ContextStatus::Killed { at, since } => vec![format!(
                "{who} exited (ctx_arb[kill]) in cycle {since}, at {}",
                place(me, *at)
            )],
            ContextStatus::Executing { halted: true, .. } => {
                vec![format!("{who} is stopped at a breakpoint")]
            }
            ContextStatus::Executing { held: None, .. } => vec![format!("{who} is executing")],
            ContextStatus::Executing {
                held: Some((since, unit)),
                ..
            } => {
                let full = unit.map_or_else(
                    || "the command bus is busy".to_owned(),
                    |unit| format!("{} accepts no more", unit.name()),
                );
                vec![format!(
                    "{who} is executing, but has been waiting since cycle {since} for room in the command FIFO: {full}"
                )]
            }
            ContextStatus::Ready {
                since,
                executing,
                before,
                stalled_until,
            } => {
                let mut text = format!("{who} has been ready since cycle {since}");
                if let Some(until) = stalled_until {
                    let _ = write!(text, ", but stalled until cycle {until}");
                }
                if let Some(other) = executing {
                    let _ = write!(text, "; context {other} has the pipeline");
                }
                if !before.is_empty() {
                    let before: Vec<_> = before.iter().map(u8::to_string).collect();
                    let (verb, s) = if before.len() > 1 {
                        ("come", "s")
                    } else {
                        ("comes", "")
                    };
                    let _ = write!(text, "; before it {verb} context{s} {}", before.join(", "));
                }
                vec![text]
            }
            ContextStatus::Asleep(asleep) => {
                let names: Vec<_> = asleep.missing.iter().map(|it| it.name.as_str()).collect();
                let joint = if asleep.any { " or " } else { " and " };
                let first = format!(
                    "{who} has been waiting since cycle {} for {}, at {}",
                    asleep.since,
                    names.join(joint),
                    place(me, asleep.at)
                );
                let mut lines = vec![first];
                for missing in &asleep.missing {
                    for sources in missing.sources.chunk_by(in_same_context) {
                        let text = self.source_text(sources, &place);
                        lines.push(format!("{}: {text}", missing.name));
                    }
                    if missing.sources.is_empty() {
                        let mut line = format!("{}: nothing raises it", missing.name);
                        let asks = request_places(self.chip(), me, 1 << missing.signal);
                        if !asks.is_empty() {
                            let _ =
                                write!(line, "; its program asks for it at {}", asks.join("; "));
                        }
                        lines.push(line);
                    } else if !missing.may_arrive() {
                        lines.push(format!(
                            "{}: nothing raises it any more: every context that could is deadlocked",
                            missing.name
                        ));
                    }
                }
                lines
            }
        }
    }

    /// Describes the source of a signal; `sources` has several elements if they are [in the same context](in_same_context).
    fn source_text(&self, sources: &[SignalOrigin], place: &dyn Fn(u8, u16) -> String) -> String {
        let source = sources[0];
        match source {
            SignalOrigin::OnTheWay { due, by: None } => {
                format!("on its way, arrives in cycle {due}")
            }
            SignalOrigin::OnTheWay {
                due,
                by: Some((me, context, pc)),
            } => format!(
                "on its way from ME {me} context {context} at {}, arrives in cycle {due}",
                place(me, pc)
            ),
            SignalOrigin::Timer { due } => format!("its timer fires in cycle {due}"),
            SignalOrigin::Frame { list, before: 0 } => {
                format!("the next frame: it is the first on freelist {list}")
            }
            SignalOrigin::Frame { list, before: 1 } => {
                format!("a frame: 1 context is before it on freelist {list}")
            }
            SignalOrigin::Frame { list, before } => {
                format!("a frame: {before} contexts are before it on freelist {list}")
            }
            SignalOrigin::Command(slot) | SignalOrigin::PossibleCommand(slot) => {
                let Some(flight) = self.flight(slot) else {
                    return "a command in flight".to_owned();
                };
                let what = flight.text(self.now());
                let at = if flight.unsolicited {
                    String::new()
                } else {
                    format!(" at {}", place(flight.command.me, flight.command.pc))
                };
                let may = if matches!(source, SignalOrigin::PossibleCommand(_)) {
                    "perhaps "
                } else {
                    ""
                };
                format!("{may}{what}{at}: {}", flight.location_text())
            }
            SignalOrigin::Sender(it) => {
                let places: Vec<_> = { sources.iter() }
                    .filter_map(|source| match source {
                        SignalOrigin::Sender(it) => Some(place(it.me, it.pc)),
                        _ => None,
                    })
                    .collect();
                let who = format!(
                    "ME {} context {} at {}",
                    it.me,
                    it.context,
                    places.join("; ")
                );
                match (it.alive, it.computed) {
                    (false, _) => format!("would be raised by {who}, but it is deadlocked"),
                    (true, false) => format!("can be raised by {who}"),
                    (true, true) => format!("perhaps by {who}, where it computes the receiver"),
                }
            }
        }
    }
}

/// Whether two sources are instructions of the same context, which one sentence can cover.
fn in_same_context(a: &SignalOrigin, b: &SignalOrigin) -> bool {
    let (SignalOrigin::Sender(a), SignalOrigin::Sender(b)) = (a, b) else {
        return false;
    };
    let pc = b.pc;
    SignalSender { pc, ..*a } == *b
}
