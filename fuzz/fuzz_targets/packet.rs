//! Packets of hosts: reading and writing a packet changes nothing, except parts that no endpoint
//! supports.

#![no_main]

use libfuzzer_sys::fuzz_target;
use npsim_protocols::checksum;
use npsim_transport::wire::{Packet, WireError};

/// Bytes of the congestion header of XCP, which the protocol number 253 announces.
const XCP: (u8, usize) = (253, 20);

/// The maximum number of option bytes in a TCP header.
const OPTIONS: usize = 40;

/// The packet with correct checksums in the headers that exist, because no fuzzer finds them.
fn repaired(input: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = input.to_vec();
    let header = usize::from(bytes.first()? & 0xf) * 4;
    let total = usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]));
    if header < 20 || total < header || bytes.len() < total {
        return None;
    }
    let sum = checksum::of_ipv4(&bytes[..header]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    let start = header + if bytes[9] == XCP.0 { XCP.1 } else { 0 };
    if start + 18 <= total {
        bytes[start + 16..start + 18].fill(0);
        let addresses = u32::from(checksum::sum(&bytes[12..20]));
        let segment = u32::from(checksum::sum(&bytes[start..total]));
        let sum = !checksum::fold(addresses + segment + 6 + (total - start) as u32);
        bytes[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
    }
    Some(bytes)
}

fn check(bytes: &[u8]) {
    match Packet::from_bytes(bytes) {
        Ok((packet, payload)) => {
            // Adjacent options take more space if each begins at a longword.
            assert!(packet.length() <= bytes.len() + OPTIONS && payload.len() <= bytes.len());
            match packet.to_bytes() {
                Ok(again) => {
                    assert_eq!(again.len(), packet.length());
                    let (read, _) = Packet::from_bytes(&again).expect("it was just written");
                    assert_eq!(read, packet);
                }
                // Then they may no longer fit.
                Err(WireError::OptionsTooLong { needed }) => assert!(needed > OPTIONS),
                Err(error) => panic!("{error}: {packet:?}"),
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fuzz_target!(|input: &[u8]| {
    check(input);
    if let Some(bytes) = repaired(input) {
        check(&bytes);
    }
});
