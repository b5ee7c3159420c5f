//! The debugger's terminal interface: source, contexts over time, values, rings, commands, packets
//! and a console, operated by keys.
//!
//! Keys run commands of the [console](npsim_debug::console), so that a script can reach everything
//! that the screen can. The display is a function of the debugger and a [`View`] alone. Only
//! [`run()`] uses a real terminal.

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
