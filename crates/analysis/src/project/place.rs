//! The position of a place in a project file: its section and its key. The text is being typed, so
//! it need not be valid TOML yet; only what precedes the place is used.

use std::ops::Range;

/// The kind of text at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The name of a section, between brackets.
    Header,
    /// A key.
    Key,
    /// A value, or an entry of a list value.
    Value,
}

/// A place in a project file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The kind of text.
    pub at: At,
    /// The keys above it: of the section and of the surrounding tables; for a value, also its own.
    pub path: Vec<String>,
    /// The bytes of the word typed so far, without quotes.
    pub typed: Range<usize>,
    /// Whether it is preceded by a quote.
    pub quoted: bool,
}

/// The bracket that a comma or a closing bracket refers to.
enum Open {
    List,
    /// A table, with the key path that leads to it.
    Table(Vec<String>),
}

/// The place of a byte; `None` in a comment or after a value.
#[must_use]
pub fn place(text: &str, offset: usize) -> Option<Place> {
    let mut scan = Scan {
        text: text.get(..offset)?,
        at: 0,
        section: Vec::new(),
        key: Vec::new(),
        in_value: false,
        done: false,
        open: Vec::new(),
    };
    scan.run()
}

struct Scan<'a> {
    /// The text up to the place.
    text: &'a str,
    at: usize,
    section: Vec<String>,
    /// The key below the section and the open tables.
    key: Vec<String>,
    in_value: bool,
    /// Whether a value has been read, so that only a comma or an end can follow.
    done: bool,
    open: Vec<Open>,
}

impl Scan<'_> {
    fn run(&mut self) -> Option<Place> {
        while let Some(letter) = self.text[self.at..].chars().next() {
            let start = self.at;
            match letter {
                '\n' => {
                    self.at += 1;
                    if self.open.is_empty() {
                        self.fresh();
                    }
                }
                '#' => self.at += self.text[start..].find('\n')?,
                '"' | '\'' => {
                    let Some(inner) = self.string(letter) else {
                        return Some(
                            self.place(self.start_of_string(start)..self.text.len(), true),
                        );
                    };
                    let word = self.text[inner].to_owned();
                    if self.in_value {
                        self.done = true;
                    } else {
                        self.key.push(word);
                    }
                }
                '[' if !self.in_value && self.open.is_empty() => {
                    if let Some(place) = self.header() {
                        return Some(place);
                    }
                }
                '[' => {
                    self.at += 1;
                    self.open.push(Open::List);
                    self.done = false;
                }
                '{' => {
                    self.at += 1;
                    let depth = self.key.clone();
                    self.open.push(Open::Table(depth));
                    (self.in_value, self.done) = (false, false);
                }
                ']' | '}' => {
                    self.at += 1;
                    if let Some(Open::Table(key)) = self.open.pop() {
                        self.key = key;
                    }
                    (self.in_value, self.done) = (true, true);
                }
                ',' => {
                    self.at += 1;
                    self.done = false;
                    if let Some(Open::Table(key)) = self.open.last() {
                        self.key.clone_from(key);
                        self.in_value = false;
                    }
                }
                '=' => {
                    self.at += 1;
                    self.in_value = true;
                }
                _ if is_bare(letter) => {
                    let length = self.text[start..].find(|c| !is_bare(c));
                    let Some(length) = length else {
                        return (!self.done).then(|| self.place(start..self.text.len(), false));
                    };
                    self.at += length;
                    if self.in_value {
                        self.done = true;
                    } else {
                        self.key.push(self.text[start..self.at].to_owned());
                    }
                }
                other => self.at += other.len_utf8(),
            }
        }
        // After a key and a blank, `=` must follow.
        let behind_key = !self.in_value && {
            let depth = match self.open.last() {
                Some(Open::Table(key)) => key.len(),
                _ => 0,
            };
            self.key.len() > depth && !self.text.ends_with('.')
        };
        let end = self.text.len();
        (!self.done && !behind_key).then(|| self.place(end..end, false))
    }

    /// Resets the state at the beginning of a line.
    fn fresh(&mut self) {
        self.key.clear();
        (self.in_value, self.done) = (false, false);
    }

    fn place(&self, typed: Range<usize>, quoted: bool) -> Place {
        Place {
            at: if self.in_value { At::Value } else { At::Key },
            path: [self.section.as_slice(), &self.key].concat(),
            typed,
            quoted,
        }
    }

    fn start_of_string(&self, quote: usize) -> usize {
        let mark = &self.text[quote..=quote];
        quote
            + if self.text[quote..].starts_with(&mark.repeat(3)) {
                3
            } else {
                1
            }
    }

    /// Skips a string. Returns its bytes, or `None` if it does not end before the place.
    fn string(&mut self, quote: char) -> Option<Range<usize>> {
        let start = self.start_of_string(self.at);
        let long = start - self.at == 3;
        let mut escaped = false;
        for (at, letter) in self.text[start..].char_indices() {
            let at = start + at;
            if escaped {
                escaped = false;
            } else if letter == '\\' && quote == '"' {
                escaped = true;
            } else if letter == '\n' && !long {
                // The string was not closed: another line follows.
                self.at = at;
                return Some(start..at);
            } else if letter == quote {
                let mark = quote.to_string().repeat(3);
                if !long {
                    self.at = at + 1;
                    return Some(start..at);
                }
                if self.text[at..].starts_with(&mark) {
                    self.at = at + 3;
                    return Some(start..at);
                }
            }
        }
        None
    }

    /// Reads the name of a section. Returns the place if it lies inside the name.
    fn header(&mut self) -> Option<Place> {
        let line_end = self.text[self.at..].find('\n').map(|end| self.at + end);
        let line = &self.text[self.at..line_end.unwrap_or(self.text.len())];
        let name = line.trim_start_matches('[');
        let start = self.at + line.len() - name.len();
        let closed = name.find(']');
        let name = &name[..closed.unwrap_or(name.len())];
        if line_end.is_none() && closed.is_none() {
            return Some(Place {
                at: At::Header,
                path: Vec::new(),
                typed: start..self.text.len(),
                quoted: false,
            });
        }
        self.section = path_of(name);
        self.fresh();
        self.done = true;
        self.at = line_end.unwrap_or(self.text.len());
        None
    }
}

