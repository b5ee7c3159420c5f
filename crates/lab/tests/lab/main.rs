//! Studies from their text to their results.

mod campaigns;
mod comparing;
mod hops;
mod one_chip;
