//! Formats times of captures as dates.

const DAY_NS: i128 = 24 * 3600 * 1_000_000_000;

/// The date (UTC) of a time in nanoseconds since 1970, such as `2024-02-29`.
pub fn show_date(nanoseconds: i128) -> String {
    let (year, month, day) = civil(nanoseconds.div_euclid(DAY_NS));
    format!("{year:04}-{month:02}-{day:02}")
}

/// The year of a time in nanoseconds since 1970.
pub fn year(nanoseconds: i128) -> i128 {
    civil(nanoseconds.div_euclid(DAY_NS)).0
}

/// Year, month and day in the Gregorian calendar, from days since 1970.
fn civil(days: i128) -> (i128, i128, i128) {
    // With years that begin in March, the leap day is the last day of the year; the cycle is 400
    // years.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let years = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    (era * 400 + years + i128::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::show_date;

    #[test]
    fn timestamps_show_as_calendar_dates() {
        for (seconds, date) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (951_782_400, "2000-02-29"),
            (1_709_164_800, "2024-02-29"),
            (4_294_967_295, "2106-02-07"),
            (16_725_225_600, "2500-01-01"),
        ] {
            assert_eq!(show_date(seconds * 1_000_000_000), date);
        }
    }
}
