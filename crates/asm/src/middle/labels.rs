//! Labels: resolution of uses to definitions, and addresses.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::statement::SourcePlace;
use crate::front::token::{Token, TokenKind};
use crate::middle::program::{Item, LabelDefinition};
use crate::middle::scope::{Symbols, physical_label};
use crate::source::{ExpansionId, SourceMap};
use crate::spelling::closest;

/// Labels with the same name in the same expansion.
type NearLabels<'a> = Vec<&'a LabelDefinition>;

/// All labels of a program.
pub struct Labels<'a> {
    /// All definitions in order, including duplicates.
    definitions: &'a [LabelDefinition],
    /// Labels by name, for uses that find no label in their own macros.
    by_name: OnceCell<BTreeMap<&'a str, Vec<&'a LabelDefinition>>>,
    /// Labels by name and expansion: nearly always one, several if scopes of one expansion define
    /// it.
    known: FxHashMap<(&'a str, ExpansionId), NearLabels<'a>>,
    sources: &'a SourceMap,
    symbols: &'a Symbols,
    /// The item of each instruction, by address.
    words: Vec<usize>,
    /// Address of each item and of the end.
    addresses: Vec<u16>,
}

impl<'a> Labels<'a> {
    /// Collects the labels; duplicates within a scope are reported.
    pub fn new(
        items: &[Item],
        labels: &'a [LabelDefinition],
        symbols: &'a Symbols,
        sources: &'a SourceMap,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut known: FxHashMap<_, NearLabels<'_>> = FxHashMap::default();
        for label in labels {
            let here = (&*label.token.text, label.token.expansion);
            let same = known.entry(here).or_default();
            let first = same.iter().find(|other| other.scope == label.scope);
            if let Some(first) = first {
                let at = SourcePlace::of(&first.token);
                diagnostics.push(
                    SourcePlace::of(&label.token)
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
            definitions: labels,
            by_name: OnceCell::new(),
            known,
            sources,
            symbols,
            words,
            addresses,
        }
    }

    /// Returns the address of an item; for the number of items, the end address.
    #[must_use]
    pub fn address(&self, item: usize) -> u16 {
        self.addresses[item]
    }

    /// Returns the item that a label use refers to.
    ///
    /// # Errors
    /// Returns `undefined-label` or `ambiguous-label`.
    pub fn item(&self, token: &Token, scope: usize) -> Result<usize, Diagnostic> {
        let Some(here) = self.here(token) else {
            let address = self.bare_address(token);
            return address.ok_or_else(|| self.undefined(token));
        };
        let nearest = self.nearest(here, scope);
        let label = nearest.ok_or_else(|| ambiguous(token, here))?;
        Ok(label.item)
    }

    /// Returns the label that a use refers to; `None` if there is none or it is ambiguous.
    #[must_use]
    pub fn definition(&self, token: &Token, scope: usize) -> Option<&'a LabelDefinition> {
        self.nearest(self.here(token)?, scope)
    }

    /// Returns the labels with the name of a use in its macro, else in the nearest enclosing one
    /// that has any.
    fn here<'s>(&'s self, token: &'s Token) -> Option<&'s [&'a LabelDefinition]> {
        let outer = |expansion: &ExpansionId| {
            let parent = |id| self.sources.expansion(id).map(|used| used.parent);
            (*expansion != ExpansionId::ROOT)
                .then(|| parent(*expansion).unwrap_or(ExpansionId::ROOT))
        };
        std::iter::successors(Some(token.expansion), outer)
            .find_map(|expansion| self.known.get(&(&*token.text, expansion)))
            .map(Vec::as_slice)
    }

    /// Returns the label in the nearest scope.
    fn nearest(&self, here: &[&'a LabelDefinition], scope: usize) -> Option<&'a LabelDefinition> {
        if let [only] = here {
            return Some(only);
        }
        let of = |scope| here.iter().find(|label| label.scope == scope).copied();
        self.symbols.enclosing_scopes(scope).find_map(of)
    }

    /// Warns of targets such as `L1`, which denote addresses, if a label `L1#` has another address.
    pub fn addresses_like_labels(&self, items: &[Item], diagnostics: &mut Vec<Diagnostic>) {
        let micros = items.iter().filter_map(Item::micro);
        let targets = micros.flat_map(|micro| {
            let tokens = micro.target.iter().chain(&micro.targets);
            tokens.map(|token| (token, micro.scope))
        });
        for (token, scope) in targets.filter(|(token, _)| token.kind == TokenKind::Ident) {
            let Some(address) = physical_label(&token.text) else {
                continue;
            };
            let name = format!("{}#", token.text);
            let label = Token {
                kind: TokenKind::Label,
                text: name.as_str().into(),
                ..token.clone()
            };
            let Some(meant) = self.definition(&label, scope) else {
                continue;
            };
            let there = self.address(meant.item);
            if there != address {
                let at = SourcePlace::of(&meant.token);
                diagnostics.push(
                    SourcePlace::of(token)
                        .warning(
                            codes::ADDRESS_LIKE_LABEL,
                            format!(
                                "`{}` is the address {address}, and the label `{name}` is at {there}",
                                token.text
                            ),
                        )
                        .also(at.span, at.expansion, "the label")
                        .help(format!("write `{name}` for the label"))
                        .patch(token.span, name),
                );
            }
        }
    }

    /// Returns the item at the address that a name such as `L12#` denotes, unless a label has that
    /// name.
    fn bare_address(&self, token: &Token) -> Option<usize> {
        let address = usize::from(physical_label(&token.text)?);
        let is_free = !self.by_name().contains_key(&*token.text);
        let end = self.addresses.len() - 1;
        (is_free && address <= self.words.len())
            .then(|| self.words.get(address).copied().unwrap_or(end))
    }

    /// Returns all labels by name, in order of definition.
    fn by_name(&self) -> &BTreeMap<&'a str, Vec<&'a LabelDefinition>> {
        self.by_name.get_or_init(|| {
            let mut by_name: BTreeMap<&str, Vec<_>> = BTreeMap::new();
            for label in self.definitions {
                by_name.entry(&label.token.text).or_default().push(label);
            }
            by_name
        })
    }

    fn undefined(&self, token: &Token) -> Diagnostic {
        let place = SourcePlace::of(token);
        let mut diagnostic = place
            .error(
                codes::UNDEFINED_LABEL,
                format!("label `{}` is not defined", token.text),
            )
            .label("no such label");
        if let Some(hidden) = { self.by_name().get(&*token.text) }.and_then(|all| all.first()) {
            let at = SourcePlace::of(&hidden.token);
            return diagnostic
                .also(at.span, at.expansion, "this one is local to its macro")
                .help("pass the label to the macro as an argument");
        }
        let is_visible =
            |label: &&LabelDefinition| self.encloses(label.token.expansion, token.expansion);
        let visible = { self.by_name().iter() }
            .filter(|(_, all)| all.iter().any(is_visible))
            .map(|(name, _)| *name);
        if let Some(near) = closest(&token.text, visible) {
            diagnostic = diagnostic
                .help(format!("did you mean `{near}`?"))
                .patch(place.span, near);
        } else {
            diagnostic = diagnostic.help(format!(
                "define it with `{}#:` in front of an instruction",
                token.text.trim_end_matches('#')
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

    /// Returns every label, in no particular order; of duplicates, the first.
    pub fn distinct(&self) -> impl Iterator<Item = &'a LabelDefinition> + '_ {
        self.known.values().flatten().copied()
    }
}

fn ambiguous(token: &Token, several: &[&LabelDefinition]) -> Diagnostic {
    let mut diagnostic = SourcePlace::of(token).error(
        codes::AMBIGUOUS_LABEL,
        format!("label `{}` is defined in several scopes", token.text),
    );
    for label in several.iter().take(4) {
        let at = SourcePlace::of(&label.token);
        diagnostic = diagnostic.also(at.span, at.expansion, "one of them");
    }
    diagnostic.help("give them different names")
}

#[cfg(test)]
mod tests {
    use crate::one_text::run;

    fn diagnostic_codes(text: &str) -> Vec<&'static str> {
        run(text).diagnostics.iter().map(|it| it.code).collect()
    }

    /// Returns a branch to `target`, three more words and an end.
    fn branch(target: &str) -> String {
        format!("br[{target}]\nnop\nnop\nbr[l0#]\n")
    }

    #[test]
    fn physical_address_label_yields_to_a_defined_label() {
        let bare = run(&branch("l2#"));
        let named = run(&branch("here#").replace("nop\nbr", "here#:\nnop\nbr"));
        assert_eq!(bare.image.unwrap().words, named.image.unwrap().words);
        let taken = run(&branch("l2#").replace("\nnop\nnop", "\nl2#:\nnop\nnop"));
        let named = run(&branch("here#").replace("\nnop\nnop", "\nhere#:\nnop\nnop"));
        assert_eq!(taken.image.unwrap().words, named.image.unwrap().words);
    }

    #[test]
    fn physical_address_label_is_absolute_within_a_macro() {
        let within = format!("#macro go()\n{}#endm\ngo()\n", branch("l2#"));
        assert_eq!(
            run(&within).image.unwrap().words,
            run(&branch("l2#")).image.unwrap().words
        );
    }

    #[test]
    fn macro_label_is_not_visible_outside() {
        let text = "#macro put()\nl2#:\nnop\n#endm\nput()\nbr[l2#]\nbr[l0#]\n";
        assert!(diagnostic_codes(text).contains(&"undefined-label"));
    }

    #[test]
    fn address_beyond_the_end_is_an_undefined_label() {
        assert!(diagnostic_codes(&branch("l9#")).contains(&"undefined-label"));
    }
}
