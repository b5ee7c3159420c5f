//! The names live at the context's position, with their values and the commands that will fill them.

use crate::theme::Theme;
use npsim_chip::core::ContextPhase;
use npsim_debug::core::REGISTERS;
use npsim_debug::names::{NamedRegister, live_at, owner_text};
use npsim_image::TransferDirection;
use npsim_inspect::Inspect;
use ratatui::text::{Line, Span};

use super::{Item, ItemAction, PaneContext, cut, indented};
use crate::layout::NARROW;

/// The maximum width of a name whose value is aligned with the others.
const NAME: usize = 14;

pub(crate) fn items(look: &PaneContext<'_>, width: u16) -> Vec<Item> {
    let debugger = look.debugger;
    let thread = debugger.thread();
    if let Some(core) = debugger.core().filter(|_| thread.is_core()) {
        let cpu = core.cpu();
        let registers = (0..).zip(REGISTERS);
        let registers = registers.map(|(at, name)| (name, cpu.register(at)));
        let all = registers.chain([("cpsr", cpu.cpsr())]);
        return all
            .map(|(name, value)| {
                Item::plain(vec![
                    Span::styled(format!("{name:<NAME$} "), look.theme.name()),
                    Span::styled(format!("{value:08x}"), Theme::STRONG),
                ])
            })
            .collect();
    }
    let Some(image) = debugger.image(thread.me) else {
        return Vec::new();
    };
    let inspect = Inspect::new(debugger.chip());
    let Some(view) = inspect.microengine(thread.me) else {
        return Vec::new();
    };
    let context = view.context(thread.context);
    let theme = look.theme;
    let mut items = Vec::new();
    for named in live_at(image, debugger.point(thread)) {
        let name = named.name();
        let mut spans = vec![Span::styled(
            format!("{:<NAME$} ", cut(name, NAME)),
            theme.name(),
        )];
        let mut notes = Vec::new();
        match named {
            NamedRegister::Signal(symbol) => {
                let bit = |mask: u16| mask >> symbol.number & 1 == 1;
                let sleeps = context.phase == ContextPhase::Sleeping;
                let state = match (bit(context.signals), sleeps && bit(context.wakeup)) {
                    (true, _) => "come",
                    (false, true) => "awaited",
                    (false, false) => "not come",
                };
                spans.push(Span::raw(format!("{state:<8}")));
                spans.push(Span::styled(
                    format!(" signal {}", symbol.number),
                    Theme::FAINT,
                ));
            }
            NamedRegister::Register(symbol, side) => {
                let Some(it) = view.register(symbol.operand, side, thread.context) else {
                    continue;
                };
                spans.push(Span::styled(format!("{:08x}", it.value), Theme::STRONG));
                if width >= NARROW {
                    spans.push(Span::raw(format!(" {:<10}", it.value)));
                }
                let out = if side == TransferDirection::Write {
                    " out"
                } else {
                    ""
                };
                spans.push(Span::styled(
                    format!(" {}{out}", symbol.operand),
                    Theme::FAINT,
                ));
                if it.initialised == Some(false) {
                    notes.push("never written".to_owned());
                }
                if let Some(owner) = it.owner {
                    notes.push(format!("← {}", owner_text(&inspect, thread.me, &owner)));
                }
            }
        }
        let mut lines = vec![Line::from(spans)];
        for note in notes {
            lines.extend(indented(&note, 2, width, Theme::FAINT));
        }
        items.push(Item {
            lines,
            choice: Some(ItemAction::Do(format!("who {name}"))),
        });
    }
    if items.is_empty() {
        items.push(Item::plain("no name is live here"));
    }
    items
}
