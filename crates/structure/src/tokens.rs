//! Reads one file as tokens: the modules it declares, the names it defines, the paths it
//! mentions, its functions and their lengths. Test code (`#[cfg(test)]`) is skipped.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, Ident, Spacing, TokenStream, TokenTree};

/// The segments of a path as written, first segment first.
pub type Segments = Vec<String>;

/// The contents of one module, without its child modules in other files.
#[derive(Debug, Default)]
pub struct ModuleFacts {
    /// Path from the crate's root.
    pub path: Segments,
    /// Names defined by the module: types, traits, functions, constants, macros.
    pub items: Vec<String>,
    /// `use` declarations: the imported name (`*` for all names) and its path.
    pub uses: Vec<(String, Segments)>,
    /// Paths outside of `use` declarations, with at least two segments.
    pub mentions: Vec<Segments>,
    /// Child modules in other files, with the path given by an attribute, if any.
    pub children: Vec<(String, Option<String>)>,
}

/// A named type, trait or alias.
#[derive(Debug)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// The line of the name, from 1.
    pub line: usize,
}

/// A function with a body.
#[derive(Debug)]
pub struct Function {
    /// The name.
    pub name: String,
    /// The line of the name, from 1.
    pub line: usize,
    /// Number of lines from the name to the closing brace.
    pub lines: usize,
}

/// The contents of one file.
#[derive(Debug, Default)]
pub struct FileFacts {
    /// The file's module and the modules nested in it.
    pub modules: Vec<ModuleFacts>,
    /// Structures, enumerations, unions, traits and aliases at module level.
    pub types: Vec<Definition>,
    /// Functions and methods.
    pub functions: Vec<Function>,
    /// Line ranges, from 1, that are compiled for tests only.
    pub test_lines: Vec<Range<usize>>,
    /// Number of `#[inline(always)]` attributes.
    pub inline_always: usize,
    /// Number of `#[inline(never)]` attributes.
    pub inline_never: usize,
}

impl FileFacts {
    /// Reads `text`, which is the module `path`.
    ///
    /// # Errors
    /// Returns an error if the text cannot be split into Rust tokens.
    pub fn read(text: &str, path: Segments) -> Result<Self, String> {
        let stream: TokenStream = text.parse().map_err(|error| format!("{error}"))?;
        let mut facts = Self::default();
        facts.module(stream, path);
        Ok(facts)
    }

    fn module(&mut self, stream: TokenStream, path: Segments) {
        let mut module = ModuleFacts {
            path,
            ..ModuleFacts::default()
        };
        self.items(stream, &mut module, true);
        self.modules.push(module);
    }

    /// Reads the tokens of a module (`top`) or of a body in it.
    fn items(&mut self, stream: TokenStream, module: &mut ModuleFacts, top: bool) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut file_of_child = None;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    if let Some(group) = group_at(&tokens, at + 1, Delimiter::Bracket) {
                        if is_test(group) {
                            at = self.skip_test_item(&tokens, at);
                            continue;
                        }
                        self.count_inline(group);
                        file_of_child = path_attribute(group).or(file_of_child);
                        at += 1;
                    }
                }
                TokenTree::Ident(word) => {
                    at = self.word(&tokens, at, word, module, top, &mut file_of_child);
                    continue;
                }
                TokenTree::Group(group) => self.items(group.stream(), module, false),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            at += 1;
        }
    }

    /// Reads the construct that begins with the word at `at`, and returns the index after
    /// it.
    fn word(
        &mut self,
        tokens: &[TokenTree],
        at: usize,
        word: &Ident,
        module: &mut ModuleFacts,
        top: bool,
        file_of_child: &mut Option<String>,
    ) -> usize {
        let name = tokens.get(at + 1).and_then(ident);
        match (word.to_string().as_str(), name) {
            ("mod", Some(name)) if top => {
                if let Some(body) = group_at(tokens, at + 2, Delimiter::Brace) {
                    let mut path = module.path.clone();
                    path.push(name.to_string());
                    self.module(body.stream(), path);
                } else {
                    module
                        .children
                        .push((name.to_string(), file_of_child.take()));
                }
                return at + 3;
            }
            ("use", _) => {
                let end = tokens[at..]
                    .iter()
                    .position(|token| is_punct(token, ';'))
                    .map_or(tokens.len(), |length| at + length);
                read_use(&tokens[at + 1..end], &[], &mut module.uses);
                return end + 1;
            }
            ("fn", Some(name)) => {
                if top {
                    module.items.push(name.to_string());
                }
                let body = tokens[at..]
                    .iter()
                    .take_while(|token| !is_punct(token, ';'))
                    .find_map(|token| match token {
                        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                            Some(group)
                        }
                        _ => None,
                    });
                if let Some(body) = body {
                    let line = name.span().start().line;
                    let lines = body.span_close().end().line - line + 1;
                    self.functions.push(Function {
                        name: name.to_string(),
                        line,
                        lines,
                    });
                }
                return at + 2;
            }
            ("struct" | "enum" | "union" | "trait" | "type", Some(name)) if top => {
                module.items.push(name.to_string());
                self.types.push(Definition {
                    name: name.to_string(),
                    line: name.span().start().line,
                });
                return at + 2;
            }
            ("const" | "static", Some(name)) if top && name != "fn" => {
                module.items.push(name.to_string());
                return at + 2;
            }
            ("macro_rules", None) => {
                module
                    .items
                    .extend(tokens.get(at + 2).and_then(ident).map(ToString::to_string));
                return at + 3;
            }
            _ => {}
        }
        let (segments, next) = path_at(tokens, at);
        if segments.len() > 1 {
            module.mentions.push(segments);
        }
        next
    }

    /// Records the lines of the item that the attribute at `at` belongs to, and returns the
    /// index of the next item.
    fn skip_test_item(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let is_end = |token: &TokenTree| {
            is_punct(token, ';')
                || matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
        };
        let end = tokens[at..]
            .iter()
            .position(is_end)
            .map_or(tokens.len() - 1, |length| at + length);
        let first = tokens[at].span().start().line;
        self.test_lines
            .push(first..tokens[end].span().end().line + 1);
        end + 1
    }

    fn count_inline(&mut self, attribute: &Group) {
        match attribute.stream().to_string().replace(' ', "").as_str() {
            "inline(always)" => self.inline_always += 1,
            "inline(never)" => self.inline_never += 1,
            _ => {}
        }
    }
}

