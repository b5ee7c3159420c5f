//! The accessors of the parameters in [`crate::lists`].

use super::Profile;
use crate::lists::lists;

macro_rules! group {
    ($group:ident {
        $($(#[doc = $doc:literal])+
        $name:ident: $kind:ty $(, $unit:literal, $range:expr)? => $accessor:ident $(of $place:ident)?;)+
    }) => {
        impl Profile {
            $($(#[doc = $doc])+ #[must_use] pub const fn $accessor(&self) -> $kind {
                self.values.$group.$accessor
            })+
        }
    };
}

macro_rules! groups {
    ($($group:ident)+) => {
        $(crate::lists::$group::parameters!(group);)+
    };
}

lists!(groups);
