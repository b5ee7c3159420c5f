//! What both ends say in their SYN.

use crate::host::HostParameters;
use crate::wire::{TcpOptions, Timestamps};
use npsim_protocols::time::Time;

/// The shift with which a receive buffer fits the 16 bits of a window (RFC 7323).
pub(crate) fn window_shift(host: &HostParameters) -> u8 {
    if !host.window_scale {
        return 0;
    }
    let fits = |&shift: &u8| u16::try_from(host.receive_buffer >> shift).is_ok();
    (0..14).find(fits).unwrap_or(14)
}

/// The options of a SYN, or of the answer to the SYN with options `asked`: what was not asked for is
/// not offered back.
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

/// Timestamps at `now`, if the host sends them and there is something to echo.
pub(crate) fn timestamps(
    host: &HostParameters,
    now: Time,
    echo: Option<u32>,
) -> Option<Timestamps> {
    let value = (now / host.timestamps?) as u32;
    echo.map(|echo| Timestamps { value, echo })
}
