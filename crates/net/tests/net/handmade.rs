//! Captures put together byte by byte, so that reader and writer of one library cannot be wrong in the same way.

/// Byte order of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Big,
    Little,
}

impl Order {
    pub fn u16(self, value: u16) -> Vec<u8> {
        match self {
            Order::Big => value.to_be_bytes().to_vec(),
            Order::Little => value.to_le_bytes().to_vec(),
        }
    }

    pub fn u32(self, value: u32) -> Vec<u8> {
        match self {
            Order::Big => value.to_be_bytes().to_vec(),
            Order::Little => value.to_le_bytes().to_vec(),
        }
    }

    pub fn u64(self, value: u64) -> Vec<u8> {
        match self {
            Order::Big => value.to_be_bytes().to_vec(),
            Order::Little => value.to_le_bytes().to_vec(),
        }
    }
}

/// A frame whose bytes are unique.
pub fn frame(mark: u8, len: usize) -> Vec<u8> {
    (0..len).map(|n| mark.wrapping_add(n as u8)).collect()
}

pub const MICROSECONDS: u32 = 0xa1b2_c3d4;
pub const NANOSECONDS: u32 = 0xa1b2_3c4d;

/// File header of classic pcap.
pub fn classic_header(order: Order, magic: u32, link: u32) -> Vec<u8> {
    let mut bytes = order.u32(magic);
    bytes.extend(order.u16(2));
    bytes.extend(order.u16(4));
    for field in [0, 0, 65_535, link] {
        bytes.extend(order.u32(field));
    }
    bytes
}

/// Record of classic pcap.
pub fn classic_record(
    order: Order,
    seconds: u32,
    fraction: u32,
    original_len: u32,
    data: &[u8],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in [seconds, fraction, data.len() as u32, original_len] {
        bytes.extend(order.u32(field));
    }
    bytes.extend(data);
    bytes
}

/// A pcapng block around its body.
pub fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    assert_eq!(body.len() % 4, 0, "a body is padded by who makes it");
    let length = order.u32(body.len() as u32 + 12);
    [order.u32(kind), length.clone(), body.to_vec(), length].concat()
}

/// Option of a pcapng block, padded.
pub fn option(order: Order, code: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = [
        order.u16(code),
        order.u16(value.len() as u16),
        value.to_vec(),
    ]
    .concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Section header block.
pub fn section(order: Order) -> Vec<u8> {
    let body = [
        order.u32(0x1a2b_3c4d),
        order.u16(1),
        order.u16(0),
        order.u64(u64::MAX),
    ]
    .concat();
    block(order, 0x0a0d_0d0a, &body)
}

/// Interface description block; `options` as made by [`option`].
pub fn interface(order: Order, link: u16, snap_len: u32, options: &[Vec<u8>]) -> Vec<u8> {
    let mut body = [order.u16(link), order.u16(0), order.u32(snap_len)].concat();
    if !options.is_empty() {
        body.extend(options.concat());
        body.extend(option(order, 0, &[]));
    }
    block(order, 1, &body)
}

/// Enhanced packet block.
pub fn enhanced(
    order: Order,
    interface: u32,
    ticks: u64,
    original_len: u32,
    data: &[u8],
) -> Vec<u8> {
    let mut body = Vec::new();
    for field in [
        interface,
        (ticks >> 32) as u32,
        ticks as u32,
        data.len() as u32,
        original_len,
    ] {
        body.extend(order.u32(field));
    }
    body.extend(data);
    body.resize(body.len().next_multiple_of(4), 0);
    block(order, 6, &body)
}

/// Simple packet block.
pub fn simple(order: Order, original_len: u32, data: &[u8]) -> Vec<u8> {
    let mut body = [order.u32(original_len), data.to_vec()].concat();
    body.resize(body.len().next_multiple_of(4), 0);
    block(order, 3, &body)
}

pub const IF_NAME: u16 = 2;
pub const IF_TSRESOL: u16 = 9;
pub const IF_FCSLEN: u16 = 13;
pub const IF_TSOFFSET: u16 = 14;
