//! Flame graphs: cycles by microengine, nested macros (outermost first) and source line; for a program of the core,
//! by its call stacks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::chart::svg::escaped;
use npsim_observe::names;
use npsim_observe::profile::{MicroengineProfile, Profile, ProgramProfile, WaitEnd, chain};

/// The cycles that a flame graph shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flame {
    /// Cycles of the pipelines: each microengine, and a program of the core, accounts for all cycles of the run,
    /// including idle ones.
    Pipeline,
    /// Cycles in which contexts waited or were ready while another ran.
    Waits,
}

/// The stacks of a profile and their cycles, ordered by stack.
fn stacks(profile: &Profile, what: Flame) -> BTreeMap<Vec<String>, u64> {
    let mut stacks = BTreeMap::new();
    for me in &profile.microengines {
        let mut add = |stack: Vec<String>, leaf: &str, cycles: u64| {
            if cycles > 0 {
                let stack = stack.into_iter().chain([leaf.to_owned()]).collect();
                *stacks.entry(stack).or_default() += cycles;
            }
        };
        for (address, word) in me.words.iter().enumerate() {
            let stack = || stack(me, address);
            match what {
                Flame::Pipeline => {
                    add(stack(), "issued", word.issued);
                    add(stack(), "aborted", word.aborted);
                    add(stack(), "stalled on the command FIFO", word.stalled);
                }
                Flame::Waits => add(stack(), "ready, another runs", word.ready),
            }
        }
        match what {
            Flame::Pipeline => add(vec![microengine(me)], "idle", me.idle),
            Flame::Waits => {
                for wait in &me.waits {
                    let reason = match wait.waited {
                        WaitEnd::Signalled { signal, cause, .. } => format!(
                            "waits for {} ({})",
                            names::cause(cause),
                            names::signal(&me.image, signal, wait.pc)
                        ),
                        WaitEnd::Unfinished(mask) => format!(
                            "asleep at the end of the run, for {}",
                            names::signals(&me.image, mask, false, wait.pc)
                        ),
                        WaitEnd::ConditionChanged => "waits for a CSR write".to_owned(),
                    };
                    add(stack(me, usize::from(wait.pc)), &reason, wait.cycles);
                }
            }
        }
    }
    for program in &profile.programs {
        add_program(&mut stacks, program, what);
    }
    stacks
}

/// Adds the call stacks of a program of the core.
fn add_program(stacks: &mut BTreeMap<Vec<String>, u64>, program: &ProgramProfile, what: Flame) {
    let core = format!("core {}", program.name);
    let mut add = |stack: &[&str], leaf: &str, cycles: u64| {
        if cycles > 0 {
            let stack = [core.as_str()].into_iter().chain(stack.iter().copied());
            let stack = stack.chain([leaf]).map(str::to_owned).collect();
            *stacks.entry(stack).or_default() += cycles;
        }
    };
    for (index, stack) in program.stacks.iter().enumerate() {
        let (path, own) = (program.path(index), &stack.own);
        match what {
            Flame::Pipeline => {
                add(&path, "instructions", own.instructions);
                add(&path, "accesses", own.accesses);
                add(&path, "repeats a loop", own.polling);
                add(&[], "idle", own.waiting + own.held + own.ended);
            }
            Flame::Waits => {
                add(&path, "waits for an interrupt", own.waiting);
                add(&path, "ready, another task runs", own.held);
            }
        }
    }
}

fn microengine(me: &MicroengineProfile) -> String {
    format!("microengine {} {}", me.index, me.image.name)
}

fn stack(me: &MicroengineProfile, address: usize) -> Vec<String> {
    let places = chain(&me.image, address);
    let mut stack = vec![microengine(me)];
    // From the outermost use inwards.
    stack.extend(
        places
            .iter()
            .rev()
            .filter_map(|place| place.within.map(|(name, _)| name.to_owned())),
    );
    stack.push(match places.first().and_then(|place| place.line) {
        Some((file, line)) => format!("{file}:{line}"),
        None => format!("{}+{address}", me.image.name),
    });
    stack
}

/// Formats stacks for flame graph tools: one line per stack, with its frames separated by semicolons and its cycles.
#[must_use]
pub fn folded(profile: &Profile, what: Flame) -> String {
    let mut text = String::new();
    for (stack, cycles) in stacks(profile, what) {
        let frames: Vec<_> = stack.iter().map(|frame| frame.replace(';', ",")).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{} {cycles}", frames.join(";"));
    }
    text
}

/// A frame of the graph.
#[derive(Default)]
struct FlameFrame {
    cycles: u64,
    inner: BTreeMap<String, FlameFrame>,
}

impl FlameFrame {
    fn depth(&self) -> usize {
        1 + self.inner.values().map(Self::depth).max().unwrap_or(0)
    }
}

/// In pixels.
const WIDTH: u64 = 1200;
const ROW: usize = 18;
const MARGIN: u64 = 10;
const HEAD: usize = 50;
/// Width reserved for the search button.
const SEARCH: u64 = 60;
/// Units per pixel.
const FINE: u64 = 1000;
/// Maximum width of a letter in common fonts, in thousandths of a pixel.
const LETTER: u64 = 7250;
/// Total margin beside a frame's name, in thousandths of a pixel.
const FREE: u64 = 6000;

