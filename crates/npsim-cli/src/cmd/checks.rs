//! `npsim checks`: lists the checks that stop a run.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use npsim::problem::Problem;
use npsim_asm::codes;
use npsim_chip::kernel::check::Check;
use npsim_session::text_table::TextTable;
use serde::Serialize;

use super::format::{self, Format};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim checks             all of them
  npsim checks rbuf-leak   one of them: why it stops the run and what to do";

/// List the checks that stop a run, for `npsim run --allow`
///
/// Silicon carries on where these stop; each catches a mistake that is hard to find
/// otherwise. Run firmware that relies on such behaviour with `--allow NAME`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The name in brackets in the message that stopped a run
    name: Option<String>,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

/// A check, as JSON.
#[derive(Serialize)]
struct CheckOutput {
    name: &'static str,
    explanation: &'static str,
    why: &'static str,
    remedy: &'static str,
}

impl CheckOutput {
    fn of(check: Check) -> Self {
        let (why, remedy) = advice(check);
        Self {
            name: check.name(),
            explanation: check.explanation(),
            why,
            remedy,
        }
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    if let Some(name) = &arguments.name {
        let check: Check = name.parse().map_err(|_| unknown(name))?;
        let told = CheckOutput::of(check);
        if arguments.format.is_json() {
            format::json(&told)?;
            return Ok(ExitCode::SUCCESS);
        }
        let CheckOutput { why, remedy, .. } = told;
        writeln!(
            text,
            "{name}: {}\n\n{why}\n\n{remedy}\n",
            check.explanation()
        )?;
        writeln!(
            text,
            "Firmware that relies on this can be run with `--allow {name}`."
        )?;
    } else if arguments.format.is_json() {
        format::json(
            &Check::ALL
                .iter()
                .copied()
                .map(CheckOutput::of)
                .collect::<Vec<_>>(),
        )?;
        return Ok(ExitCode::SUCCESS);
    } else {
        let mut table = TextTable::list();
        for check in Check::ALL {
            table.add_row([check.name(), check.explanation()]);
        }
        text = table.fitted(output::width()) + "\n";
    }
    output::print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(name: &str) -> Problem {
    let problem = Problem::new(format!("there is no check `{name}`"));
    if codes::explain(name).is_some() {
        return problem.help(format!(
            "it is a message of the assembler: `npsim codes {name}` explains it"
        ));
    }
    problem
        .help("`npsim checks` lists them")
        .suggest(name, Check::ALL.iter().map(|check| check.name()))
}

/// What goes wrong on silicon, and how to fix it.
const fn advice(check: Check) -> (&'static str, &'static str) {
    match check {
        Check::TransferInFlight => (
            "A unit fills or empties transfer registers at a time of its own; what is read or \
             written meanwhile is the old value or half of the new one.",
            "Wait for the command's signal before touching its registers.",
        ),
        Check::UninitialisedRead => (
            "On silicon a register holds an arbitrary value after power-up.",
            "Write the register on every path to the read, or give it a value with `.init`.",
        ),
        Check::Deadlock => (
            "Nothing is in flight that could raise a signal that a context waits for, so the \
             microengines sleep for ever.",
            "See which context waits for what: the command that raises the signal was never issued, names \
             another signal, or was waited for already.",
        ),
        Check::NeverWoken => (
            "The context that should have raised the signal sleeps for ever too, has taken another \
             path, or does not exist. Others that poll make the chip look busy meanwhile.",
            "Follow the signal: a turn has to be passed on even where a packet is dropped. A \
             context that has nothing more to do exits with ctx_arb[kill].",
        ),
        Check::NeverYields => (
            "Nothing takes the pipeline from a context: the others of its microengine wait until \
             it yields, and a loop without end stops them all.",
            "Let the loop come to an end, or yield in it: wait for a signal with \
             `ctx_arb`, or read what it waits for anew in each round.",
        ),
        Check::RbufLeak => (
            "The receive buffer has few elements; each one that is not given back is lost, and \
             when none is left the ports take in nothing more.",
            "Write the element's number to RBUF_ELEMENT_DONE on every path, also where a packet \
             is dropped.",
        ),
        Check::BufferLeak => (
            "Buffers that are not given back are missing later: when the freelist is empty, \
             every packet is dropped.",
            "Give the buffer back on every path on which its packet ends: where it is sent, where \
             it is dropped, and where it cannot be handed on.",
        ),
        Check::RbufDoubleFree => (
            "An element on the free list twice is filled with two packets at once.",
            "Free each element once, after its data has been moved: wait for the move's signal \
             and do not free it again where a packet is dropped later.",
        ),
        Check::LocalMemoryEarly => (
            "A write of a local-memory address takes effect some instructions later; an access \
             before that goes to the old address.",
            "Put three instructions between `local_csr_wr` of the address and the first access.",
        ),
        Check::SignalRaisedTwice => (
            "A signal is one bit: of two events that raise it, one is lost.",
            "Wait for the first command's signal before issuing the second, or use another signal.",
        ),
        Check::RingOverflow => (
            "A put does not wait for room; it writes over what has not been taken yet.",
            "Test the ring's state before the put (`br_inp_state`), make the ring larger, or let \
             its consumer be faster.",
        ),
        Check::LostUpdate => (
            "Between a read and the write that follows from it another context reads the same \
             value; of the two writes the first is lost.",
            "Use one atomic operation, or read and write under a lock that all take, or in a turn.",
        ),
        Check::DeferSlotEntry => (
            "Instructions in the defer slots of a branch are executed with that branch; a \
             branch into them from elsewhere executes only a part of them.",
            "Move the label before the branch or after its defer slots.",
        ),
        Check::CoreUnwrittenRead => (
            "Memory that nothing has written holds what was left in it; a pointer that was not set \
             leads there.",
            "Follow the pointer to where it should be set. Memory that microengines write for the program \
             is to have a [[memory]] section.",
        ),
        Check::CoreCodeWrite => (
            "The processor may have the old instruction in its cache or run the new one: which of them is undefined.",
            "Follow the pointer that leads into the code. A program that changes itself invalidates the \
             instruction cache behind each change.",
        ),
        Check::CoreStack => (
            "Below the stack lies other data of the program, which is overwritten silently.",
            "Give the stack more room in the linker script, or end the recursion sooner.",
        ),
        Check::CoreEndlessWait => (
            "The processor stops for ever, and all its work with it.",
            "Enable the interrupt that is waited for, at each level of the interrupt controller; a program that \
             has nothing more to do returns from `main`, or ends in `halt` or `_exit`.",
        ),
        Check::CoreUnpredictable => (
            "The architecture leaves open what such an instruction does; processors differ.",
            "Align the address to the size of the access, and use registers that the instruction allows.",
        ),
        Check::CoreDivision => (
            "The processor has no divider: the compiler's function returns something and goes on.",
            "Look at the divisor before the division.",
        ),
    }
}
