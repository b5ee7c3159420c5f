//! Frames that are not plain datagrams, and their shares.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::kind::FrameKind;
use super::number;
use crate::quantity;
use crate::{Ratio, RatioError};

/// A fraction of all frames, from none to all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share(Option<Ratio>);

/// Why a text is not a share.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// The number is wrong.
    #[error("`{text}` is not a share of the frames: {source}")]
    Number {
        /// The text.
        text: String,
        /// What is wrong with the number.
        source: RatioError,
    },
    /// It is more than all frames.
    #[error("a share of {0} is more than all frames; a share is at most 1")]
    AboveOne(String),
}

impl Share {
    /// The share of no frames.
    pub const NONE: Share = Share(None);

    /// Returns the share as a fraction; `None` for no frames.
    #[must_use]
    pub fn ratio(self) -> Option<Ratio> {
        self.0
    }

    /// Whether the share is zero.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the share of 2^64, rounded down.
    fn of_all(self) -> u128 {
        self.0.map_or(0, |ratio| {
            (u128::from(ratio.numerator()) << 64) / u128::from(ratio.denominator())
        })
    }
}

impl FromStr for Share {
    type Err = ShareError;

    /// Parses `0.01`, `1/64`, `5%`, `0`.
    fn from_str(text: &str) -> Result<Self, ShareError> {
        let number_error = |source| ShareError::Number {
            text: text.to_string(),
            source,
        };
        let (digits, parts) = text
            .strip_suffix('%')
            .map_or((text, 1), |digits| (digits, 100));
        let Some(ratio) = quantity::ratio_or_zero(digits.trim_end()).map_err(number_error)? else {
            return Ok(Self::NONE);
        };
        let denominator = ratio.denominator().checked_mul(parts);
        let ratio = denominator
            .ok_or(RatioError::TooLarge)
            .and_then(|denominator| Ratio::new(ratio.numerator(), denominator))
            .map_err(number_error)?;
        if ratio.numerator() > ratio.denominator() {
            return Err(ShareError::AboveOne(text.to_string()));
        }
        Ok(Self(Some(ratio)))
    }
}

impl fmt::Display for Share {
    /// Writes the form that [`Share::from_str`] parses.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(ratio) => ratio.fmt(out),
            None => out.write_str("0"),
        }
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Expected input, for error messages.
const SHARE: &str = "a share of the frames such as 0.01";

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number::deserialize(deserializer, SHARE)
    }
}

impl JsonSchema for Share {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Share".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        number::schema(SHARE)
    }
}

/// The bytes of an IPv4 option, at most 40.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionBytes(Vec<u8>);

/// A text that is not an option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an IPv4 option: write its bytes in hexadecimal, such as \"94 04 00 00\" for router alert, 1 to 40 of them"
)]
pub struct OptionError(String);

impl OptionBytes {
    /// Returns the bytes, type first, without padding.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Default for OptionBytes {
    /// Returns a Quick-Start rate request (RFC 4782): type 25, 8 bytes, function 0 with rate code 10
    /// (40.96 Mb/s), a QS TTL and a nonce.
    fn default() -> Self {
        Self(vec![0x19, 0x08, 0x0a, 0x5f, 0x12, 0x34, 0x56, 0x78])
    }
}

impl FromStr for OptionBytes {
    type Err = OptionError;

    /// Parses hexadecimal digits, two per byte, with or without blanks or colons between bytes.
    fn from_str(text: &str) -> Result<Self, OptionError> {
        let error = || OptionError(text.to_string());
        let digits: Vec<u8> = text
            .chars()
            .filter(|c| !matches!(c, ' ' | ':'))
            .map(|c| c.to_digit(16).map(|digit| digit as u8).ok_or_else(error))
            .collect::<Result<_, _>>()?;
        if digits.is_empty() || digits.len() % 2 == 1 || digits.len() > 80 {
            return Err(error());
        }
        Ok(Self(
            digits
                .chunks(2)
                .map(|pair| pair[0] << 4 | pair[1])
                .collect(),
        ))
    }
}

impl fmt::Display for OptionBytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes: Vec<_> = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        out.write_str(&bytes.join(" "))
    }
}

impl Serialize for OptionBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Expected input, for error messages.
const OPTION: &str = "the bytes of an option in hexadecimal";

impl<'de> Deserialize<'de> for OptionBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number::deserialize(deserializer, OPTION)
    }
}

impl JsonSchema for OptionBytes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OptionBytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        number::schema(OPTION)
    }
}

/// The share of each special kind of frame; the remaining frames are plain UDP datagrams.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs, reason = "each is the share of the kind of its name")]
pub struct Special {
    pub tcp: Share,
    pub icmp: Share,
    pub options: Share,
    /// The IPv4 option of the frames with options.
    pub option: OptionBytes,
    pub ttl: Share,
    pub checksum: Share,
    pub fragment: Share,
    pub arp: Share,
    pub ipv6: Share,
    pub broadcast: Share,
    pub multicast: Share,
    pub stranger: Share,
}

