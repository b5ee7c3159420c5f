//! What keys do and what is seen.

mod keys;
mod picture;
mod rig;
mod screens;
