//! The parameters that every profile must have: name, unit of measure, range,
//! type and meaning. One list makes the check on load, the fields that the hot
//! path reads, and the accessors.

use super::{Parameter, Profile};

/// What a parameter must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The unit of the chip it belongs to.
    pub group: &'static str,
    /// Its name in the group.
    pub name: &'static str,
    /// The unit of measure.
    pub unit: &'static str,
    /// Least value that the model can work with.
    pub least: u64,
    /// Greatest value that the model can work with.
    pub most: u64,
    /// What it means.
    pub meaning: &'static str,
}

/// What a board says and a chip does not.
const OF_THE_BOARD: &[(&str, &str)] = &[
    ("clock", "media_mhz"),
    ("sram", "channel_bytes"),
    ("dram", "channel_bytes"),
    ("msf", "bus_bytes"),
    ("msf", "receive_fifo"),
    ("msf", "transmit_fifo"),
    ("msf", "transmit_low_water"),
    ("msf", "transmit_high_water"),
];

impl Schema {
    /// What a parameter must look like; `None` for one that no profile has.
    #[must_use]
    pub fn of(parameter: &Parameter) -> Option<&'static Self> {
        SCHEMA
            .iter()
            .find(|s| (s.group, s.name) == (parameter.group, parameter.name))
    }

    /// Whether the parameter stands in the board's file, not in the chip's.
    #[must_use]
    pub fn is_of_the_board(&self) -> bool {
        OF_THE_BOARD.contains(&(self.group, self.name))
    }
}

