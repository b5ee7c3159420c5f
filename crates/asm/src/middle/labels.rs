//! Labels: which definition a use means, and its address.

use std::collections::BTreeMap;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::statement::Place;
use crate::front::token::Token;
use crate::middle::program::{Item, LabelDefinition};
use crate::middle::scope::{Symbols, physical_label};
use crate::source::{ExpansionId, SourceMap};
use crate::spelling::closest;

/// All labels of a program.
pub struct Labels<'a> {
    by_name: BTreeMap<&'a str, Vec<&'a LabelDefinition>>,
    sources: &'a SourceMap,
    symbols: &'a Symbols,
    /// Items of the instructions, by address.
    words: Vec<usize>,
    /// Address of each item, and of the end.
    addresses: Vec<u16>,
}

impl<'a> Labels<'a> {
    /// Collects the labels; two of one name in one scope are reported.
    pub fn new(
        items: &[Item],
        labels: &'a [LabelDefinition],
        symbols: &'a Symbols,
        sources: &'a SourceMap,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut by_name: BTreeMap<&str, Vec<&LabelDefinition>> = BTreeMap::new();
        for label in labels {
            let same = by_name.entry(&label.token.text).or_default();
            let first = same.iter().find(|other| {
                other.token.expansion == label.token.expansion && other.scope == label.scope
            });
            if let Some(first) = first {
                let at = Place::of(&first.token);
                diagnostics.push(
                    Place::of(&label.token)
                        .error(
                            codes::LABEL_TWICE,
                            format!("label `{}` is defined twice", label.token.text),
                        )
                        .label("defined again")
                        .also(at.span, at.expansion, "first defined here")
                        .help("give one of them another name"),
                );
            } else {
                same.push(label);
            }
        }
        let mut words = Vec::new();
        let mut addresses = Vec::with_capacity(items.len() + 1);
        for (i, item) in items.iter().enumerate() {
            addresses.push(words.len() as u16);
            if item.micro().is_some() {
                words.push(i);
            }
        }
        addresses.push(words.len() as u16);
        Self {
            by_name,
            sources,
            symbols,
            words,
            addresses,
        }
    }

    /// Address of an item; that of the end for the number of items.
    #[must_use]
    pub fn address(&self, item: usize) -> u16 {
        self.addresses[item]
    }

    /// The item that a label use means.
    ///
    /// # Errors
    /// `undefined-label` or `ambiguous-label`.
    pub fn item(&self, token: &Token, scope: usize) -> Result<usize, Diagnostic> {
        let Some(all) = self.by_name.get(&*token.text) else {
            if let Some(address) = physical_label(&token.text)
                && address as usize <= self.words.len()
            {
                let end = self.addresses.len() - 1;
                return Ok(self.words.get(address as usize).copied().unwrap_or(end));
            }
            return Err(self.undefined(token));
        };
        let mut expansion = token.expansion;
        loop {
            let here: Vec<&LabelDefinition> = all
                .iter()
                .copied()
                .filter(|label| label.token.expansion == expansion)
                .collect();
            match here.as_slice() {
                [] => {}
                [only] => return Ok(only.item),
                several => {
                    let nearest = self
                        .symbols
                        .outwards(scope)
                        .find_map(|scope| several.iter().find(|label| label.scope == scope));
                    return match nearest {
                        Some(label) => Ok(label.item),
                        None => Err(ambiguous(token, several)),
                    };
                }
            }
            if expansion == ExpansionId::ROOT {
                return Err(self.undefined(token));
            }
            expansion = self
                .sources
                .expansion(expansion)
                .map_or(ExpansionId::ROOT, |used| used.parent);
        }
    }

    fn undefined(&self, token: &Token) -> Diagnostic {
        let place = Place::of(token);
        let mut diagnostic = place
            .error(
                codes::UNDEFINED_LABEL,
                format!("label `{}` is not defined", token.text),
            )
            .label("no such label");
        if let Some(hidden) = self.by_name.get(&*token.text).and_then(|all| all.first()) {
            let at = Place::of(&hidden.token);
            return diagnostic
                .also(at.span, at.expansion, "this one is local to its macro")
                .help("pass the label to the macro as an argument");
        }
        let visible = self
            .by_name
            .iter()
            .filter(|(_, all)| {
                all.iter()
                    .any(|label| self.encloses(label.token.expansion, token.expansion))
            })
            .map(|(name, _)| *name);
        if let Some(near) = closest(&token.text, visible) {
            diagnostic = diagnostic
                .help(format!("did you mean `{near}`?"))
                .patch(place.span, near);
        } else {
            diagnostic = diagnostic.help(format!(
                "define it with `{}:` in front of an instruction",
                token.text
            ));
        }
        diagnostic
    }

    fn encloses(&self, outer: ExpansionId, inner: ExpansionId) -> bool {
        let mut at = inner;
        loop {
            if at == outer {
                return true;
            }
            match self.sources.expansion(at) {
                Some(used) => at = used.parent,
                None => return false,
            }
        }
    }

    /// Name, item and macro of every label, in order of definition.
    pub fn all(&self) -> impl Iterator<Item = &'a LabelDefinition> + '_ {
        self.by_name.values().flatten().copied()
    }
}

fn ambiguous(token: &Token, several: &[&LabelDefinition]) -> Diagnostic {
    let mut diagnostic = Place::of(token).error(
        codes::AMBIGUOUS_LABEL,
        format!("label `{}` is defined in several scopes", token.text),
    );
    for label in several.iter().take(4) {
        let at = Place::of(&label.token);
        diagnostic = diagnostic.also(at.span, at.expansion, "one of them");
    }
    diagnostic.help("give them different names")
}
