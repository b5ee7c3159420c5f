//! The profile as text.

mod program_text;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;

use npsim_project::assemble::Program;
use npsim_project::quantity::grouped;

use npsim_observe::names;
use npsim_observe::profile::{LineCycles, Profile, Stage, WaitEnd, stages};
use npsim_session::text_table::TextTable;

/// Maximum number of characters shown of a source line.
const MAX_WIDTH: usize = 60;

/// Which source lines are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineLimit {
    /// The lines that took most pipeline cycles.
    Top(usize),
    /// All lines of all sources, in order.
    All,
}

impl FromStr for LineLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse::<usize>()) {
            ("all", _) => Ok(Self::All),
            (_, Ok(count)) if count > 0 => Ok(Self::Top(count)),
            _ => Err("give a number of lines from 1, or `all`".to_owned()),
        }
    }
}

/// Formats, for each stage, the cycles of its microengines and contexts, its lines, its macros
/// and what its contexts waited for, in tables of at most `width` columns.
#[must_use]
pub fn overview(profile: &Profile, programs: &[Program], shown: LineLimit, width: usize) -> String {
    let mut out = String::new();
    let packets = match profile.packets {
        0 => String::new(),
        1 => ", 1 packet sent".to_owned(),
        n => format!(
            ", {} packets sent: one every {} cycles",
            grouped(n),
            tenths(profile.cycles, n)
        ),
    };
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "profile of {} cycles{packets}",
        grouped(profile.cycles)
    );
    for stage in stages(profile) {
        let sources = Texts::new(&stage, programs);
        let _ = write!(out, "\n{}\n\n", heading(&stage));
        out.push_str(&pipeline(profile, &stage, width));
        out.push('\n');
        if let LineLimit::Top(count) = shown {
            out.push_str(&top_lines(profile, &stage, &sources, (count, width)));
        }
        out.push_str(&macros(profile, &stage, (shown, width)));
        out.push_str(&waits(&stage, shown, width));
    }
    for program in &profile.programs {
        out.push_str(&program_text::overview(profile, program, shown, width));
    }
    if shown == LineLimit::All {
        out.push('\n');
        out.push_str(&annotated(profile, programs));
    }
    out
}

/// Formats the sources of all stages, each line preceded by its cycles.
#[must_use]
pub(crate) fn annotated(profile: &Profile, programs: &[Program]) -> String {
    let mut out = String::new();
    for stage in stages(profile) {
        let sources = Texts::new(&stage, programs);
        let mut files: BTreeMap<&str, BTreeMap<u32, &LineCycles>> = BTreeMap::new();
        for line in &stage.lines {
            files.entry(&line.file).or_default().insert(line.line, line);
        }
        for (file, lines) in files {
            let _ = writeln!(out, "{file}, as {} runs it\n", numbered(&stage));
            let _ = writeln!(
                out,
                "{:>12} {:>10} {:>10} {:>12} {:>12}",
                "issued", "aborted", "stalled", "waited", "ready"
            );
            let count = sources.lines(file).unwrap_or(0);
            let last = lines.keys().next_back().copied().unwrap_or(0);
            for number in 1..=count.max(last) {
                let text = sources.text(file, number).unwrap_or_default();
                let figures = match lines.get(&number) {
                    Some(line) => [
                        line.all.issued,
                        line.all.aborted,
                        line.all.stalled,
                        line.all.waiting,
                        line.all.ready,
                    ]
                    .map(|n| if n == 0 { ".".to_owned() } else { grouped(n) }),
                    None => Default::default(),
                };
                let [issued, aborted, stalled, waited, ready] = figures;
                let line = format!(
                    "{issued:>12} {aborted:>10} {stalled:>10} {waited:>12} {ready:>12} {number:>5}  {text}"
                );
                let _ = writeln!(out, "{}", line.trim_end());
            }
            out.push('\n');
        }
    }
    out
}

fn heading(stage: &Stage<'_>) -> String {
    format!("{} on {}", stage.source, numbered(stage))
}

fn numbered(stage: &Stage<'_>) -> String {
    let numbers: Vec<_> = stage
        .microengines
        .iter()
        .map(|me| me.index.to_string())
        .collect();
    match numbers.as_slice() {
        [one] => format!("microengine {one}"),
        many => format!("microengines {}", many.join(", ")),
    }
}