/// The script for browsers; the graph is complete without it.
const SCRIPT: &str = include_str!("flame.js");

/// Draws the flame graph: frames are stacked on the frames that contain them, and as wide as their cycles. Hovering
/// over one shows its name and cycles, clicking expands it to the full width, and names can be searched for.
#[must_use]
pub fn svg(profile: &Profile, what: Flame) -> String {
    let mut root = FlameFrame::default();
    for (stack, cycles) in stacks(profile, what) {
        root.cycles += cycles;
        let mut frame = &mut root;
        for name in stack {
            frame = frame.inner.entry(name).or_default();
            frame.cycles += cycles;
        }
    }
    let height = HEAD + root.depth() * ROW + 10;
    let title = match what {
        Flame::Pipeline => "Cycles of the pipelines",
        Flame::Waits => "Cycles that contexts waited",
    };
    let mut out = String::new();
    let _ = write!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" data-width=\"{WIDTH}\" data-margin=\"{MARGIN}\" data-letter=\"{}\">\n\
         <style>text {{ font: 12px monospace; fill: #1b1b1b; pointer-events: none }} rect {{ stroke: #fff; stroke-width: 0.5 }} g.f {{ cursor: pointer }} g:hover > rect {{ stroke: #000 }} #search {{ pointer-events: auto; cursor: pointer; text-decoration: underline }}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fdfdfd\"/>\n\
         <text x=\"{MARGIN}\" y=\"28\" style=\"font-size: 16px\">{title}: {} in {} cycles of the run</text>\n\
         <text id=\"search\" x=\"{}\" y=\"28\" text-anchor=\"end\">Search</text>\n\
         <text id=\"found\" x=\"{}\" y=\"28\" text-anchor=\"end\"></text>\n",
        decimal(LETTER),
        root.cycles,
        profile.cycles,
        WIDTH - MARGIN,
        WIDTH - MARGIN - SEARCH,
    );
    let whole = root.cycles.max(1);
    draw(&mut out, "all", &root, (0, height - 10 - ROW), whole);
    let _ = write!(out, "<script><![CDATA[\n{SCRIPT}]]></script>\n</svg>\n");
    out
}

fn draw(out: &mut String, name: &str, frame: &FlameFrame, (start, y): (u64, usize), whole: u64) {
    let span = (WIDTH - 2 * MARGIN) * FINE;
    let scale = |cycles: u64| (u128::from(cycles) * u128::from(span) / u128::from(whole)) as u64;
    let (x, end) = (scale(start), scale(start + frame.cycles));
    let width = end - x;
    if width < FINE / 5 {
        return;
    }
    let x = x + MARGIN * FINE;
    let _ = write!(
        out,
        "<g class=\"f\"><title>{}: {} cycles, {}</title><rect x=\"{}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
        escaped(name),
        frame.cycles,
        share(frame.cycles, whole),
        decimal(x),
        decimal(width),
        ROW - 1,
        colour(name)
    );
    let letters = (width.saturating_sub(FREE) / LETTER) as usize;
    if letters >= 3 {
        let mut shown: String = name.chars().take(letters).collect();
        if name.chars().count() > letters {
            shown = name.chars().take(letters - 2).chain("..".chars()).collect();
        }
        let _ = write!(
            out,
            "<text x=\"{}\" y=\"{}\">{}</text>",
            decimal(x + 3 * FINE),
            y + 13,
            escaped(&shown)
        );
    }
    out.push_str("</g>\n");
    let mut at = start;
    for (name, inner) in &frame.inner {
        draw(out, name, inner, (at, y - ROW), whole);
        at += inner.cycles;
    }
}

/// Formats thousandths as a decimal number.
fn decimal(thousandths: u64) -> String {
    format!("{}.{:03}", thousandths / FINE, thousandths % FINE)
}

/// Formats a share in percent, rounded down to hundredths.
fn share(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part) * 10_000 / u128::from(whole);
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

/// The colour of a frame: fixed ones for activities, warm ones for lines and macros, varied to distinguish
/// neighbours.
fn colour(name: &str) -> String {
    let fixed = match name {
        "issued" | "instructions" => Some("#8ac926"),
        "aborted" => Some("#ff595e"),
        "stalled on the command FIFO" | "accesses" => Some("#9d4edd"),
        "idle" => Some("#d9d9d9"),
        "ready, another runs" | "ready, another task runs" => Some("#ffca3a"),
        _ if name.starts_with("waits for") || name.starts_with("still waits") => Some("#6fa8dc"),
        _ => None,
    };
    fixed.map_or_else(
        || {
            let mixed = name.bytes().fold(0_u32, |sum, byte| {
                sum.wrapping_mul(31).wrapping_add(u32::from(byte))
            });
            format!("hsl({},75%,{}%)", 20 + mixed % 35, 62 + mixed / 64 % 16)
        },
        str::to_owned,
    )
}
