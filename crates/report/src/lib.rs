//! Reports on an observed run: what limits it ([`bottleneck`]), everything about it as a [`page`], a network's run as
//! a [`network_page`], its profile as text ([`profile_text`]) and as a [`flame`] graph. All of them draw with
//! [`chart`].

pub mod bottleneck;
pub mod chart;
pub mod flame;
pub mod network_page;
pub mod page;
pub mod profile_text;