fn pipeline(profile: &Profile, stage: &Stage<'_>, width: usize) -> String {
    let mut heads = vec![""];
    for head in ["issued", "aborted", "stalled", "idle"] {
        heads.push(head);
        if profile.packets > 0 {
            heads.push("a packet");
        }
    }
    let mut table = TextTable::new(&heads);
    for me in &stage.microengines {
        let spent = me.spent();
        let mut row = vec![format!("microengine {}", me.index)];
        for cycles in [spent.issued, spent.aborted, spent.stalled, me.idle] {
            row.push(percent(cycles, profile.cycles));
            if profile.packets > 0 {
                row.push(tenths(cycles, profile.packets));
            }
        }
        table.add_row(row);
    }
    let mut text = format!("{}\n", table.fitted(width));
    let all = &stage.spent;
    let parts: Vec<_> = [
        ("executed", all.pipeline()),
        ("were ready while another ran", all.ready),
        ("waited", all.waiting),
        ("had given up", all.killed),
        ("were not enabled", all.inactive),
    ]
    .into_iter()
    .filter(|part| part.1 > 0)
    .map(|(name, cycles)| format!("{} {name}", percent(cycles, all.total())))
    .collect();
    let _ = writeln!(text, "contexts: {}", parts.join(", "));
    text
}

fn top_lines(
    profile: &Profile,
    stage: &Stage<'_>,
    sources: &Texts<'_>,
    (count, width): (usize, usize),
) -> String {
    let mut lines: Vec<_> = stage
        .lines
        .iter()
        .filter(|line| line.own.total() > 0)
        .collect();
    lines.sort_by_key(|line| {
        (
            std::cmp::Reverse((line.own.pipeline(), line.own.waiting + line.own.ready)),
            &line.file,
            line.line,
        )
    });
    if lines.is_empty() {
        return String::new();
    }
    let mut table = TextTable::with_numbers(
        &[
            "line", "of time", "issued", "aborted", "stalled", "waited", "ready", "",
        ],
        1..7,
    );
    let time = profile.cycles * stage.microengines.len() as u64;
    for line in lines.iter().take(count) {
        let text = sources.text(&line.file, line.line).unwrap_or_default();
        table.add_row(vec![
            format!("{}:{}", line.file, line.line),
            percent(line.own.pipeline(), time),
            grouped(line.own.issued),
            grouped(line.own.aborted),
            grouped(line.own.stalled),
            grouped(line.own.waiting),
            grouped(line.own.ready),
            shortened(text.trim()),
        ]);
    }
    let mut text = format!("{}\n", table.fitted(width));
    if lines.len() > count {
        let _ = writeln!(
            text,
            "and {} lines more (`--profile-lines {}`, or `all` for whole sources)",
            lines.len() - count,
            lines.len()
        );
    }
    text.push('\n');
    text
}

fn macros(profile: &Profile, stage: &Stage<'_>, (shown, width): (LineLimit, usize)) -> String {
    let mut macros: Vec<_> = stage
        .macros
        .iter()
        .filter(|it| it.all.total() > 0)
        .collect();
    if macros.is_empty() {
        return String::new();
    }
    macros.sort_by_key(|it| (std::cmp::Reverse(it.all.pipeline()), &it.name));
    if let LineLimit::Top(count) = shown {
        macros.truncate(count);
    }
    let mut table = TextTable::new(&[
        "macro", "of time", "issued", "aborted", "stalled", "waited", "ready", "uses",
    ]);
    let time = profile.cycles * stage.microengines.len() as u64;
    for it in macros {
        table.add_row(vec![
            it.name.clone(),
            percent(it.all.pipeline(), time),
            grouped(it.all.issued),
            grouped(it.all.aborted),
            grouped(it.all.stalled),
            grouped(it.all.waiting),
            grouped(it.all.ready),
            it.uses.to_string(),
        ]);
    }
    format!("{}\n\n", table.fitted(width))
}

