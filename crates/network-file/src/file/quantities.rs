//! Times, rates and shares of a network file, scaled.

use npsim_project::quantity::{self, Dimension, parse_rate};
use npsim_transport::time::Time;

/// The scale of a file.
#[derive(Debug, Clone, Copy)]
pub struct Quantities {
    /// Divisor of times and factor of rates.
    pub scale: u64,
}

impl Quantities {
    /// Parses a time such as `500ms` and divides it; an error if a nonzero time would become zero.
    pub fn time(self, text: &str) -> Result<Time, String> {
        match text.parse()? {
            quantity::Time::Picoseconds(time) if time > 0 && time < self.scale => {
                Err(format!("`{text}` divided by {} is 0", self.scale))
            }
            quantity::Time::Picoseconds(time) => Ok(time / self.scale),
            quantity::Time::Cycles(0) => Ok(0),
            quantity::Time::Cycles(_) => Err(format!(
                "`{text}` is not a time of a network, which has no cycles; write for example `500ms`"
            )),
        }
    }

    /// Parses a time, or a multiple of a round-trip time such as `0.5rtt`.
    pub fn spread(self, text: &str) -> Result<Spread, String> {
        match quantity::multiple(text, "rtt") {
            Some((part, of)) => Ok(Spread::RoundTrips(part, of)),
            None => self.time(text).map(Spread::Time),
        }
    }

    /// Parses a rate in bits per second, such as `10Mbps`, and multiplies it.
    pub fn rate(self, text: &str) -> Result<u64, String> {
        parse_rate(text)?
            .checked_mul(self.scale)
            .ok_or_else(|| format!("`{text}` times {} is more than can be counted", self.scale))
    }
}

/// Resolution of shares: parts of 1.
const PARTS: f64 = 1e6;

/// Converts a share to parts per million; an error if a nonzero share would become zero.
pub fn share(share: f64, most: f64) -> Result<u32, String> {
    if !(0.0..=most).contains(&share) {
        return Err(format!("`{share}` is not between 0 and {most}"));
    }
    let parts = (share * PARTS).round() as u32;
    if parts == 0 && share > 0.0 {
        return Err(format!(
            "`{share}` would be 0: shares are counted in millionths"
        ));
    }
    Ok(parts)
}

/// The limit of a queue as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitText {
    Unlimited,
    Packets(u64),
    Bytes(u64),
    /// Bandwidth-delay products, as a fraction.
    Products(u64, u64),
}

/// Limits must be below this.
const QUANTITY_LIMIT: u64 = 1_000_000_000_000_000;

/// Parses `100 packets`, `64KB`, `1.5MB`, `2bdp` or `endless`.
pub fn limit(text: &str) -> Result<LimitText, String> {
    let text = text.trim();
    if text == "endless" {
        return Ok(LimitText::Unlimited);
    }
    let whole =
        |dimension| quantity::whole(text, dimension).filter(|number| *number < QUANTITY_LIMIT);
    let packets = || whole(Dimension::Packets).map(LimitText::Packets);
    let bytes = || whole(Dimension::Bytes).map(LimitText::Bytes);
    let products =
        || quantity::multiple(text, "bdp").map(|(part, of)| LimitText::Products(part, of));
    packets().or_else(bytes).or_else(products).ok_or_else(|| {
        format!(
            "`{text}` is not a limit of a queue; write `100 packets`, `64KB`, `2bdp` or `endless`"
        )
    })
}

/// Parses a number of bytes such as `64KB`.
pub fn bytes(text: &str) -> Result<u64, String> {
    quantity::whole(text.trim(), Dimension::Bytes).ok_or_else(|| {
        format!("`{text}` is not a number of bytes; write for example `200 bytes` or `5MB`")
    })
}

/// How much later than specified a flow may open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// A time.
    Time(Time),
    /// A multiple of its round-trip time, as a fraction.
    RoundTrips(u64, u64),
}

impl Spread {
    /// One round-trip time.
    pub const ROUND_TRIP: Self = Self::RoundTrips(1, 1);

    /// Returns the spread as a time, for a flow with this round-trip time.
    pub fn of(self, round_trip: Time) -> Time {
        match self {
            Self::Time(time) => time,
            Self::RoundTrips(part, of) => {
                let time = u128::from(round_trip) * u128::from(part) / u128::from(of.max(1));
                Time::try_from(time).unwrap_or(Time::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_four_forms() {
        let of = |text| limit(text).ok();
        assert_eq!(of("endless"), Some(LimitText::Unlimited));
        assert_eq!(of("100 packets"), Some(LimitText::Packets(100)));
        assert_eq!(of("1.5MB"), Some(LimitText::Bytes(1_500_000)));
        assert_eq!(of("64KB"), Some(LimitText::Bytes(64_000)));
        assert_eq!(of("0.5bdp"), Some(LimitText::Products(1, 2)));
        for wrong in ["", "100", "2 bananas", "1.5 packets", "bdp", "-1 packets"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn queue_limits_accept_standard_units() {
        let of = |text| limit(text).ok();
        assert_eq!(of("1GB"), Some(LimitText::Bytes(1_000_000_000)));
        assert_eq!(of("2 kpackets"), Some(LimitText::Packets(2_000)));
        // A number keeps all its digits: none is lost to a binary fraction or to rounding to
        // thousandths.
        assert_eq!(of("1.001001KB"), None, "no whole number of bytes");
        assert_eq!(of("0.0001bdp"), Some(LimitText::Products(1, 10_000)));
        assert_eq!(of("1/3 bdp"), Some(LimitText::Products(1, 3)));
        for wrong in ["64Kb", "64KiB", "1e3 packets", "2Mbps", "1ms"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn nonzero_share_is_not_rounded_to_zero() {
        assert_eq!(share(0.0, 1.0), Ok(0));
        assert_eq!(share(1e-6, 1.0), Ok(1));
        let why = share(1e-7, 1.0).unwrap_err();
        assert!(why.contains("millionths"), "{why}");
    }

    #[test]
    fn spread_is_a_time_or_a_number_of_round_trips() {
        let plain = Quantities { scale: 1 };
        assert_eq!(plain.spread("3ms"), Ok(Spread::Time(3_000_000_000)));
        let half = plain.spread("0.5rtt");
        assert_eq!(half.map(|spread| spread.of(7)), Ok(3));
        assert!(plain.spread("2bdp").is_err());
    }

    #[test]
    fn a_scale_divides_times_and_multiplies_rates() {
        let fast = Quantities { scale: 20 };
        assert_eq!(fast.time("500ms"), Ok(25_000_000_000));
        assert_eq!(fast.rate("10Mbps"), Ok(200_000_000));
        assert_eq!(fast.time("0s"), Ok(0));
        assert!(fast.time("10ps").is_err());
        assert!(fast.time("100").is_err());
    }
}