macro_rules! parameters {
    ($($group:ident {
        $($(#[doc = $doc:literal])+ $name:ident: $kind:ty, $unit:literal, $least:literal..=$most:literal => $accessor:ident;)+
    })+) => {
        /// All parameters, in the order in which profiles list them.
        pub const SCHEMA: &[Schema] = &[$($(Schema {
            group: stringify!($group),
            name: stringify!($name),
            unit: $unit,
            least: $least,
            most: $most,
            meaning: concat!($($doc,)+),
        },)+)+];

        /// The values alone, as plain fields.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub struct Values { $($(pub $accessor: $kind,)+)+ }

        impl Values {
            /// Takes the values from parameters in the order of [`SCHEMA`],
            /// whose ranges fit the types.
            pub(super) fn new(parameters: &[Parameter]) -> Self {
                let mut values = parameters.iter().map(|p| p.value);
                let mut next = move || values.next().unwrap_or_default();
                Self { $($($accessor: next() as $kind,)+)+ }
            }
        }

        impl Profile {
            $($($(#[doc = $doc])+ #[must_use] pub const fn $accessor(&self) -> $kind { self.values.$accessor })+)+
        }
    };
}

parameters! {
    clock {
        /// Microengine clock: one cycle of it is the unit of all time.
        me_mhz: u64, "MHz", 1..=10000 => me_mhz;
        /// ME cycles per clock of the internal buses.
        bus_cycle: u64, "ME cycles", 1..=64 => bus_cycle;
        /// Clock of the media interface.
        media_mhz: u64, "MHz", 1..=10000 => media_mhz;
    }
    microengine {
        /// Clusters of microengines; each has its own command and S buses.
        clusters: u8, "clusters", 1..=2 => clusters;
        /// Microengines of a cluster.
        per_cluster: u8, "microengines", 1..=16 => per_cluster;
        /// Instructions a microengine's control store holds.
        control_store: u16, "instructions", 1..=16384 => control_store_words;
        /// Longwords of a microengine's local memory.
        local_memory: u16, "longwords", 1..=1024 => local_memory_words;
        /// Commands a microengine can have waiting for the command bus.
        command_fifo_depth: u8, "commands", 1..=64 => command_fifo_depth;
        /// Aborted slots of a taken unconditional branch without defer.
        branch_penalty: u64, "cycles", 0..=16 => branch_penalty;
        /// Aborted slots of a taken branch on condition codes without defer.
        conditional_branch_penalty: u64, "cycles", 0..=16 => conditional_branch_penalty;
        /// The same when at least one slot lies between the instruction that set
        /// the codes and the branch.
        settled_branch_penalty: u64, "cycles", 0..=16 => settled_branch_penalty;
        /// Aborted slots of a taken branch on a bit or byte without defer.
        bit_branch_penalty: u64, "cycles", 0..=16 => bit_branch_penalty;
        /// Aborted slots of a taken branch on context, signal or input state
        /// without defer.
        state_branch_penalty: u64, "cycles", 0..=16 => state_branch_penalty;
        /// Aborted slots of jump and rtn without defer.
        jump_penalty: u64, "cycles", 0..=16 => jump_penalty;
        /// Aborted slots when a context gives up the microengine without defer.
        context_swap_penalty: u64, "cycles", 0..=16 => context_swap_penalty;
        /// Arrival of a signal to the first instruction of an idle microengine.
        wake_latency: u64, "cycles", 0..=64 => wake_latency;
        /// Instructions between a write of `LM_ADDR` and its first use.
        lm_addr_gap: u8, "instructions", 0..=16 => lm_addr_gap;
        /// Instructions between a write of another local CSR and its effect.
        csr_gap: u8, "instructions", 0..=16 => csr_gap;
        /// Write of `SAME_ME_SIGNAL` or a neighbour's signal register to the signal.
        local_signal_latency: u64, "cycles", 0..=64 => local_signal_latency;
        /// Cycles per count of TIMESTAMP.
        timestamp_divider: u64, "cycles", 1..=1024 => timestamp_divider;
        /// Write of a next-neighbour register or ring to visibility.
        nn_latency: u64, "ME cycles", 1..=64 => nn_latency;
        /// Words on a next-neighbour ring above which `NN_Full` asserts.
        nn_full_threshold: u8, "words", 1..=127 => nn_full_threshold;
    }
    command {
        /// Issue of a command to its arrival at the unit, without waiting.
        issue_to_inlet: u64, "ME cycles", 1..=256 => issue_to_inlet;
        /// Last word on a push or pull bus to transfer register and signal.
        transfer_latency: u64, "ME cycles", 0..=256 => transfer_latency;
        /// Data for an S push bus that a unit can have waiting before it stops reading.
        s_push_fifo: u64, "longwords", 1..=1024 => s_push_fifo;
        /// Data for the D push bus that DRAM can have waiting before it stops reading.
        d_push_fifo: u64, "quadwords", 1..=1024 => d_push_fifo;
    }
    scratch {
        /// Size of the scratchpad.
        bytes: u32, "bytes", 4096..=65536 => scratch_bytes;
        /// Commands that wait at the scratchpad before microengines stall.
        inlet_depth: u8, "commands", 1..=255 => scratch_inlet_depth;
        /// Bus clocks the scratchpad is busy per longword.
        occupancy: u64, "bus clocks", 1..=16 => scratch_occupancy;
        /// Idle latency of a read of one longword.
        read: u64, "ME cycles", 1..=4096 => scratch_read;
        /// Idle latency of a write of one longword to its pull signal.
        write: u64, "ME cycles", 1..=4096 => scratch_write;
        /// Idle latency of an atomic operation that returns the old value.
        atomic: u64, "ME cycles", 1..=4096 => scratch_atomic;
        /// Idle latency of a ring get of one longword.
        ring_get: u64, "ME cycles", 1..=4096 => scratch_ring_get;
        /// Idle latency of a ring put of one longword to its pull signal.
        ring_put: u64, "ME cycles", 1..=4096 => scratch_ring_put;
        /// Ring operation to its visibility in the ring's status bit.
        ring_status_lag: u64, "ME cycles", 0..=4096 => ring_status_lag;
        /// Fill at which a ring counts as nearly full.
        ring_full_percent: u32, "percent", 1..=100 => ring_full_percent;
    }
    sram {
        /// SRAM channels.
        channels: u8, "channels", 1..=4 => sram_channels;
        /// Memory of one channel.
        channel_bytes: u32, "bytes", 4096..=67108864 => sram_channel_bytes;
        /// Commands that wait at a channel before microengines stall.
        inlet_depth: u8, "commands", 1..=255 => sram_inlet_depth;
        /// Commands in a channel's FIFO of each direction, behind the inlet.
        fifo_depth: u8, "commands", 1..=255 => sram_fifo_depth;
        /// ME cycles per longword and direction on a channel's pins.
        longword_cycles: u64, "ME cycles", 1..=256 => sram_longword_cycles;
        /// Idle latency of a read of one longword.
        read: u64, "ME cycles", 1..=4096 => sram_read;
        /// Idle latency of a write of one longword to its pull signal.
        write: u64, "ME cycles", 1..=4096 => sram_write;
        /// Idle latency of an atomic operation that returns the old value.
        atomic: u64, "ME cycles", 1..=4096 => sram_atomic;
        /// Read half of an atomic operation to its write half.
        atomic_turnaround: u64, "ME cycles", 0..=4096 => sram_atomic_turnaround;
        /// Idle latency of a dequeue.
        dequeue: u64, "ME cycles", 1..=4096 => sram_dequeue;
        /// Idle latency of a ring get of one longword.
        ring_get: u64, "ME cycles", 1..=4096 => sram_ring_get;
        /// Idle latency of a ring put of one longword to its status word.
        ring_put: u64, "ME cycles", 1..=4096 => sram_ring_put;
        /// Idle latency of reading a channel's register.
        csr: u64, "ME cycles", 1..=4096 => sram_csr;
        /// Q-array entries of a channel.
        queue_entries: u8, "entries", 1..=64 => queue_entries;
        /// Least distance of two operations on one Q-array entry.
        same_entry_gap: u64, "ME cycles", 0..=4096 => same_entry_gap;
    }
    dram {
        /// DRAM channels.
        channels: u8, "channels", 1..=3 => dram_channels;
        /// Memory of one channel.
        channel_bytes: u32, "bytes", 4096..=1073741824 => dram_channel_bytes;
        /// Bytes after which the next channel follows.
        channel_interleave: u32, "bytes", 8..=1048576 => dram_channel_interleave;
        /// Commands that wait at a channel before microengines stall.
        inlet_depth: u8, "commands", 1..=255 => dram_inlet_depth;
        /// Banks with a command FIFO of their own.
        banks: u8, "banks", 1..=32 => dram_banks;
        /// Commands in a bank's FIFO.
        bank_fifo_depth: u8, "commands", 1..=64 => dram_bank_fifo_depth;
        /// Bytes after which the next bank follows.
        bank_interleave: u32, "bytes", 8..=16777216 => dram_bank_interleave;
        /// Bytes that one burst moves.
        burst_bytes: u32, "bytes", 8..=256 => dram_burst_bytes;
        /// Time one burst keeps the data pins busy.
        burst_half_cycles: u64, "half ME cycles", 1..=2048 => dram_burst_half_cycles;
        /// Row activation to column command.
        row_to_column: u64, "ME cycles", 0..=1024 => dram_row_to_column;
        /// Column command to first data.
        column_to_data: u64, "ME cycles", 0..=1024 => dram_column_to_data;
        /// Least distance of two row activations in one bank.
        row_cycle: u64, "ME cycles", 0..=1024 => dram_row_cycle;
        /// Precharge: last data to the next activation in the bank.
        precharge: u64, "ME cycles", 0..=1024 => dram_precharge;
        /// Last written data to precharge.
        write_recovery: u64, "ME cycles", 0..=1024 => dram_write_recovery;
        /// Data bus gap from a read to a write.
        read_to_write: u64, "ME cycles", 0..=1024 => dram_read_to_write;
        /// Data bus gap from a write to a read.
        write_to_read: u64, "ME cycles", 0..=1024 => dram_write_to_read;
        /// Distance of refreshes.
        refresh_interval: u64, "ME cycles", 128..=1000000000 => dram_refresh_interval;
        /// Banks that are refreshed together; sets of them take turns.
        refresh_banks: u8, "banks", 1..=32 => dram_refresh_banks;
        /// Time a refresh blocks its banks.
        refresh_cycles: u64, "ME cycles", 0..=100000 => dram_refresh_cycles;
        /// Idle latency of a read of one quadword.
        read: u64, "ME cycles", 1..=4096 => dram_read;
        /// Idle latency of a write of one quadword to its pull signals.
        write: u64, "ME cycles", 1..=4096 => dram_write;
        /// Idle latency of moving 64 bytes from RBUF to its signals.
        rbuf_rd: u64, "ME cycles", 1..=4096 => dram_rbuf_rd;
        /// Idle latency of moving 64 bytes to TBUF to its signals.
        tbuf_wr: u64, "ME cycles", 1..=4096 => dram_tbuf_wr;
    }
    hash {
        /// Commands that wait at the hash unit before microengines stall.
        inlet_depth: u8, "commands", 1..=255 => hash_inlet_depth;
        /// Idle latency of one `hash_48`.
        one: u64, "ME cycles", 1..=4096 => hash_one;
        /// Time a 48-bit operand is in the multiplier array.
        array_48: u64, "bus clocks", 1..=64 => hash_array_48;
        /// Time a 64-bit operand is in the multiplier array.
        array_64: u64, "bus clocks", 1..=64 => hash_array_64;
        /// Time a 128-bit operand is in the multiplier array.
        array_128: u64, "bus clocks", 1..=64 => hash_array_128;
        /// Time in the input and in the output buffer, 48 and 64 bits, each way.
        buffer_48_64: u64, "bus clocks", 0..=64 => hash_buffer_48_64;
        /// Time in the input and in the output buffer, 128 bits, each way.
        buffer_128: u64, "bus clocks", 0..=64 => hash_buffer_128;
    }
    msf {
        /// Receive buffer.
        rbuf_bytes: u32, "bytes", 256..=8192 => rbuf_bytes;
        /// Transmit buffer.
        tbuf_bytes: u32, "bytes", 256..=8192 => tbuf_bytes;
        /// Commands that wait at the media interface before microengines stall.
        inlet_depth: u8, "commands", 1..=255 => msf_inlet_depth;
        /// Idle latency of a read of one longword.
        read: u64, "ME cycles", 1..=4096 => msf_read;
        /// Idle latency of a write of one longword to its pull signal.
        write: u64, "ME cycles", 1..=4096 => msf_write;
        /// Issue of a fast write to its effect.
        fast_write: u64, "ME cycles", 1..=4096 => msf_fast_write;
        /// Element valid and thread waiting, to the thread's signal.
        autopush: u64, "ME cycles", 1..=4096 => autopush_latency;
        /// Threads that can wait on the receive freelist.
        receive_freelist_depth: u16, "threads", 1..=1024 => receive_freelist_depth;
        /// Media clocks beside data for one received mpacket.
        receive_overhead: u64, "media clocks", 0..=64 => receive_overhead;
        /// Media clocks beside data for one transmitted mpacket.
        transmit_overhead: u64, "media clocks", 0..=64 => transmit_overhead;
        /// Element valid to its first word on the pins.
        transmit_start: u64, "ME cycles", 0..=4096 => transmit_start;
        /// Bytes that the media bus moves per clock.
        bus_bytes: u64, "bytes", 1..=64 => media_bus_bytes;
        /// Room for received frames that are not in RBUF, per port.
        receive_fifo: u32, "bytes", 64..=1048576 => receive_fifo_bytes;
        /// Room for frames that have left TBUF and not the port, per port.
        transmit_fifo: u32, "bytes", 256..=1048576 => transmit_fifo_bytes;
        /// Fill of a transmit FIFO below which its status says starving.
        transmit_low_water: u32, "bytes", 1..=1048576 => transmit_low_water;
        /// Fill of a transmit FIFO above which its status says satisfied.
        transmit_high_water: u32, "bytes", 1..=1048576 => transmit_high_water;
        /// Cycles per count of a receive freelist's timeout.
        timeout_unit: u64, "ME cycles", 1..=4096 => freelist_timeout_unit;
    }
    cap {
        /// Commands that wait at the CSR proxy before microengines stall.
        inlet_depth: u8, "commands", 1..=255 => cap_inlet_depth;
        /// Idle latency of a register read.
        read: u64, "ME cycles", 1..=4096 => cap_read;
        /// Idle latency of a register write to its pull signal.
        write: u64, "ME cycles", 1..=4096 => cap_write;
        /// Issue of a fast write to its effect.
        fast_write: u64, "ME cycles", 1..=4096 => cap_fast_write;
        /// Issue of an interthread signal to the signal.
        interthread_signal: u64, "ME cycles", 1..=4096 => interthread_signal;
        /// Idle latency of moving transfer registers between microengines.
        reflect: u64, "ME cycles", 1..=4096 => cap_reflect;
    }
    gpp {
        /// One access of the general-purpose core to a scratch ring or CSR.
        ring_access: u64, "ME cycles", 1..=65536 => gpp_ring_access;
        /// One access to an SRAM longword or to a Q-array entry.
        sram_access: u64, "ME cycles", 1..=65536 => gpp_sram_access;
        /// One read of up to 32 bytes of DRAM.
        dram_access: u64, "ME cycles", 1..=65536 => gpp_dram_access;
        /// Instructions that handle one exception packet, beside its accesses.
        exception_work: u64, "ME cycles", 0..=1048576 => gpp_exception_work;
        /// Instructions that compute a law of congestion control once, beside its
        /// accesses.
        law_work: u64, "ME cycles", 0..=1048576 => gpp_law_work;
        /// Interrupt raised to the first access of its handler.
        interrupt_latency: u64, "ME cycles", 1..=1048576 => gpp_interrupt_latency;
    }
    feedback {
        /// Clock of an attached coprocessor's Quick-Start module, which takes one
        /// request a clock.
        quick_start: u64, "ps", 1..=1000000 => feedback_quick_start;
        /// The same of the module alone, as the bandwidth measurement drives it.
        quick_start_alone: u64, "ps", 1..=1000000 => feedback_quick_start_alone;
        /// Clock of its XCP module, which takes one request a clock.
        xcp: u64, "ps", 1..=1000000 => feedback_xcp;
    }
}
