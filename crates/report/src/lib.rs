//! What is told of a run that was observed: what limits it ([`bottleneck`]), all of
//! it as a [`page`], its profile as text ([`profile_text`]) and as a [`flame`]
//! graph. All drawings come from one kit, [`chart`].

pub mod bottleneck;
pub mod chart;
pub mod flame;
pub mod page;
pub mod profile_text;