impl Special {
    /// Returns the share of each special kind.
    #[must_use]
    pub fn shares(&self) -> [(FrameKind, Share); 11] {
        [
            (FrameKind::Tcp, self.tcp),
            (FrameKind::Icmp, self.icmp),
            (FrameKind::Options, self.options),
            (FrameKind::Ttl, self.ttl),
            (FrameKind::Checksum, self.checksum),
            (FrameKind::Fragment, self.fragment),
            (FrameKind::Arp, self.arp),
            (FrameKind::Ipv6, self.ipv6),
            (FrameKind::Broadcast, self.broadcast),
            (FrameKind::Multicast, self.multicast),
            (FrameKind::Stranger, self.stranger),
        ]
    }

    /// Whether there are no special frames.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shares().iter().all(|(_, share)| share.is_none())
    }

    /// Returns the table from which kinds are drawn; `None` if the shares add up to more than all frames.
    pub(super) fn kind_table(&self) -> Option<KindTable> {
        let mut sum = 0u128;
        let mut limits = Vec::new();
        for (kind, share) in self.shares() {
            if !share.is_none() {
                sum += share.of_all();
                limits.push((sum, kind));
            }
        }
        (sum <= 1 << 64).then_some(KindTable { limits })
    }
}

/// Maps random 64-bit numbers to kinds.
#[derive(Clone, Debug)]
pub(super) struct KindTable {
    /// For each kind, the first number that no longer belongs to it, ascending.
    limits: Vec<(u128, FrameKind)>,
}

impl KindTable {
    /// Whether all frames are plain, so that nothing need be drawn.
    pub(super) fn is_plain(&self) -> bool {
        self.limits.is_empty()
    }

    pub(super) fn kind(&self, number: u64) -> FrameKind {
        let number = u128::from(number);
        let found = self.limits.iter().find(|(limit, _)| number < *limit);
        found.map_or(FrameKind::Plain, |(_, kind)| *kind)
    }

    /// Returns how many of the 2^64 numbers map to each kind.
    pub(super) fn parts(&self) -> Vec<(u128, FrameKind)> {
        let mut before = 0;
        let mut parts = Vec::new();
        for &(limit, kind) in &self.limits {
            parts.push((limit - before, kind));
            before = limit;
        }
        parts.push(((1 << 64) - before, FrameKind::Plain));
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_numbers_match_their_positions() {
        for (number, kind) in FrameKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(FrameKind::of_number(number as u8), Some(kind));
        }
        assert_eq!(FrameKind::of_number(12), None);
        let special = Special::default();
        let named: Vec<_> = special.shares().iter().map(|(kind, _)| *kind).collect();
        assert_eq!(named, FrameKind::ALL[1..], "every special kind has a share");
    }

    #[test]
    fn shares_parse_and_print() {
        for (text, printed) in [
            ("0.01", "0.01"),
            ("5%", "0.05"),
            ("1/3", "1/3"),
            ("0", "0"),
            ("1", "1"),
        ] {
            assert_eq!(text.parse::<Share>().unwrap().to_string(), printed);
        }
        assert_eq!("2".parse::<Share>(), Err(ShareError::AboveOne("2".into())));
        for text in ["", "-1", "half", "1/0"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }

    #[test]
    fn kind_table_matches_the_shares() {
        let special = Special {
            tcp: "0.25".parse().unwrap(),
            arp: "1/2".parse().unwrap(),
            ..Special::default()
        };
        let kind_table = special.kind_table().unwrap();
        assert_eq!(kind_table.kind(0), FrameKind::Tcp);
        assert_eq!(kind_table.kind((1 << 62) - 1), FrameKind::Tcp);
        assert_eq!(kind_table.kind(1 << 62), FrameKind::Arp);
        assert_eq!(kind_table.kind(3 << 62), FrameKind::Plain);
        assert_eq!(
            kind_table.parts(),
            [
                (1 << 62, FrameKind::Tcp),
                (1 << 63, FrameKind::Arp),
                (1 << 62, FrameKind::Plain)
            ]
        );
        let whole = Special {
            tcp: "1".parse().unwrap(),
            arp: "0.1".parse().unwrap(),
            ..Special::default()
        };
        assert!(whole.kind_table().is_none(), "more than all frames");
    }

    #[test]
    fn options_parse_and_print() {
        let quick_start = OptionBytes::default();
        assert_eq!(quick_start.to_string().parse(), Ok(quick_start));
        assert_eq!(
            "94:04:00:00".parse::<OptionBytes>().unwrap().bytes(),
            [0x94, 4, 0, 0]
        );
        for text in ["", "9", "zz", &"00".repeat(41)] {
            assert!(text.parse::<OptionBytes>().is_err(), "{text}");
        }
    }
}