fn ident(token: &TokenTree) -> Option<&Ident> {
    match token {
        TokenTree::Ident(ident) => Some(ident),
        _ => None,
    }
}

fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

fn group_at(tokens: &[TokenTree], at: usize, delimiter: Delimiter) -> Option<&Group> {
    match tokens.get(at) {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// Whether an attribute is a `cfg` for tests.
fn is_test(attribute: &Group) -> bool {
    let mut tokens = attribute.stream().into_iter();
    let is_cfg = matches!(tokens.next(), Some(TokenTree::Ident(name)) if name == "cfg");
    is_cfg
        && matches!(tokens.next(), Some(TokenTree::Group(condition))
            if condition.stream().into_iter().any(|token| matches!(&token, TokenTree::Ident(name) if name == "test"))
                || condition.stream().to_string().starts_with("all (test") )
}

/// The file named by `#[path = "..."]`.
fn path_attribute(attribute: &Group) -> Option<String> {
    let tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
    match tokens.as_slice() {
        [TokenTree::Ident(name), equals, TokenTree::Literal(file)]
            if name == "path" && is_punct(equals, '=') =>
        {
            Some(file.to_string().trim_matches('"').to_owned())
        }
        _ => None,
    }
}

/// Whether there is a `::` at `at`.
fn is_double_colon(tokens: &[TokenTree], at: usize) -> bool {
    matches!((tokens.get(at), tokens.get(at + 1)), (Some(TokenTree::Punct(first)), Some(TokenTree::Punct(second)))
        if first.as_char() == ':' && first.spacing() == Spacing::Joint && second.as_char() == ':')
}

/// The path that begins at `at`, and the index after it.
fn path_at(tokens: &[TokenTree], at: usize) -> (Segments, usize) {
    let mut segments = vec![tokens[at].to_string()];
    let mut next = at + 1;
    while is_double_colon(tokens, next) {
        let Some(segment) = tokens.get(next + 2).and_then(ident) else {
            break;
        };
        segments.push(segment.to_string());
        next += 3;
    }
    (segments, next)
}

/// Adds the names imported by a `use` tree.
fn read_use(tokens: &[TokenTree], prefix: &[String], uses: &mut Vec<(String, Segments)>) {
    for branch in tokens.split(|token| is_punct(token, ',')) {
        let mut path = prefix.to_vec();
        let mut name = None;
        let mut at = 0;
        while let Some(token) = branch.get(at) {
            match token {
                TokenTree::Ident(word) if word == "as" => {
                    name = branch.get(at + 1).map(ToString::to_string);
                    at += 1;
                }
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    read_use(&inner, &path, uses);
                    path.clear();
                }
                TokenTree::Punct(punct) if punct.as_char() == '*' => name = Some("*".to_owned()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            at += 1;
        }
        if path.len() > prefix.len() || name.is_some() {
            // `use a::b::{self}` imports `b`.
            if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
                path.pop();
            }
            if let Some(last) = path.last() {
                uses.push((name.unwrap_or_else(|| last.clone()), path));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> FileFacts {
        FileFacts::read(text, vec!["here".to_owned()]).unwrap()
    }

    #[test]
    fn use_trees_are_resolved_into_paths() {
        let facts = read("use crate::a::{self, b::C as D, e::*};");
        let uses: Vec<String> = facts.modules[0]
            .uses
            .iter()
            .map(|(name, path)| format!("{name}={}", path.join(".")))
            .collect();
        assert_eq!(uses, ["a=crate.a", "D=crate.a.b.C", "*=crate.a.e"]);
    }

    #[test]
    fn test_code_is_left_out() {
        let facts = read(
            "struct A;\n#[cfg(test)]\nmod tests {\n  use crate::x::Y;\n}\nfn f() {\n  super::g::h();\n}\n",
        );
        assert_eq!(facts.test_lines, std::iter::once(2..6).collect::<Vec<_>>());
        assert_eq!(facts.modules.len(), 1);
        assert_eq!(facts.modules[0].mentions, [["super", "g", "h"]]);
        assert_eq!((facts.functions[0].line, facts.functions[0].lines), (6, 3));
    }

    #[test]
    fn paths_within_macros_are_counted() {
        let facts =
            read("macro_rules! m { () => { $crate::a::B::new() } }\nfn f() { m!(crate::c::D) }");
        assert_eq!(
            facts.modules[0].mentions,
            [vec!["crate", "a", "B", "new"], vec!["crate", "c", "D"]]
        );
        assert_eq!(facts.modules[0].items, ["m", "f"]);
    }

    #[test]
    fn inline_and_path_attributes_are_read() {
        let facts = read("#[inline(always)] fn f() {}\n#[path = \"../x.rs\"] mod y;\nmod z;");
        assert_eq!(facts.inline_always, 1);
        assert_eq!(
            facts.modules[0].children,
            [
                ("y".to_owned(), Some("../x.rs".to_owned())),
                ("z".to_owned(), None)
            ]
        );
    }
}