fn waits(stage: &Stage<'_>, shown: LineLimit, width: usize) -> String {
    let mut all: BTreeMap<(String, String, String), (u64, u64)> = BTreeMap::new();
    let mut ended: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    for me in &stage.microengines {
        for wait in &me.waits {
            let place = me.image.place(wait.pc);
            let entry = match wait.waited {
                WaitEnd::Signalled { signal, cause, .. } => {
                    let names = (
                        names::cause(cause),
                        names::signal(&me.image, signal, wait.pc),
                    );
                    all.entry((names.0, names.1, place)).or_default()
                }
                WaitEnd::ConditionChanged => {
                    let cause = "(a CSR write)".to_owned();
                    all.entry((cause, String::new(), place)).or_default()
                }
                WaitEnd::Unfinished(mask) => {
                    let names = names::signals(&me.image, mask, false, wait.pc);
                    ended.entry((names, place)).or_default()
                }
            };
            entry.0 += wait.count;
            entry.1 += wait.cycles;
        }
    }
    let mut text = String::new();
    if !all.is_empty() {
        let mut waits: Vec<_> = all.into_iter().collect();
        waits.sort_by(|a, b| b.1.1.cmp(&a.1.1).then_with(|| a.0.cmp(&b.0)));
        let more = match shown {
            LineLimit::Top(count) => {
                let more = waits.len().saturating_sub(count);
                waits.truncate(count);
                more
            }
            LineLimit::All => 0,
        };
        let mut table = TextTable::with_numbers(
            &["waited for", "signal", "waits", "cycles", "mean", "at"],
            2..5,
        );
        for ((cause, signal, place), (count, cycles)) in waits {
            table.add_row(vec![
                cause,
                signal,
                grouped(count),
                grouped(cycles),
                tenths(cycles, count),
                place,
            ]);
        }
        let _ = writeln!(text, "{}", table.fitted(width));
        if more > 0 {
            let _ = writeln!(text, "and {more} more");
        }
    }
    text + &asleep_at_end(ended, width)
}

/// The contexts asleep when the run ended. These times were cut off by the end of the run, so
/// they do not count as waits.
fn asleep_at_end(ended: BTreeMap<(String, String), (u64, u64)>, width: usize) -> String {
    if ended.is_empty() {
        return String::new();
    }
    let mut ended: Vec<_> = ended.into_iter().collect();
    ended.sort_by(|a, b| b.1.1.cmp(&a.1.1).then_with(|| a.0.cmp(&b.0)));
    let heads = ["asleep at the end of the run", "contexts", "cycles", "at"];
    let mut table = TextTable::with_numbers(&heads, 1..3);
    for ((signals, place), (count, cycles)) in ended {
        table.add_row(vec![signals, grouped(count), grouped(cycles), place]);
    }
    format!("\n{}\n", table.fitted(width))
}

/// The source lines of a stage.
struct Texts<'a> {
    files: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> Texts<'a> {
    fn new(stage: &Stage<'_>, programs: &'a [Program]) -> Self {
        let mut files = BTreeMap::new();
        for me in &stage.microengines {
            let program = programs.iter().find(|program| program.me == me.index);
            for file in program.into_iter().flat_map(|it| it.sources.files()) {
                files
                    .entry(file.path.as_str())
                    .or_insert_with(|| file.text.lines().collect());
            }
        }
        Self { files }
    }

    fn text(&self, file: &str, line: u32) -> Option<&'a str> {
        self.files.get(file)?.get(line as usize - 1).copied()
    }

    fn lines(&self, file: &str) -> Option<u32> {
        self.files.get(file).map(|lines| lines.len() as u32)
    }
}

fn shortened(text: &str) -> String {
    let text = text.replace('\t', " ");
    if text.chars().count() <= MAX_WIDTH {
        return text;
    }
    text.chars()
        .take(MAX_WIDTH - 3)
        .chain("...".chars())
        .collect()
}

/// Formats a share as `12.3%`, rounded half up.
fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let tenths = (u128::from(part) * 2000 / u128::from(whole)).div_ceil(2);
    format!("{}.{}%", tenths / 10, tenths % 10)
}

/// Formats a quotient with one decimal, rounded down.
fn tenths(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 10 / u128::from(whole.max(1));
    format!("{}.{}", grouped((tenths / 10) as u64), tenths % 10)
}
