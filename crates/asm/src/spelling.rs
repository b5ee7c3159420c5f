//! Guesses what a misspelt name was meant to be.

/// Names longer than this are not compared: the guess would not be worth its
/// time.
const LONGEST: usize = 64;

/// The known name that is nearest to `wrong`, if one is near enough to be a
/// likely slip. Letter case counts for nothing; of equally near names the first
/// is taken.
pub fn closest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = match wrong.len() {
        0..=1 => 0,
        2..=3 => 1,
        4..=7 => 2,
        8..=LONGEST => 3,
        _ => return None,
    };
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        if name.len() > LONGEST || name.len().abs_diff(wrong.len()) > allowed {
            continue;
        }
        let distance = distance(wrong.as_bytes(), name.as_bytes(), allowed);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Edits (insert, delete, replace, swap of neighbours) that make `b` of `a`, both
/// of at most [`LONGEST`] bytes; some number above `allowed` if there are more.
fn distance(a: &[u8], b: &[u8], allowed: usize) -> usize {
    // Programs may be wrong in every line, so nothing is allocated here.
    let (mut before, mut last, mut row) = ([0; LONGEST + 1], [0; LONGEST + 1], [0; LONGEST + 1]);
    for (j, cell) in last.iter_mut().enumerate() {
        *cell = j;
    }
    let mut least_before = 0;
    for (i, x) in a.iter().enumerate() {
        row[0] = i + 1;
        let mut least_here = row[0];
        for (j, y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(!x.eq_ignore_ascii_case(y));
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0
                && j > 0
                && x.eq_ignore_ascii_case(&b[j - 1])
                && a[i - 1].eq_ignore_ascii_case(y)
            {
                least = least.min(before[j - 1] + 1);
            }
            row[j + 1] = least;
            least_here = least_here.min(least);
        }
        // A swap reaches back two rows.
        if least_here > allowed && least_before > allowed {
            return least_here;
        }
        least_before = least_here;
        (before, last, row) = (last, row, before);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn finds_a_swapped_pair_and_a_lost_letter() {
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
    fn case_is_no_difference() {
        assert_eq!(closest("ENDIF", ["endif"]), Some("endif"));
    }

    #[test]
    fn far_names_are_not_offered() {
        assert_eq!(closest("wibble", ["include", "endif"]), None);
        assert_eq!(closest("", ["a"]), None);
        assert_eq!(closest("x", ["y"]), None);
        let long = "x".repeat(500);
        assert_eq!(closest(&long, [long.as_str()]), None);
    }
}