/// The keys of a dotted name.
#[must_use]
pub fn path_of(name: &str) -> Vec<String> {
    let clean = |part: &str| part.trim().trim_matches(['"', '\'']).to_owned();
    name.split('.').map(clean).collect()
}

/// Whether a character can occur in keys without quotes, or in numbers.
pub fn is_bare(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '+' | ':')
}

#[cfg(test)]
mod tests {
    use super::{At, Place, place};

    /// The place marked by `|` in a text.
    fn of(text: &str) -> Option<(At, String, String)> {
        let offset = text.find('|').expect("a place");
        let Place {
            at, path, typed, ..
        } = place(&text.replace('|', ""), offset)?;
        Some((at, path.join("."), text[typed].to_owned()))
    }

    fn is(text: &str, at: At, path: &str, typed: &str) {
        assert_eq!(
            of(text),
            Some((at, path.to_owned(), typed.to_owned())),
            "{text}"
        );
    }

    #[test]
    fn cursor_position_is_found_in_incomplete_toml() {
        is("na|", At::Key, "", "na");
        is("[ch|", At::Header, "", "ch");
        is("[[gpp.sr|]]\n", At::Header, "", "gpp.sr");
        is("[chip]\n|", At::Key, "chip", "");
        is("[chip]\nprofile = \"ix|", At::Value, "chip.profile", "ix");
        is("[chip]\nprofile = |", At::Value, "chip.profile", "");
        is(
            "[[me]]\nid = \"0\n[gpp]\ntasks = [\"rou|\"]",
            At::Value,
            "gpp.tasks",
            "rou",
        );
        is(
            "[gpp]\ntasks = [\n  \"routes\", # all\n  \"|",
            At::Value,
            "gpp.tasks",
            "",
        );
        is(
            "[load]\nspecial = { tcp = 0.1, ar|",
            At::Key,
            "load.special",
            "ar",
        );
        is(
            "[load]\nspecial = { tcp = |",
            At::Value,
            "load.special.tcp",
            "",
        );
        is("load.special.t|", At::Key, "load.special", "t");
        is(
            "[load]\nsize = [{ bytes = 64 }, { we|",
            At::Key,
            "load.size",
            "we",
        );
        is(
            "[load]\nspecial = { tcp = 0.1 }\nra|",
            At::Key,
            "load",
            "ra",
        );
        is("text = \"\"\"\n[no]\n\"\"\"\nx|", At::Key, "", "x");
    }

    #[test]
    fn comments_and_values_offer_no_keys() {
        for text in [
            "# na|",
            "name = 3 |",
            "name = \"x\" |",
            "name |",
            "[chip] |",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
