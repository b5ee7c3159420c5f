//! Reports of a run that was observed: what limits it ([`bottleneck`]), all of
//! it as a [`page`], a network's run as a [`network_page`], its profile as text ([`profile_text`]) and as a [`flame`]
//! graph. All drawings come from one kit, [`chart`].

pub mod bottleneck;
pub mod chart;
pub mod flame;
pub mod network_page;
pub mod page;
pub mod profile_text;
