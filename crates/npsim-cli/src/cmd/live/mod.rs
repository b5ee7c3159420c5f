//! `npsim live`: lets real hosts communicate through a simulated chip.

#[cfg_attr(
    not(target_os = "linux"),
    expect(
        dead_code,
        reason = "options are understood everywhere, and followed on Linux"
    )
)]
mod arguments;
#[cfg(target_os = "linux")]
mod on_linux;

#[cfg(not(target_os = "linux"))]
use std::process::ExitCode;

pub use arguments::Arguments;

#[cfg(target_os = "linux")]
pub use on_linux::run;

/// The error on other systems: live runs need the interfaces of a Linux host.
#[cfg(not(target_os = "linux"))]
pub fn run(_arguments: &Arguments) -> anyhow::Result<ExitCode> {
    Err(
        npsim::problem::Problem::new("live runs join ports to Linux interfaces, and this host does not run Linux")
            .help("run it on Linux, or in a virtual machine or container with Linux; recordings can be repeated here with `npsim run --pace recorded`")
            .into(),
    )
}
