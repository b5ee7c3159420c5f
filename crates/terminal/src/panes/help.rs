//! The help: keys and commands, generated from their tables.

use crate::theme::Theme;
use npsim_debug::console::{COMMANDS, CommandGroup};
use ratatui::text::{Line, Span};

use super::{PaneContext, wrapped};
use crate::keys::KEYS;

/// The width of the keys and commands, in columns.
const FIRST: usize = 26;

fn entry(look: &PaneContext<'_>, what: &str, help: &str, width: u16) -> Vec<Line<'static>> {
    let room = usize::from(width).saturating_sub(FIRST + 1).max(20);
    let mut lines = Vec::new();
    let mut what = what.to_owned();
    if what.chars().count() >= FIRST {
        lines.push(Line::from(Span::styled(
            std::mem::take(&mut what),
            look.theme.name(),
        )));
    }
    for text in wrapped(help, room) {
        let first = std::mem::take(&mut what);
        lines.push(Line::from(vec![
            Span::styled(format!("{first:<FIRST$}"), look.theme.name()),
            Span::raw(text),
        ]));
    }
    lines
}

pub(crate) fn lines(look: &PaneContext<'_>, width: u16) -> Vec<Line<'static>> {
    let title = |text: &str| Line::from(Span::styled(text.to_owned(), Theme::STRONG));
    let mut lines = vec![title("Keys; each step comes before its reverse")];
    for key in KEYS {
        lines.extend(entry(look, &format!(" {}", key.label()), key.help, width));
    }
    lines.extend(entry(
        look,
        " Ctrl-C/Esc",
        "Interrupts what is in progress; Ctrl-C twice ends the debugger",
        width,
    ));
    lines.push(Line::default());
    lines.push(title("Signs"));
    for (sign, help) in [
        (
            " ▶ ▷",
            "Where the context is; in a macro that this line uses",
        ),
        (" ● ○ ◆", "A breakpoint, a disabled one, a log point"),
        (" ▁ to █", "How much of a column the context ran"),
        (
            " ▓ ▒",
            "It ran, and most of the time the command FIFO was full or issue slots were thrown away",
        ),
        (" ░ ·", "It was ready while another one ran; it waited"),
        (
            " ▼ ▲ ♦ ×",
            "A frame starts to arrive, has left, both; a frame is lost",
        ),
    ] {
        lines.extend(entry(look, sign, help, width));
    }
    for group in CommandGroup::ALL {
        lines.push(Line::default());
        lines.push(title(group.title()));
        for info in COMMANDS.iter().filter(|it| it.group == group) {
            let what = match info.aliases {
                [] => format!(" {}", info.name),
                short => format!(" {} ({})", info.name, short.join(", ")),
            };
            lines.extend(entry(look, &what, info.help, width));
        }
    }
    lines
}
