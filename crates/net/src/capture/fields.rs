//! The fields of a pcapng block, in order.

use pcap_file::Endianness;

/// The unread rest of a block.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    order: Endianness,
}

/// An option that violates the format, such as one of the wrong length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OptionFlaw;

/// An option of a block.
#[derive(Clone, Copy)]
pub(crate) struct BlockOption<'a> {
    pub code: u16,
    pub value: &'a [u8],
    order: Endianness,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(body: &'a [u8], order: Endianness) -> Self {
        Self { rest: body, order }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (field, rest) = self.rest.split_first_chunk().ok_or_else(too_short)?;
        self.rest = rest;
        Ok(*field)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, String> {
        let field = self.take()?;
        Ok(match self.order {
            Endianness::Big => u16::from_be_bytes(field),
            Endianness::Little => u16::from_le_bytes(field),
        })
    }

    pub(crate) fn u32(&mut self) -> Result<u32, String> {
        let field = self.take()?;
        Ok(match self.order {
            Endianness::Big => u32::from_be_bytes(field),
            Endianness::Little => u32::from_le_bytes(field),
        })
    }

    /// Reads this many bytes and skips the padding to a multiple of four.
    pub(crate) fn padded(&mut self, bytes: u32) -> Result<&'a [u8], String> {
        let length = bytes as usize;
        let (field, rest) = { self.rest.split_at_checked(length) }
            .ok_or_else(|| format!("a packet of {bytes} bytes in a block that is shorter"))?;
        let padding = length.next_multiple_of(4) - length;
        self.rest = rest.get(padding..).unwrap_or_default();
        Ok(field)
    }

    /// Iterates over the options that follow. Stops after an option that runs past the end of the
    /// block.
    pub(crate) fn options(self) -> impl Iterator<Item = Result<BlockOption<'a>, OptionFlaw>> {
        let mut fields = Some(self);
        std::iter::from_fn(move || {
            let mut left = fields.take().filter(|left| !left.rest.is_empty())?;
            let mut read = || {
                let (code, length) = (left.u16()?, left.u16()?);
                let value = left.padded(u32::from(length))?;
                let order = left.order;
                Ok::<_, String>(BlockOption { code, value, order })
            };
            match read() {
                Ok(option) if option.code == 0 => None,
                Ok(option) => {
                    fields = Some(left);
                    Some(Ok(option))
                }
                Err(_) => Some(Err(OptionFlaw)),
            }
        })
    }
}

impl BlockOption<'_> {
    /// Refuses an option that should be text and is not, or that has the wrong length.
    pub(crate) fn check(&self, texts: &[u16], lengths: &[(u16, usize)]) -> Result<(), OptionFlaw> {
        let own = |(code, length): &(u16, usize)| *code == self.code && *length != self.value.len();
        let is_text = std::str::from_utf8(self.value).is_ok();
        if lengths.iter().any(own) || (texts.contains(&self.code) && !is_text) {
            return Err(OptionFlaw);
        }
        Ok(())
    }

    pub(crate) fn u8(&self) -> Result<u8, OptionFlaw> {
        <[u8; 1]>::try_from(self.value)
            .map(|[byte]| byte)
            .map_err(|_| OptionFlaw)
    }

    pub(crate) fn u32(&self) -> Result<u32, OptionFlaw> {
        let field = self.value.try_into().map_err(|_| OptionFlaw)?;
        Ok(match self.order {
            Endianness::Big => u32::from_be_bytes(field),
            Endianness::Little => u32::from_le_bytes(field),
        })
    }

    pub(crate) fn i64(&self) -> Result<i64, OptionFlaw> {
        let field = self.value.try_into().map_err(|_| OptionFlaw)?;
        Ok(match self.order {
            Endianness::Big => i64::from_be_bytes(field),
            Endianness::Little => i64::from_le_bytes(field),
        })
    }
}

fn too_short() -> String {
    "a block that is shorter than its fields".to_owned()
}
