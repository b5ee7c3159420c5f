//! The activity of every context over the last cycles, as lanes.

use crate::theme::Theme;
use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_debug::Thread;
use npsim_debug::view::ContextActivity;
use npsim_observe::lanes::{Activity, FrameMark, Stretch};
use ratatui::text::{Line, Span};

use super::{PaneContext, cut};

/// The maximum width of a stage's name.
const STAGE: usize = 12;
/// The minimum width, in columns, at which the awaited signals are shown too.
const WIDE: u16 = 110;
/// The width of that part, in columns.
const WAITS: usize = 24;

/// The number of columns of a lane in a pane.
pub(crate) fn columns(width: u16) -> u16 {
    let names = 7 + STAGE as u16;
    let waits = if width >= WIDE { WAITS as u16 + 1 } else { 0 };
    width.saturating_sub(names + waits).max(8)
}

/// The first cycle of the lanes; it may be before the start of the run.
fn first(look: &PaneContext<'_>, columns: u16) -> i128 {
    let cycles = u64::from(columns) * look.view.cycles_per_column();
    i128::from(look.debugger.cycle()) - i128::from(cycles)
}

pub(crate) fn heading(look: &PaneContext<'_>, width: u16) -> String {
    let from = first(look, columns(width)).max(0);
    format!(
        "cycle {from} to {}, {} a column",
        look.debugger.cycle(),
        look.view.cycles_per_column()
    )
}

/// The legend.
pub(crate) const LEGEND: &str = "█ runs ▓ stalled ▒ aborted ░ ready · waits";

/// The cycles of each activity in each column.
fn shares(
    stretches: &[Stretch],
    start: i128,
    scale: Cycle,
    columns: u16,
) -> Vec<[Cycle; Activity::ALL.len()]> {
    let mut shares = vec![[0; Activity::ALL.len()]; usize::from(columns)];
    for stretch in stretches {
        let mut at = i128::from(stretch.from).max(start);
        while at < i128::from(stretch.until) {
            let column = (at - start) / i128::from(scale);
            let end = (start + (column + 1) * i128::from(scale)).min(stretch.until.into());
            let Some(share) = shares.get_mut(column as usize) else {
                break;
            };
            let cycles = (end - at) as Cycle;
            share[stretch.activity as usize] += cycles;
            if matches!(stretch.activity, Activity::Aborted | Activity::Stalled) {
                // Aborted and stalled slots overlap those in which the context executed.
                let under = &mut share[Activity::Executing as usize];
                *under = under.saturating_sub(cycles);
            }
            at = end;
        }
    }
    shares
}

/// The symbol of a column: how much of it the context executed, or what it did instead.
fn sign(share: &[Cycle; Activity::ALL.len()], scale: Cycle) -> (char, Activity) {
    let of = |activity: Activity| share[activity as usize];
    let most = |among: &[Activity]| among.iter().copied().rev().max_by_key(|it| of(*it));
    let pipeline = [Activity::Executing, Activity::Aborted, Activity::Stalled];
    let ran: Cycle = pipeline.iter().map(|it| of(*it)).sum();
    if ran > 0 {
        return match most(&pipeline) {
            Some(Activity::Stalled) => ('▓', Activity::Stalled),
            Some(Activity::Aborted) => ('▒', Activity::Aborted),
            _ => {
                let eighth = (ran * 8).div_ceil(scale.max(1)).clamp(1, 8);
                let bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
                (bars[eighth as usize - 1], Activity::Executing)
            }
        };
    }
    match most(&[Activity::Ready, Activity::Waiting, Activity::Inactive]) {
        Some(Activity::Ready) if of(Activity::Ready) > 0 => ('░', Activity::Ready),
        Some(Activity::Waiting) if of(Activity::Waiting) > 0 => ('·', Activity::Waiting),
        _ => (' ', Activity::Inactive),
    }
}

/// The events of frames, above the lanes.
fn marks(look: &PaneContext<'_>, start: i128, columns: u16) -> String {
    let scale = i128::from(look.view.cycles_per_column());
    let mut signs = vec![' '; usize::from(columns)];
    for (at, mark) in look.past.lanes.marks() {
        let column = (i128::from(*at) - start).div_euclid(scale);
        let column = usize::try_from(column).ok();
        let Some(sign) = column.and_then(|it| signs.get_mut(it)) else {
            continue;
        };
        *sign = match (mark, *sign) {
            (FrameMark::Dropped, _) | (_, '×') => '×',
            (FrameMark::Arrives, '▲') | (FrameMark::Departed, '▼') => '♦',
            (FrameMark::Arrives, ' ') => '▼',
            (FrameMark::Departed, ' ') => '▲',
            (_, sign) => sign,
        };
    }
    signs.into_iter().collect()
}

