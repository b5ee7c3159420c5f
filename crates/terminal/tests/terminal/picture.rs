//! The pictures of the documentation.

use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use crate::rig::{System, assert_matches_file, root};

/// Pixels of a cell.
const WIDTH: usize = 8;
const HEIGHT: usize = 17;
const INK: &str = "#d4d4d4";
const PAPER: &str = "#1b1b1f";

fn colour(cell: &Cell) -> (&'static str, &'static str) {
    let ink = match cell.fg {
        Color::Red => "#f07178",
        Color::Green => "#98c379",
        Color::Yellow => "#e5c07b",
        Color::Cyan => "#56b6c2",
        _ if cell.modifier.contains(Modifier::DIM) => "#85858f",
        _ => INK,
    };
    if cell.modifier.contains(Modifier::REVERSED) {
        (PAPER, ink)
    } else {
        (ink, PAPER)
    }
}

/// A screen as SVG, one element for each run of cells that look alike.
fn svg(buffer: &Buffer) -> String {
    let (columns, rows) = (buffer.area.width, buffer.area.height);
    let (width, height) = (usize::from(columns) * WIDTH, usize::from(rows) * HEIGHT);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"{PAPER}\"/>\n"
    );
    for y in 0..rows {
        let cells: Vec<_> = (0..columns).map(|x| &buffer[(x, y)]).collect();
        let mut x = 0;
        for run in cells.chunk_by(|a, b| (a.fg, a.bg, a.modifier) == (b.fg, b.bg, b.modifier)) {
            let (ink, paper) = colour(run[0]);
            let text: String = run.iter().map(|it| it.symbol()).collect();
            let (left, top) = (x * WIDTH, usize::from(y) * HEIGHT);
            let length = run.len() * WIDTH;
            x += run.len();
            if paper != PAPER {
                writeln!(
                    out,
                    "<rect x=\"{left}\" y=\"{top}\" width=\"{length}\" height=\"{HEIGHT}\" fill=\"{paper}\"/>"
                )
                .unwrap();
            }
            if text.trim().is_empty() {
                continue;
            }
            let bold = if run[0].modifier.contains(Modifier::BOLD) {
                " font-weight=\"bold\""
            } else {
                ""
            };
            let text = text
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;");
            writeln!(
                out,
                "<text x=\"{left}\" y=\"{}\" fill=\"{ink}\"{bold} xml:space=\"preserve\" textLength=\"{length}\">{text}</text>",
                top + 13
            )
            .unwrap();
        }
    }
    out + "</svg>\n"
}

#[test]
fn the_picture_in_the_documentation_is_current() {
    let system = System::router();
    let mut screen = system.screen(132, 44);
    screen.command("break classify.uc:36");
    screen.command("goto 60000");
    screen.keys("c");
    let picture = svg(&screen.buffer());
    assert_matches_file(&picture, &root().join("docs/src/images/debugger.svg"));
}
