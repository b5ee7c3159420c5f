//! What keys do and what is seen.

mod keys;
mod live;
mod picture;
mod rig;
mod screens;
