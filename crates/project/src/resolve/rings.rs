//! Scratch rings: their numbers and memory.

use npsim_chip::gpp::boot::{RingSetup, RingStatus};

use super::super::file::{RingSection, StatusKind};
use super::Resolver;

/// Number of rings whose status an instruction can branch on.
const STATUS_RINGS: u8 = 12;
/// Longwords of a ring if not given.
const LONGWORDS: u16 = 128;

impl Resolver<'_> {
    pub(super) fn rings(&mut self, sections: &[RingSection]) {
        let mut taken = vec![None; usize::from(self.capacity.scratch_rings)];
        for section in sections {
            if let Some(number) = &section.number {
                let name = section.name.get_ref();
                match taken.get_mut(usize::from(*number.get_ref())) {
                    None => {
                        let message = format!("there is no scratch ring {}", number.get_ref());
                        self.fail(
                            number.span(),
                            message,
                            format!("this chip has 0 to {}", taken.len() - 1),
                            "",
                        );
                    }
                    Some(Some(other)) => {
                        let message = format!(
                            "scratch ring {} is used twice, by `{other}` and `{name}`",
                            number.get_ref()
                        );
                        self.fail(
                            number.span(),
                            message,
                            "",
                            "leave `number` out to get the next free one",
                        );
                    }
                    Some(free) => *free = Some(name.clone()),
                }
            }
        }
        for section in sections {
            let name = section.name.get_ref();
            if !self.name(&section.name) {
                continue;
            }
            let number = if let Some(number) = &section.number {
                // An invalid ring number has been reported; uses of the ring's name are no further
                // errors.
                *number.get_ref()
            } else {
                let Some(number) = taken.iter().position(Option::is_none) else {
                    let message = format!("no scratch ring is left for `{name}`");
                    self.fail(
                        section.name.span(),
                        message,
                        format!("this chip has {}", taken.len()),
                        "",
                    );
                    continue;
                };
                taken[number] = Some(name.clone());
                number as u8
            };
            self.ring(section, number);
        }
    }

    fn ring(&mut self, section: &RingSection, number: u8) {
        let name = section.name.get_ref();
        let mut size = section
            .size
            .as_ref()
            .map_or(LONGWORDS, |size| *size.get_ref());
        if let Some(typed) = &section.size
            && ![128, 256, 512, 1024].contains(&size)
        {
            self.fail(
                typed.span(),
                format!("a scratch ring cannot have {size} longwords"),
                "",
                "use 128, 256, 512 or 1024",
            );
            // A possible size is substituted, so that uses of the ring's name are no further
            // errors.
            size = LONGWORDS;
        }
        let bytes = u64::from(size) * 4;
        let owner = format!("ring `{name}`");
        let base = match self.scratch.place(&owner, 0, bytes, bytes) {
            Ok(base) => base as u32,
            Err(reason) => {
                self.no_place(section.name.span(), &owner, bytes, "scratch", &reason);
                0
            }
        };
        let span = section.name.span();
        self.define(name.clone(), u32::from(number) << 2, &owner, span.clone());
        self.define(format!("{name}_NUMBER"), number, &owner, span.clone());
        self.define(format!("{name}_SIZE"), size, &owner, span.clone());
        if number < STATUS_RINGS {
            self.define(
                format!("{name}_STATUS"),
                format!("SCR_Ring{number}_Status"),
                &owner,
                span,
            );
        }
        let status = match section.status {
            Some(StatusKind::Empty) => RingStatus::Empty,
            Some(StatusKind::Full) | None => RingStatus::NearlyFull,
        };
        self.boot.rings.push(RingSetup {
            number,
            base,
            size,
            status,
        });
        self.boot.rings.sort_by_key(|ring| ring.number);
    }
}
