//! The debugger on a terminal: source, contexts over time, values, rings, commands,
//! packets and a console, driven by keys.
//!
//! Keys do what commands of the [console](npsim_debug::console) do, so whatever the screen
//! comes to, a script comes to as well. What is shown follows from the debugger and a
//! [`View`], and from nothing else. [`run()`] alone knows a real terminal.

mod input;
mod interface;
mod keys;
mod layout;
mod live;
mod panes;
mod progress;
mod run;
mod screen;
mod theme;
mod view;

pub use interface::Interface;
pub use keys::{Action, KEYS, KeyGroup, Motion};
pub use layout::Pane;
pub use live::{LiveKey, LivePicture, LiveSection, LiveTerminal};
pub use run::run;
pub use theme::Theme;
pub use view::View;
