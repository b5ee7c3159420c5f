//! Short fingerprints of long data: equal data give equal fingerprints on any
//! machine.

/// 64 bits of FNV-1a as sixteen hexadecimal digits. It distinguishes versions,
/// but is not collision-resistant against an attacker.
#[must_use]
pub fn fingerprint(bytes: impl IntoIterator<Item = u8>) -> String {
    let hash = bytes
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn fingerprint_matches_published_fnv_vectors() {
        assert_eq!(super::fingerprint([]), "cbf29ce484222325");
        assert_eq!(super::fingerprint(*b"foobar"), "85944171f73967e8");
    }
}
