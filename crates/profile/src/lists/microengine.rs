//! The microengines.

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { microengine {
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
            /// Aborted slots of a taken branch on condition codes without defer when at
            /// least one slot lies between the instruction that set the codes and the branch.
            settled_branch_penalty: u64, "cycles", 0..=16 => settled_branch_penalty;
            /// Aborted slots of a taken branch on a bit or byte without defer.
            bit_branch_penalty: u64, "cycles", 0..=16 => bit_branch_penalty;
            /// Aborted slots of a taken branch on context, signal or input state
            /// without defer.
            state_branch_penalty: u64, "cycles", 0..=16 => state_branch_penalty;
            /// Aborted slots of jump and rtn without defer.
            jump_penalty: u64, "cycles", 0..=16 => jump_penalty;
            /// Aborted slots when a context yields without defer.
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
        } }
    };
}
pub(crate) use parameters;
