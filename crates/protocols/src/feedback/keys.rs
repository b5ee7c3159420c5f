//! `[coprocessor]`: the attachment of the device.

use npsim_project::keys::Spanned;
use npsim_project::registry::DeviceKind;
use npsim_project::resolve::{DeviceWindow, Resolver};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Coprocessor, WINDOW_BYTES};

/// `[coprocessor]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoprocessorSection {
    /// The name that sources use.
    pub name: Spanned<String>,
    /// SRAM channel; the routing table's default if not given.
    pub channel: Option<Spanned<u8>>,
    /// Byte address of its window in the channel; the first one above the memory if not given.
    pub address: Option<Spanned<u64>>,
}

/// The kind of device.
#[derive(Clone, Copy, Debug)]
pub struct CoprocessorKind;

impl DeviceKind for CoprocessorKind {
    const NAME: &'static str = "coprocessor";
    type Keys = CoprocessorSection;

    fn resolve(&self, section: &Spanned<CoprocessorSection>, resolver: &mut Resolver<'_>) {
        let keys = section.get_ref();
        let attachment = resolver.window(&DeviceWindow {
            kind: Self::NAME,
            name: &keys.name,
            channel: keys.channel.as_ref(),
            address: keys.address.as_ref(),
            bytes: WINDOW_BYTES,
        });
        if let Some(attachment) = attachment {
            let device = Box::new(Coprocessor::new(attachment));
            resolver.attach(device, &keys.name.span());
        }
    }
}
