//! The forms of names: sigil and stem, and the names of registers by number.

/// Splits a name into its sigil and the rest.
#[must_use]
pub fn split_sigil(name: &str) -> (&str, &str) {
    for sigil in ["$$", "$", "n$", "@"] {
        if let Some(stem) = name.strip_prefix(sigil) {
            return (sigil, stem);
        }
    }
    ("", name)
}

/// Whether a text is a name without a sigil.
#[must_use]
pub fn is_plain(stem: &str) -> bool {
    stem.bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && stem
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// `a5`, `@b3`, `$2`, `s1`, `L7#`: a letter or sigil and a number.
#[must_use]
pub fn is_physical(name: &str) -> bool {
    let (_, stem) = split_sigil(name.trim_end_matches('#'));
    let digits = stem.strip_prefix(['a', 'A', 'b', 'B', 's', 'S', 'L', 'l']);
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::{is_physical, is_plain, split_sigil};

    #[test]
    fn sigils_are_split_from_names() {
        assert_eq!(split_sigil("$$x"), ("$$", "x"));
        assert_eq!(split_sigil("n$x"), ("n$", "x"));
        assert_eq!(split_sigil("next"), ("", "next"));
        assert!(is_plain("_a1") && !is_plain("1a") && !is_plain("") && !is_plain("a b"));
    }

    #[test]
    fn physical_names_are_recognised() {
        for name in ["a5", "@b16", "s1", "L7#"] {
            assert!(is_physical(name), "{name}");
        }
        for name in ["a", "sum1", "b1x", "count"] {
            assert!(!is_physical(name), "{name}");
        }
    }
}
