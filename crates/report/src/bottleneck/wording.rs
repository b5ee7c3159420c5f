//! Sentences from templates: readable numbers, and verbs that agree with their subject.

/// The subject of a sentence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    /// The name: `microengine 0 (forward.uc)`.
    pub name: &'a str,
    /// Whether it is plural.
    pub plural: bool,
}

impl<'a> Subject<'a> {
    /// Creates the subject; names of several microengines or lines are plural.
    pub fn named(name: &'a str) -> Self {
        let plural = ["microengines", "the lines"];
        Self {
            name,
            plural: plural.iter().any(|start| name.starts_with(start)),
        }
    }

    /// Fills in the words in braces of a template: `{name}`, `{Name}` at the start of a sentence,
    /// `{is}`, `{it}`, `{them}` and the verb ending `{s}` from the subject, all others from
    /// `values`.
    pub fn say(&self, template: &str, values: &[(&str, &str)]) -> String {
        let mut parts = template.split('{');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (word, rest) = part.split_once('}').unwrap_or((part, ""));
            match word {
                "name" => text += self.name,
                "Name" => text += &capital(self.name),
                "is" => text += if self.plural { "are" } else { "is" },
                "it" => text += if self.plural { "they" } else { "it" },
                "them" => text += if self.plural { "them" } else { "it" },
                "s" => text += if self.plural { "" } else { "s" },
                other => {
                    let value = values.iter().find(|(name, _)| *name == other);
                    debug_assert!(value.is_some(), "{{{other}}} has no value in `{template}`");
                    text += value.map_or("", |(_, value)| value);
                }
            }
            text += rest;
        }
        text
    }
}

/// Formats thousandths as `58.3%`.
pub(super) fn percent(permille: u64) -> String {
    format!("{}.{}%", permille / 10, permille % 10)
}

/// Capitalises the first letter.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::Subject;

    #[test]
    fn verbs_agree_with_their_subject() {
        let say = |name| {
            let template = "{Name} hold{s} {what} up: {it} {is} full, {what} wait for {them}.";
            Subject::named(name).say(template, &[("what", "frames")])
        };
        assert_eq!(
            say("microengine 1 (a.uc)"),
            "Microengine 1 (a.uc) holds frames up: it is full, frames wait for it."
        );
        assert_eq!(
            say("the lines out of ports 0, 1"),
            "The lines out of ports 0, 1 hold frames up: they are full, frames wait for them."
        );
    }
}
