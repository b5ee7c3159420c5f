//! Commands in flight, by unit.

use npsim_inspect::CommandLocation;
use npsim_inspect::Inspect;
use ratatui::text::{Line, Span};

use super::{Item, ItemAction, PaneContext, cut};
use crate::layout::NARROW;

pub(crate) fn items(look: &PaneContext<'_>, width: u16) -> Vec<Item> {
    let theme = look.theme;
    let inspect = Inspect::new(look.debugger.chip());
    let now = inspect.now();
    let mut targets: Vec<_> = inspect.flights().iter().map(|it| it.target).collect();
    targets.sort_unstable();
    targets.dedup();
    let mut items = Vec::new();
    for target in targets {
        let those = || inspect.flights().iter().filter(|it| it.target == target);
        items.push(Item::plain(Line::from(vec![
            Span::styled(target.name(), theme.name()),
            Span::raw(format!("  {}", those().count())),
        ])));
        for flight in those() {
            let command = &flight.command;
            let (who, choice) = if flight.unsolicited {
                ("push".to_owned(), None)
            } else {
                let who = format!("{}.{}", command.me, command.context);
                let choice = ItemAction::Do(format!("context {who}"));
                (who, Some(choice))
            };
            let ahead = flight.before().len();
            let place = match &flight.location {
                CommandLocation::Fifo { .. } => format!("FIFO, {ahead} ahead"),
                CommandLocation::CommandBus { .. } => "bus".to_owned(),
                CommandLocation::Queue { .. } => format!("queue, {ahead} ahead"),
                CommandLocation::Data { .. } => "takes data".to_owned(),
                CommandLocation::Served { .. } => "served".to_owned(),
                CommandLocation::Result { .. } => "coming back".to_owned(),
                CommandLocation::Unit => "at the unit".to_owned(),
            };
            let due = flight.due().map(|due| {
                let in_cycles = due.saturating_sub(now);
                format!(", {in_cycles} to go")
            });
            let what = format!("{}[{}]", command.op.info().name, command.count);
            let due = due.unwrap_or_default();
            let age = now.saturating_sub(flight.issued);
            let text = if width < NARROW {
                format!(" {who} {what} {place}{due}")
            } else {
                format!(" {who:<5} {what:<14} {age:>4}  {place}{due}")
            };
            items.push(Item {
                lines: vec![Line::from(cut(&text, width.into()))],
                choice,
            });
        }
    }
    if items.is_empty() {
        items.push(Item::plain("no command is in flight"));
    }
    items
}
