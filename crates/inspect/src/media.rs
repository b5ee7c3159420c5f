//! The media interface: its buffers, and the threads that wait for frames.

use crate::inspect::Inspect;
use npsim_chip::Cycle;
use npsim_chip::kernel::freelist_entry::FreelistEntry;
pub use npsim_chip::units::msf::rbuf::ElementHolder as BufferHolder;
use npsim_chip::units::msf::tbuf::ControlWord;

/// An element of RBUF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RbufView {
    /// Its index.
    pub element: usize,
    /// The element number used by microcode.
    pub number: u8,
    /// The present holder.
    pub holder: BufferHolder,
    /// The port on which its mpacket arrived.
    pub port: u8,
    /// Bytes in it.
    pub bytes: u16,
    /// Whether it is the first mpacket of its frame.
    pub sop: bool,
    /// Whether it is the last mpacket of its frame.
    pub eop: bool,
    /// The frame's number, if the element holds anything.
    pub frame: Option<u64>,
    /// Arrival of the frame's last bit on the line.
    pub arrived: Cycle,
    /// The contents, as longwords.
    pub words: Vec<u32>,
}

/// An element of TBUF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TbufView {
    /// Its index.
    pub element: usize,
    /// The element number used by microcode.
    pub number: u32,
    /// Whether the element is sent next.
    pub next: bool,
    /// The cycle since which it has been valid; `None` while microcode owns it.
    pub valid_since: Option<Cycle>,
    /// The control words, as last written.
    pub control: [u32; 2],
    /// The frame whose data it received last.
    pub frame: Option<u64>,
    /// The contents, as longwords.
    pub words: Vec<u32>,
}

impl TbufView {
    /// The fields of its first control word.
    #[must_use]
    pub const fn fields(&self) -> ControlWord {
        ControlWord(self.control[0])
    }
}

/// A thread that waits for an mpacket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedThread {
    /// Number of the freelist.
    pub list: usize,
    /// Number of threads before it on the list.
    pub before: usize,
    /// The thread, its registers and its signal.
    pub waiter: FreelistEntry,
}

impl Inspect<'_> {
    /// The elements of RBUF, in order.
    pub fn rbuf(&self) -> impl Iterator<Item = RbufView> + '_ {
        let rbuf = &self.chip().units().msf.receive.rbuf;
        let elements = rbuf.elements().iter().enumerate();
        elements.map(move |(element, it)| {
            let holds = matches!(it.holder, BufferHolder::Full | BufferHolder::Thread { .. });
            RbufView {
                element,
                number: rbuf.number_of(element as u8),
                holder: it.holder,
                port: it.port,
                bytes: it.bytes,
                sop: it.sop,
                eop: it.eop,
                frame: holds.then_some(it.frame),
                arrived: it.arrived,
                words: rbuf.contents(element).to_vec(),
            }
        })
    }

    /// The elements of TBUF, in order.
    pub fn tbuf(&self) -> impl Iterator<Item = TbufView> + '_ {
        let tbuf = &self.chip().units().msf.transmit.tbuf;
        (0..tbuf.elements()).map(move |element| TbufView {
            element,
            number: tbuf.number_of(element),
            next: tbuf.next() == element,
            valid_since: tbuf.valid_since(element),
            control: tbuf.control_words(element),
            frame: tbuf.tag(element).frame(),
            words: tbuf.contents(element).to_vec(),
        })
    }

    /// The threads on the freelists, list by list, next one first.
    pub fn freelists(&self) -> impl Iterator<Item = ListedThread> + '_ {
        let receive = &self.chip().units().msf.receive;
        let lists = (0..).zip(receive.waiting_threads());
        lists.flat_map(|(list, waiters)| {
            (0..)
                .zip(waiters)
                .map(move |(before, waiter)| ListedThread {
                    list,
                    before,
                    waiter: *waiter,
                })
        })
    }
}
