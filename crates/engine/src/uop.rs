//! The table of micro-operations.
//!
//! Each row defines an operation: its name, its handlers, its result, and the effects that it
//! leaves for later operations. The table generates every item that exists once per operation:
//! [`UopKind`] and [`Handler`] here, the evaluators in [`crate::datapath`], the arms of the loop in
//! [`crate::dispatch`]. To add an operation, add its row and, if the row names a function, that
//! function of [`Datapath`](crate::datapath::Datapath); the loop does not change.
//!
//! | section | row | evaluated as |
//! | --- | --- | --- |
//! | `values` | kind, *live* and *dead* handler, result, codes | register = result; sets codes; leaves A operand and result |
//! | `moves` | kind, *live* and *dead* handler, result, A operand left | the same, but the codes stay unchanged |
//! | `functions` | kind, function, its own handler if it is frequent | the function; it leaves what [`npsim_isa::Leaves`] specifies |
//! | `branches` | kind and handler, condition | the target if the condition holds |
//! | `control` | kind | by `dispatch`, `control` and `slow_path`: a jump, or a synchronisation point unless it accesses one of the context's own local CSRs |
//! | `fused` | an operation, the branch after it, their handler | both, in one dispatch |
//!
//! Results are computed from [`OperationInputs`](crate::datapath::OperationInputs), conditions from
//! [`Tested`](crate::datapath::Tested). The *dead* handler writes only the destination: it is
//! chosen if the next operation overwrites all other effects of this one unread ([`crate::block`]).
//! In brackets are the handler for one transfer register, which must not be reserved on the
//! scoreboard, and the slot of [`Op`](crate::operation::Op) that names it.

