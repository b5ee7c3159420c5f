//! Whole programs: compiled C and busybox of Debian's armel, in the interpreter and in qemu-arm.

mod busybox;
mod image;
mod levels;
mod linux;
mod memory;
mod qemu;
