//! The general-purpose core: what it sets up and what it does meanwhile.

pub mod boot;
pub mod routes;