macro_rules! with_uops {
    ($print:ident) => {
        $print! {
            values {
                B LiveB DeadB [ScoreboardedB Y]: |i| i.b, Codes::logical;
                NotB LiveNotB DeadNotB: |i| !i.b, Codes::logical;
                Add LiveAdd DeadAdd [ScoreboardedAdd Y]:
                    |i| i.a.wrapping_add(i.b), |i, result| Codes::sum(i.a, i.b, result);
                Add16 LiveAdd16 DeadAdd16:
                    |i| i.a.wrapping_add(i.b & 0xffff),
                    |i, result| Codes::sum(i.a, i.b & 0xffff, result);
                Add8 LiveAdd8 DeadAdd8:
                    |i| i.a.wrapping_add(i.b & 0xff),
                    |i, result| Codes::sum(i.a, i.b & 0xff, result);
                And LiveAnd DeadAnd [ScoreboardedAnd Y]: |i| i.a & i.b, Codes::logical;
                NotAAnd LiveNotAAnd DeadNotAAnd: |i| !i.a & i.b, Codes::logical;
                AndNot LiveAndNot DeadAndNot [ScoreboardedAndNot Y]:
                    |i| i.a & !i.b, Codes::logical;
                Or LiveOr DeadOr [ScoreboardedOr Y]: |i| i.a | i.b, Codes::logical;
                Xor LiveXor DeadXor [ScoreboardedXor Y]: |i| i.a ^ i.b, Codes::logical;
                // A difference is a sum with the complement and a carry in of 1.
                Sub LiveSub DeadSub [ScoreboardedSub Y]:
                    |i| i.a.wrapping_sub(i.b), |i, result| Codes::sum(i.a, !i.b, result);
                SubReverse LiveSubReverse DeadSubReverse:
                    |i| i.b.wrapping_sub(i.a), |i, result| Codes::sum(i.b, !i.a, result);
                ShfB LiveShfB DeadShfB [ScoreboardedShfB Y]: |i| i.shifted, Codes::logical;
                ShfNotB LiveShfNotB DeadShfNotB: |i| !i.shifted, Codes::logical;
                ShfAnd LiveShfAnd DeadShfAnd [ScoreboardedShfAnd Y]:
                    |i| i.a & i.shifted, Codes::logical;
                ShfNotAAnd LiveShfNotAAnd DeadShfNotAAnd: |i| !i.a & i.shifted, Codes::logical;
                ShfAndNot LiveShfAndNot DeadShfAndNot [ScoreboardedShfAndNot Y]:
                    |i| i.a & !i.shifted, Codes::logical;
                ShfOr LiveShfOr DeadShfOr [ScoreboardedShfOr Y]:
                    |i| i.a | i.shifted, Codes::logical;
            }
            moves {
                // A is the old value of the destination.
                LdField LiveLdField DeadLdField [ScoreboardedLdField B]:
                    |i| i.a & i.kept | i.shifted, |i| i.a;
                Immed LiveImmed DeadImmed [ScoreboardedImmed Y]: |i| i.value, |_| 0;
                ImmedMerge LiveImmedMerge DeadImmedMerge: |i| i.a & i.kept | i.value, |_| 0;
            }
            functions {
                AddCarry: add_carry, LiveAddCarry [ScoreboardedAddCarry Y];
                SubCarry: sub_carry;
                /// The shift count is the A operand of the previous operation; `y`: the operator as
                /// its `ShfOp`; `n`: 0 left, 1 right.
                ShfIndirect: shift_indirect, LiveShfIndirect;
                /// {a, b} >> n
                DblShf: double_shift;
                DblShfIndirect: double_shift_indirect;
                Asr: arithmetic_shift;
                AsrIndirect: arithmetic_shift_indirect;
                ByteAlignBe: align_big_endian;
                ByteAlignLe: align_little_endian;
                /// [`Self::LdField`] that also sets the codes.
                LdFieldCc: load_field [ScoreboardedLdFieldCc B];
                Nop: no_operation;
                MulStart: start_product, LiveMulStart;
                MulStep: step_product, LiveMulStep;
                /// `n`: width 0 24x8, 1 16x16, 2 32x32; `x`: 1 for the high longword.
                MulLast: last_product;
                /// `n`: index of the [`npsim_isa::UnaryOp`]
                Unary: unary;
                CamClear: clear_cam;
                CamLookup: look_up_cam;
                /// a: tag, b: entry, n: state
                CamWrite: write_cam;
                CamWriteState: write_cam_state;
                /// `x`: [`crate::crc::pack`]
                Crc: update_crc;
            }
            branches {
                Br: |_| true;
                Beq: |t| t.codes.zero();
                Bne: |t| !t.codes.zero();
                Bmi: |t| t.codes.negative();
                Bpl: |t| !t.codes.negative();
                Bcs: |t| t.codes.carry();
                Bcc: |t| !t.codes.carry();
                Bvs: |t| t.codes.overflow();
                Bvc: |t| !t.codes.overflow();
                Bge: |t| !t.codes.less();
                Blt: |t| t.codes.less();
                Ble: |t| t.codes.zero() || t.codes.less();
                Bgt: |t| !t.codes.zero() && !t.codes.less();
                /// `x`: the context
                BrCtx: |t| t.context == t.number;
                BrNotCtx: |t| t.context != t.number;
                /// b: register, `x`: the bit
                BrBitSet: |t| t.word & t.number != 0;
                BrBitClear: |t| t.word & t.number == 0;
                /// b: register, `x`: value | shift << 8
                BrByte: |t| t.word >> (t.number >> 8) & 0xff == t.number & 0xff;
                BrNotByte: |t| t.word >> (t.number >> 8) & 0xff != t.number & 0xff;
            }
            control {
                /// a: register, `x`: base
                Jump;
                /// `x`: the signal's bit. A synchronisation point.
                BrSignal;
                BrNoSignal;
                /// `x`: the input state's number. A synchronisation point.
                BrState;
                BrNoState;
                /// Yields the pipeline, with nothing to check; `n`: defer slots, `x`: the wake-up
                /// mask with [`Op::ANY`](crate::operation::Op::ANY) and
                /// [`Op::KEEP_MASK`](crate::operation::Op::KEEP_MASK). A synchronisation point.
                Arb;
                /// `x`: the local CSR; `n`: 1 if its reading is used for anything other than timers
                CsrRead;
                /// a: register, `x`: the local CSR
                CsrWrite;
                /// a, b: address, `x`: the template
                /// ([`Predecoded::templates`](crate::predecoded_program::Predecoded::templates)). A
                /// synchronisation point.
                Command;
                /// Needs more than any of these: see the instruction itself.
                Slow;
            }
            fused {
                B Beq BThenBeq;
                B Bne BThenBne;
                And Beq AndThenBeq;
                And Bne AndThenBne;
                Xor Beq XorThenBeq;
                Xor Bne XorThenBne;
                Sub Beq SubThenBeq;
                Sub Bne SubThenBne;
                Sub Bcs SubThenBcs;
                Sub Bcc SubThenBcc;
                ShfB Beq ShfThenBeq;
                ShfB Bne ShfThenBne;
            }
        }
    };
}
pub(crate) use with_uops;

