//! Choices that profiles and boards make by name.

/// A choice among a few names.
pub trait Named: Copy + Eq + 'static {
    /// The variants, in order.
    const ALL: &'static [Self];
    /// The variants' names, in the same order.
    const NAMES: &'static [&'static str];

    /// The variant with a name.
    #[must_use]
    fn from_name(name: &str) -> Option<Self> {
        let at = Self::NAMES.iter().position(|it| *it == name)?;
        Some(Self::ALL[at])
    }
}

/// Makes an enum whose variants have names. The first name of a policy is the model's behaviour
/// before there was a choice: it leaves fingerprints unchanged.
macro_rules! named {
    ($(#[$meta:meta])+ pub enum $kind:ident { $($(#[$of_one:meta])+ $variant:ident = $name:literal,)+ }) => {
        $(#[$meta])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $kind { $($(#[$of_one])+ $variant,)+ }

        impl $kind {
            /// The name in profiles and boards.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }

        impl $crate::Named for $kind {
            const ALL: &'static [Self] = &[$(Self::$variant,)+];
            const NAMES: &'static [&'static str] = &[$($name,)+];
        }
    };
}
pub(crate) use named;
