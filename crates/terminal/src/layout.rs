//! The layout of the panes, depending on the size of the screen.

use ratatui::layout::Rect;

/// A part of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pane {
    /// The program.
    Source,
    /// Registers and signals with a name.
    Names,
    /// Rings and queues.
    Rings,
    /// Commands in flight, by unit.
    Units,
    /// Packets in the chip.
    Packets,
    /// The activity of contexts over the last cycles.
    Contexts,
    /// Commands and their answers.
    Console,
}

impl Pane {
    /// All panes, in focus order.
    pub const ALL: [Self; 7] = [
        Self::Source,
        Self::Names,
        Self::Rings,
        Self::Units,
        Self::Packets,
        Self::Contexts,
        Self::Console,
    ];

    /// The panes beside the source, only one of which fits on a small screen.
    const SIDE: [Self; 4] = [Self::Names, Self::Rings, Self::Units, Self::Packets];

    /// The heading of the pane.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "Source",
            Self::Names => "Names",
            Self::Rings => "Rings",
            Self::Units => "Units",
            Self::Packets => "Packets",
            Self::Contexts => "Contexts",
            Self::Console => "Console",
        }
    }

    pub(crate) const fn is_side_pane(self) -> bool {
        matches!(
            self,
            Self::Names | Self::Rings | Self::Units | Self::Packets
        )
    }

    /// The index in [`ALL`](Self::ALL).
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

/// The width, in columns, below which a pane beside the source omits less important parts.
pub(crate) const NARROW: u16 = 44;

/// The smallest usable screen: columns and lines.
pub(crate) const MIN_SCREEN: (u16, u16) = (40, 12);

/// The areas of the screen; the first line of each pane is its heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub title: Rect,
    pub panes: Vec<(Pane, Rect)>,
    /// Vertical rules between panes.
    pub rules: Vec<Rect>,
    pub keys: Rect,
}

/// `share` percent of a height, within bounds.
fn part(height: u16, share: u16, least: u16, most: u16) -> u16 {
    (u32::from(height) * u32::from(share) / 100).clamp(least.into(), most.into()) as u16
}

impl Layout {
    /// The layout of a screen: `beside` is the pane that must be visible beside the source,
    /// `alone` the pane that takes the whole screen, `contexts` the number of contexts.
    pub fn of(area: Rect, beside: Pane, alone: Option<Pane>, contexts: u16) -> Self {
        let row = |y: u16, height: u16| Rect::new(area.x, area.y + y, area.width, height);
        let keys = if area.height >= 36 { 2 } else { 1 };
        let inner = area.height.saturating_sub(1 + keys);
        let mut layout = Self {
            title: row(0, 1),
            panes: Vec::new(),
            rules: Vec::new(),
            keys: row(area.height - keys, keys),
        };
        if let Some(pane) = alone {
            layout.panes.push((pane, row(1, inner)));
            return layout;
        }
        // Two extra lines, for the heading and for the frames.
        let lanes = part(inner, 28, 3, 60).min(contexts.saturating_add(2).max(3));
        let console = part(inner, 24, 3, 16);
        let body = inner - lanes - console;
        layout.body(row(1, body), beside);
        layout.panes.push((Pane::Contexts, row(1 + body, lanes)));
        layout
            .panes
            .push((Pane::Console, row(1 + body + lanes, console)));
        layout
    }

    /// Lays out the source and the panes beside it.
    fn body(&mut self, area: Rect, beside: Pane) {
        let columns = if area.width >= 150 { 2 } else { 1 };
        let side = match area.width {
            ..=70 => area.width * 2 / 5,
            71..=149 => (area.width * 42 / 100).min(56),
            _ => area.width / 3,
        };
        let per_column = usize::from((area.height / 8).clamp(1, 4));
        let count = (columns * per_column).min(Pane::SIDE.len());
        let per_column = count.div_ceil(columns);
        let mut shown: Vec<_> = Pane::SIDE[..count].to_vec();
        if !shown.contains(&beside) {
            shown[count - 1] = beside;
        }
        let source = area.width - (side + 1) * columns as u16;
        self.panes
            .push((Pane::Source, Rect::new(area.x, area.y, source, area.height)));
        for (column, panes) in (0..).zip(shown.chunks(per_column)) {
            let x = area.x + source + column * (side + 1);
            self.rules.push(Rect::new(x, area.y, 1, area.height));
            let each = area.height / panes.len() as u16;
            for (row, pane) in (0..).zip(panes) {
                let y = area.y + row * each;
                let last = usize::from(row) + 1 == panes.len();
                let height = if last { area.y + area.height - y } else { each };
                self.panes.push((*pane, Rect::new(x + 1, y, side, height)));
            }
        }
    }

    pub fn rect(&self, pane: Pane) -> Option<Rect> {
        let found = self.panes.iter().find(|it| it.0 == pane);
        found.map(|it| it.1)
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, MIN_SCREEN, Pane};
    use ratatui::layout::Rect;

    #[test]
    fn panes_cover_every_screen_once() {
        for (width, height) in [
            MIN_SCREEN,
            (80, 24),
            (100, 30),
            (120, 40),
            (150, 36),
            (200, 60),
        ] {
            for beside in Pane::SIDE {
                let area = Rect::new(0, 0, width, height);
                let layout = Layout::of(area, beside, None, 64);
                assert!(layout.rect(beside).is_some(), "{width}x{height} {beside:?}");
                let all = layout.panes.iter().map(|it| it.1);
                assert!(all.clone().all(|it| it.height >= 3), "{width}x{height}");
                let all = all.chain(layout.rules.iter().copied());
                let all: Vec<_> = all.chain([layout.title, layout.keys]).collect();
                for y in 0..height {
                    for x in 0..width {
                        let here = all.iter().filter(|it| it.contains((x, y).into()));
                        assert_eq!(here.count(), 1, "{x},{y} of {width}x{height}");
                    }
                }
            }
        }
    }
}
