//! Suggestions for misspelt names.

/// Length limit of compared names; for longer ones a suggestion is not worth
/// the time.
const MAX_LENGTH: usize = 64;

/// Number of names or messages after which no more suggestions are sought: comparing each of
/// thousands with all known names takes minutes, and only the first hundred messages are shown.
pub(crate) const MAX_SUGGESTIONS: usize = 100;

/// Returns the known name that is closest to `wrong`, if it is close enough to
/// be a likely typo. Letter case is ignored; among equally close names the
/// first is chosen.
pub fn closest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = match wrong.len() {
        0..=1 => 0,
        2..=3 => 1,
        4..=7 => 2,
        8..=MAX_LENGTH => 3,
        _ => return None,
    };
    let wrong = wrong.to_ascii_lowercase();
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        if name.len() > MAX_LENGTH || name.len().abs_diff(wrong.len()) > allowed {
            continue;
        }
        // The distance counts insertions, deletions, replacements and swaps of
        // neighbours.
        let distance = strsim::osa_distance(&wrong, &name.to_ascii_lowercase());
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn swapped_and_missing_letters_are_corrected() {
        assert_eq!(
            closest("inculde", ["ifdef", "include", "if"]),
            Some("include")
        );
        assert_eq!(
            closest("ring_pt", ["ring_get", "ring_put"]),
            Some("ring_put")
        );
    }

    #[test]
    fn letter_case_is_ignored() {
        assert_eq!(closest("ENDIF", ["endif"]), Some("endif"));
    }

    #[test]
    fn distant_names_are_not_suggested() {
        assert_eq!(closest("wibble", ["include", "endif"]), None);
        assert_eq!(closest("", ["a"]), None);
        assert_eq!(closest("x", ["y"]), None);
        let long = "x".repeat(500);
        assert_eq!(closest(&long, [long.as_str()]), None);
    }
}
