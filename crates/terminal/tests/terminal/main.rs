//! The effect of keys, and the screen.

mod keys;
mod live;
mod picture;
mod rig;
mod screens;
