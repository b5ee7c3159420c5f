//! The options that both ends put into their SYNs.

use crate::host::HostParameters;
use crate::wire::{TcpOptions, Timestamps};
use npsim_protocols::time::Time;

/// Returns the shift with which a receive buffer fits into the 16 bits of a window (RFC 7323).
pub(crate) fn window_shift(host: &HostParameters) -> u8 {
    if !host.window_scale {
        return 0;
    }
    let fits = |&shift: &u8| u16::try_from(host.receive_buffer >> shift).is_ok();
    (0..14).find(fits).unwrap_or(14)
}

/// Returns the options of a SYN, or of the answer to a SYN with options `asked`, which contains only
/// options that were offered.
pub(crate) fn options(host: &HostParameters, now: Time, asked: Option<&TcpOptions>) -> TcpOptions {
    let agreed = |wanted: bool, theirs: fn(&TcpOptions) -> bool| wanted && asked.is_none_or(theirs);
    let scale = agreed(host.window_scale, |asked| asked.window_scale.is_some());
    let echo = match asked {
        None => Some(0),
        Some(asked) => asked.timestamps.map(|timestamps| timestamps.value),
    };
    TcpOptions {
        mss: Some(host.mss),
        window_scale: scale.then(|| window_shift(host)),
        sack_permitted: agreed(host.sack, |asked| asked.sack_permitted),
        timestamps: timestamps(host, now, echo),
        ..TcpOptions::default()
    }
}

/// Returns timestamps at `now`, if the host sends them and there is a value to echo.
pub(crate) fn timestamps(
    host: &HostParameters,
    now: Time,
    echo: Option<u32>,
) -> Option<Timestamps> {
    let value = (now / host.timestamps?) as u32;
    echo.map(|echo| Timestamps { value, echo })
}
