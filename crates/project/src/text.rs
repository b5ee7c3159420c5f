//! Small notations inside project values: index lists, MAC addresses, prefixes, names.

/// Parses microengine indices such as `0` or `0-2,4`; returns them in ascending order without
/// repetition.
///
/// # Errors
/// Returns an error that tells what is wrong with the list.
pub fn parse_ids(text: &str, count: u8) -> Result<Vec<u8>, String> {
    numbers(text, "microengine", ("this chip", count))
}

/// Parses context numbers such as `0` or `0-2,4`, like [`parse_ids`].
///
/// # Errors
/// Returns an error that tells what is wrong with the list.
pub(crate) fn parse_contexts(text: &str) -> Result<Vec<u8>, String> {
    numbers(text, "context", ("a microengine", 8))
}

/// Parses nodes of a network such as `1` or `1-3,5`, where the first is 1; returns them in
/// ascending order without repetition.
///
/// # Errors
/// Returns an error that tells what is wrong with the list.
pub(crate) fn parse_nodes(text: &str) -> Result<Vec<u8>, String> {
    let nodes = numbers(text, "router", ("a chain", u8::MAX))?;
    if nodes.first() == Some(&0) {
        return Err("there is no router 0: the first one is 1".to_owned());
    }
    Ok(nodes)
}

/// Parses ranges of numbers such as `0` or `0-2,4`; returns first and last of each.
///
/// # Errors
/// Returns an error that tells what is wrong with the list.
pub(crate) fn parse_list(text: &str) -> Result<Vec<(u32, u32)>, String> {
    let range = |part: &str| {
        let part = part.trim();
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |digits: &str| {
            digits.trim().parse::<u32>().map_err(|_| {
                format!("`{part}` is neither an index nor a range; write for example `0-2,4`")
            })
        };
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("the range `{part}` runs backwards"));
        }
        Ok((first, last))
    };
    text.split(',').map(range).collect()
}

/// Returns the numbers of a list, each of which must be below `count`, the number that `owner` has.
fn numbers(text: &str, what: &str, (owner, count): (&str, u8)) -> Result<Vec<u8>, String> {
    let mut all = Vec::new();
    for (first, last) in parse_list(text)? {
        if last >= u32::from(count) {
            return Err(format!(
                "there is no {what} {last}: {owner} has 0 to {}",
                count.saturating_sub(1)
            ));
        }
        all.extend(first as u8..=last as u8);
    }
    all.sort_unstable();
    for pair in all.windows(2) {
        if let [first, second] = pair
            && first == second
        {
            return Err(format!("{what} {first} is listed twice"));
        }
    }
    Ok(all)
}

/// Parses `02:00:00:00:01:00`, also with `-`.
#[must_use]
pub(crate) fn parse_mac(text: &str) -> Option<[u8; 6]> {
    let mut mac = [0; 6];
    let mut parts = text.split([':', '-']);
    for byte in &mut mac {
        let part = parts.next()?;
        if part.is_empty() || part.len() > 2 || !part.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(mac)
}

/// Parses a 32-bit number, decimal or hexadecimal after `0x`; negative numbers become their two's
/// complement.
#[must_use]
pub fn parse_value(text: &str) -> Option<u32> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    let body = hex.unwrap_or(digits);
    if !body.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let number = i64::from_str_radix(body, if hex.is_some() { 16 } else { 10 }).ok()?;
    value_of(if negative { -number } else { number })
}

/// Returns a number as 32 bits, if it fits.
#[must_use]
pub(crate) fn value_of(number: i64) -> Option<u32> {
    let unsigned = u32::try_from(number).ok();
    unsigned.or_else(|| i32::try_from(number).ok().map(i32::cast_unsigned))
}

/// Parses the address and the length of `10.0.0.0/8`. The length may be up to 255; the routing
/// table checks it.
#[must_use]
pub(crate) fn parse_prefix(text: &str) -> Option<(u32, u8)> {
    let (address, length) = text.split_once('/')?;
    let address: std::net::Ipv4Addr = address.parse().ok()?;
    Some((address.to_bits(), length.parse().ok()?))
}

/// Whether a source can use the name: a letter or `_`, then letters, digits, `_`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::{is_name, parse_ids, parse_mac, parse_prefix, parse_value};

    #[test]
    fn values() {
        assert_eq!(parse_value("0x400"), Some(0x400));
        assert_eq!(parse_value("4294967295"), Some(u32::MAX));
        assert_eq!(parse_value("-1"), Some(u32::MAX));
        for bad in [
            "",
            "-",
            "0x",
            "4294967296",
            "-2147483649",
            "+1",
            "0x-1",
            "a",
        ] {
            assert_eq!(parse_value(bad), None, "{bad}");
        }
    }

    #[test]
    fn index_lists() {
        assert_eq!(parse_ids("0-2, 4", 8), Ok(vec![0, 1, 2, 4]));
        assert_eq!(parse_ids("7", 8), Ok(vec![7]));
        assert!(parse_ids("8", 8).unwrap_err().contains("0 to 7"));
        assert!(parse_ids("0-99999999999", 8).is_err());
        assert!(parse_ids("2-1", 8).unwrap_err().contains("backwards"));
        assert!(
            parse_ids("1,0-2", 8)
                .unwrap_err()
                .contains("1 is listed twice")
        );
        for bad in ["", "a", "1-", "-1", "1,,2"] {
            assert!(parse_ids(bad, 8).is_err(), "{bad}");
        }
    }

    #[test]
    fn mac_addresses() {
        assert_eq!(parse_mac("02:00:00:00:01:0a"), Some([2, 0, 0, 0, 1, 10]));
        assert_eq!(parse_mac("02-0-0-0-1-A"), Some([2, 0, 0, 0, 1, 10]));
        for bad in [
            "",
            "02:00:00:00:01",
            "02:00:00:00:01:00:00",
            "g2:00:00:00:01:00",
            "002:0:0:0:0:0",
            "+2:0:0:0:0:0",
        ] {
            assert_eq!(parse_mac(bad), None, "{bad}");
        }
    }

    #[test]
    fn prefixes() {
        assert_eq!(parse_prefix("10.0.0.0/8"), Some((0x0a00_0000, 8)));
        for bad in [
            "10.0.0.0",
            "10.0.0/8",
            "10.0.0.0/x",
            "10.0.0.256/8",
            "10.0.0.0/-1",
        ] {
            assert_eq!(parse_prefix(bad), None, "{bad}");
        }
    }

    #[test]
    fn names() {
        assert!(is_name("TX_RING") && is_name("_a1"));
        assert!(!is_name("") && !is_name("1a") && !is_name("a-b") && !is_name("ä"));
    }
}
