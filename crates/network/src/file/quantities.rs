//! Times, rates and shares of a network file, scaled.

use npsim_project::quantity::{self, parse_rate};
use npsim_transport::time::Time;

/// The scale of a file.
#[derive(Debug, Clone, Copy)]
pub struct Quantities {
    /// Times are divided by it, rates multiplied.
    pub scale: u64,
}

impl Quantities {
    /// A time such as `500ms`, divided; one that is not zero stays so.
    pub fn time(self, text: &str) -> Result<Time, String> {
        match text.parse()? {
            quantity::Time::Picoseconds(time) if time > 0 && time < self.scale => Err(format!(
                "nothing is left of `{text}` divided by {}",
                self.scale
            )),
            quantity::Time::Picoseconds(time) => Ok(time / self.scale),
            quantity::Time::Cycles(0) => Ok(0),
            quantity::Time::Cycles(_) => Err(format!(
                "`{text}` is no time of a network, which has no cycles; write for example `500ms`"
            )),
        }
    }

    /// Bits per second, such as `10Mbps`, multiplied.
    pub fn rate(self, text: &str) -> Result<u64, String> {
        parse_rate(text)?
            .checked_mul(self.scale)
            .ok_or_else(|| format!("`{text}` times {} is more than can be counted", self.scale))
    }
}

/// A share in parts per million.
pub fn share(share: f64, most: f64) -> Result<u32, String> {
    if !(0.0..=most).contains(&share) {
        return Err(format!("`{share}` does not lie between 0 and {most}"));
    }
    Ok((share * 1e6).round() as u32)
}

/// What limits a queue, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitText {
    Endless,
    Packets(u64),
    Bytes(u64),
    /// Thousandths of a bandwidth-delay product.
    Products(u64),
}

/// `100 packets`, `64KB`, `1.5MB`, `2bdp`, `endless`.
pub fn limit(text: &str) -> Result<LimitText, String> {
    let text = text.trim();
    if text == "endless" {
        return Ok(LimitText::Endless);
    }
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let wrong = || {
        format!("`{text}` is no limit of a queue; write `100 packets`, `64KB`, `2bdp` or `endless`")
    };
    let number: f64 = number.replace('_', "").parse().map_err(|_| wrong())?;
    let whole = |number: f64| {
        let sound = (0.0..1e15).contains(&number) && number.fract() == 0.0;
        sound.then_some(number as u64).ok_or_else(wrong)
    };
    Ok(match unit.trim() {
        "packets" | "packet" => LimitText::Packets(whole(number)?),
        "B" | "bytes" => LimitText::Bytes(whole(number)?),
        "KB" | "kB" => LimitText::Bytes(whole(number * 1e3)?),
        "MB" => LimitText::Bytes(whole(number * 1e6)?),
        "bdp" => LimitText::Products(whole((number * 1e3).round())?),
        _ => return Err(wrong()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_four_forms() {
        let of = |text| limit(text).ok();
        assert_eq!(of("endless"), Some(LimitText::Endless));
        assert_eq!(of("100 packets"), Some(LimitText::Packets(100)));
        assert_eq!(of("1.5MB"), Some(LimitText::Bytes(1_500_000)));
        assert_eq!(of("64KB"), Some(LimitText::Bytes(64_000)));
        assert_eq!(of("0.5bdp"), Some(LimitText::Products(500)));
        for wrong in ["", "100", "2 bananas", "1.5 packets", "bdp", "-1 packets"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
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