macro_rules! define {
    (
        values { $($value:ident $live:ident $dead:ident $([$xfer:ident $slot:ident])?:
            $result:expr, $codes:expr;)* }
        moves { $($move:ident $move_live:ident $move_dead:ident $([$move_xfer:ident $move_slot:ident])?:
            $moved:expr, $port:expr;)* }
        functions { $($(#[$fn_doc:meta])* $function:ident: $call:ident $(, $fn_live:ident)?
            $([$fn_xfer:ident $fn_slot:ident])?;)* }
        branches { $($(#[$br_doc:meta])* $branch:ident: $taken:expr;)* }
        control { $($(#[$ctl_doc:meta])* $control:ident;)* }
        fused { $($test:ident $way:ident $fused:ident;)* }
    ) => {
        /// The kind of an operation. The operands named here are those of
        /// [`Op`](crate::operation::Op).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum UopKind {
            $($value,)*
            $($move,)*
            $($(#[$fn_doc])* $function,)*
            $($(#[$br_doc])* $branch,)*
            $($(#[$ctl_doc])* $control,)*
        }

        /// The dispatch loop's handling of an operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Handler {
            /// Leaves the loop for the slow path.
            Slow,
            /// A command that is complete except for its address.
            Command,
            /// The context yields the pipeline.
            Yield,
            /// A write of a local CSR.
            CsrWrite,
            /// A write of a local CSR that only posts an event: it sets a timer or raises a signal.
            CsrPost,
            /// An operation with operands on next-neighbour rings.
            Ring,
            /// Another synchronisation point.
            Sync,
            /// A write of the context's own local memory pointer.
            PointerWrite,
            /// A read of a local CSR that is not a synchronisation point.
            CsrRead,
            /// A read of the low half of the timestamp, where the next word only takes the value.
            Clock,
            /// An operation without a handler of its own.
            Alu,
            /// An operation without a handler of its own that has transfer registers.
            Scoreboarded,
            /// A move from one transfer register to another.
            Move,
            /// An operation with several operands in local memory.
            LocalMemory,
            /// An operation with one word of local memory, which
            /// [`Op::y`](crate::operation::Op::y) names, and without transfer registers.
            LocalWord,
            /// A branch on a transfer register.
            ScoreboardedBranch,
            $($live, $dead, $($xfer,)?)*
            $($move_live, $move_dead, $($move_xfer,)?)*
            $($($fn_live,)? $($fn_xfer,)?)*
            $($branch,)*
            $($fused,)*
        }

        impl Handler {
            /// The handler of an operation that works on registers alone and leaves all of its
            /// effects.
            #[allow(unreachable_patterns)] // The last arm of each function covers the rest.
            pub fn live(kind: UopKind) -> Self {
                match kind {
                    $(UopKind::$value => Self::$live,)*
                    $(UopKind::$move => Self::$move_live,)*
                    $($(UopKind::$function => Self::$fn_live,)?)*
                    $(UopKind::$branch => Self::$branch,)*
                    _ => Self::Alu,
                }
            }

            /// The handler of an operation of which only the destination is read.
            pub fn dead(kind: UopKind) -> Option<Self> {
                match kind {
                    $(UopKind::$value => Some(Self::$dead),)*
                    $(UopKind::$move => Some(Self::$move_dead),)*
                    _ => None,
                }
            }

            /// The handler of an operation whose one transfer register is named by a slot.
            pub fn scoreboarded(kind: UopKind) -> Option<(Self, TransferSlot)> {
                match kind {
                    $($(UopKind::$value => Some((Self::$xfer, TransferSlot::$slot)),)?)*
                    $($(UopKind::$move => Some((Self::$move_xfer, TransferSlot::$move_slot)),)?)*
                    $($(UopKind::$function => Some((Self::$fn_xfer, TransferSlot::$fn_slot)),)?)*
                    _ => None,
                }
            }

            /// The fused handler of an operation and the branch after it, if they form a pair.
            pub fn fused(test: UopKind, branch: UopKind) -> Option<Self> {
                match (test, branch) {
                    $((UopKind::$test, UopKind::$way) => Some(Self::$fused),)*
                    _ => None,
                }
            }
        }
    };
}

with_uops!(define);

/// A slot of an operation that may name its one transfer register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransferSlot {
    /// Operand B.
    B,
    /// The further slot.
    Y,
}

impl UopKind {
    /// Whether the operation stays within the microengine's registers and the next word follows.
    #[inline]
    pub fn is_alu(self) -> bool {
        (self as u8) < Self::Br as u8
    }

    /// Whether the operation leaves the microengine's own registers and memory.
    #[inline]
    pub fn is_outside(self) -> bool {
        self as u8 > Self::Jump as u8
    }

    /// Whether the operation is a branch to a fixed target.
    #[inline]
    pub fn branches(self) -> bool {
        (Self::Br as u8..=Self::BrNotByte as u8).contains(&(self as u8))
    }
}