/// The current activity of a context, in a word or two.
pub(crate) fn doing(chip: &Chip, thread: Thread) -> String {
    match ContextActivity::of(chip, thread) {
        None => String::new(),
        Some(ContextActivity::Inactive) => "off".to_owned(),
        Some(ContextActivity::Ready) => "ready".to_owned(),
        Some(ContextActivity::Executing) => "runs".to_owned(),
        Some(ContextActivity::Killed) => "exited".to_owned(),
        Some(ContextActivity::Waiting { missing, any }) => {
            let joint = if any { " or " } else { ", " };
            // A named signal is shown by its name alone.
            let names = missing.iter().map(|it| it.split('`').nth(1).unwrap_or(it));
            let mut names: Vec<_> = names.collect();
            // Both signals of a DRAM command have the same name.
            names.dedup();
            if names.is_empty() {
                "exited".to_owned()
            } else {
                format!("waits {}", names.join(joint))
            }
        }
    }
}

/// The lanes that fit, around the selected context.
pub(crate) fn lines(look: &PaneContext<'_>, width: u16, height: u16) -> Vec<Line<'static>> {
    let theme = look.theme;
    let columns = columns(width);
    let start = first(look, columns);
    let scale = look.view.cycles_per_column();
    let mut lines = vec![Line::from(vec![
        Span::styled(format!("{:<1$}", " frames", 7 + STAGE), Theme::FAINT),
        Span::styled(marks(look, start, columns), theme.name()),
    ])];
    let threads = look.debugger.threads();
    let core = look.debugger.core();
    let others = 1 + usize::from(core.is_some());
    let height = usize::from(height).saturating_sub(others);
    let here = threads
        .iter()
        .position(|it| it.thread == look.debugger.thread())
        .unwrap_or(0);
    let top = here.saturating_sub(height / 2);
    let top = top.min(threads.len().saturating_sub(height));
    for view in threads.iter().skip(top).take(height) {
        let thread = view.thread;
        let is_here = thread == look.debugger.thread();
        let style = if is_here {
            theme.current()
        } else {
            ratatui::style::Style::new()
        };
        let arrow = if is_here { "▶" } else { " " };
        let stage = cut(&view.stage, STAGE);
        let mut spans = vec![Span::styled(
            format!("{arrow}{:<5}{stage:<STAGE$} ", thread.to_string()),
            style,
        )];
        let lane = look.past.lanes.lane(thread.me, thread.context);
        let shares = shares(lane, start, scale, columns);
        let signs = shares.iter().map(|share| sign(share, scale));
        let signs: Vec<_> = signs.collect();
        for run in signs.chunk_by(|a, b| a.1 == b.1) {
            let text: String = run.iter().map(|it| it.0).collect();
            spans.push(Span::styled(text, theme.activity(run[0].1)));
        }
        if width >= WIDE {
            spans.push(Span::raw(format!(
                " {}",
                cut(&doing(look.debugger.chip(), thread), WAITS)
            )));
        }
        lines.push(Line::from(spans));
    }
    if let Some(core) = core {
        let (arrow, style) = if look.debugger.thread().is_core() {
            ("▶", theme.current())
        } else {
            (" ", ratatui::style::Style::new())
        };
        let text = format!("{arrow}{:<5}{} ", Thread::CORE.to_string(), core.name());
        lines.push(Line::from(vec![
            Span::styled(text, style),
            Span::raw(core.doing()),
        ]));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{shares, sign};
    use npsim_observe::lanes::{Activity, Stretch};

    fn drawn(stretches: &[(u64, u64, Activity)], start: i128, scale: u64, columns: u16) -> String {
        let stretches: Vec<_> = stretches
            .iter()
            .map(|&(from, until, activity)| Stretch {
                from,
                until,
                activity,
            })
            .collect();
        let shares = shares(&stretches, start, scale, columns);
        shares.iter().map(|share| sign(share, scale).0).collect()
    }

    #[test]
    fn column_shows_the_share_a_context_ran() {
        use Activity::{Aborted, Executing, Ready, Waiting};
        let lane = [
            (0, 4, Ready),
            (4, 12, Executing),
            (9, 12, Aborted),
            (12, 20, Waiting),
        ];
        assert_eq!(drawn(&lane, 0, 1, 20), "░░░░█████▒▒▒········");
        assert_eq!(drawn(&lane, 0, 4, 5), "░█▒··");
        assert_eq!(drawn(&lane, 0, 20, 1), "▄");
        assert_eq!(drawn(&lane, -8, 4, 7), "  ░█▒··", "before the run");
    }
}
