//! What the interpreter's loop does at an address: its actions, and the tables they come from.

use crate::operation::{Kind, Op};

/// One line an operation: its kind, and its action as a whole. One line an operation that has a
/// form of its own where one operand is a transfer register, which no unit may own: its kind, that
/// form, and which field of [`Op`] names it. Operations of registers alone that have but one form.
/// Branches. Then one line a pair of an operation as a whole and a branch.
macro_rules! with_actions {
    ($make:ident) => {
        $make! {
            operations {
                B WholeB;
                NotB WholeNotB;
                Add WholeAdd;
                Add16 WholeAdd16;
                Add8 WholeAdd8;
                And WholeAnd;
                NotAAnd WholeNotAAnd;
                AndNot WholeAndNot;
                Or WholeOr;
                Xor WholeXor;
                Sub WholeSub;
                SubReverse WholeSubReverse;
                ShfB WholeShfB;
                ShfNotB WholeShfNotB;
                ShfAnd WholeShfAnd;
                ShfNotAAnd WholeShfNotAAnd;
                ShfAndNot WholeShfAndNot;
                ShfOr WholeShfOr;
                LdField WholeLdField;
                Immed WholeImmed;
                ImmedMerge WholeImmedMerge;
            }
            owned {
                B OwnedB y;
                Add OwnedAdd y;
                And OwnedAnd y;
                AndNot OwnedAndNot y;
                Or OwnedOr y;
                Xor OwnedXor y;
                Sub OwnedSub y;
                AddCarry OwnedAddCarry y;
                ShfB OwnedShfB y;
                ShfAnd OwnedShfAnd y;
                ShfAndNot OwnedShfAndNot y;
                ShfOr OwnedShfOr y;
                LdField OwnedLdField b;
                LdFieldCc OwnedLdFieldCc b;
                Immed OwnedImmed y;
            }
            alone { ShfIndirect AddCarry MulStart MulStep }
            branches {
                Br Beq Bne Bmi Bpl Bcs Bcc Bvs Bvc Bge Blt Ble Bgt
                BrCtx BrNotCtx BrBitSet BrBitClear BrByte BrNotByte
            }
            decided {
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
pub(crate) use with_actions;

macro_rules! define {
    (
        operations { $($kind:ident $whole:ident;)* }
        owned { $($moved:ident $owned:ident $tested:ident;)* }
        alone { $($alone:ident)* }
        branches { $($branch:ident)* }
        decided { $($test:ident $way:ident $decided:ident;)* }
    ) => {
        /// What the interpreter's loop does with an operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Action {
            /// It ends.
            Stop,
            /// A command that is known but for its address.
            Command,
            /// The context gives up the pipeline.
            GiveUp,
            /// A local CSR is written.
            CsrWrite,
            /// A local CSR is written that only sets a timer or raises a signal.
            CsrSend,
            /// An operation with operands on next-neighbour rings.
            Ring,
            /// Another poll.
            Poll,
            /// A pointer of the context's own to local memory is written.
            PointerWrite,
            /// A local CSR that does not poll is read.
            CsrRead,
            /// The low half of the timestamp is read, and the next word does nothing but take it.
            Clock,
            /// An operation of the datapath without a form of its own here.
            Datapath,
            /// The same with transfer registers, which no unit may own.
            Owned,
            /// A transfer register becomes another.
            Move,
            /// The same with operands in local memory.
            Local,
            /// The same with one word of local memory, which [`Op::y`] says, and with no
            /// transfer registers.
            LocalWord,
            /// A branch on a transfer register.
            OwnedBranch,
            $($whole, $kind,)*
            $($owned,)*
            $($alone,)*
            $($branch,)*
            $($decided,)*
        }

        impl Action {
            /// The action of an operation that works on registers alone, all of it.
            pub fn whole(kind: Kind) -> Self {
                match kind {
                    $(Kind::$kind => Self::$whole,)*
                    $(Kind::$branch => Self::$branch,)*
                    $(Kind::$alone => Self::$alone,)*
                    _ => Self::Datapath,
                }
            }

            /// The action of an operation that has transfer registers, and no other reason to
            /// be guarded.
            pub fn owned(op: &Op) -> Self {
                match (op.kind, op.transfer()) {
                    $((Kind::$moved, Some(slot)) if op.$tested == slot => Self::$owned,)*
                    // A is nothing to it.
                    (Kind::B, None) if !Op::is_transfer(op.a) => Self::Move,
                    _ => Self::Owned,
                }
            }

            /// The action of the quick form of an operation that has one.
            pub fn quick(kind: Kind) -> Self {
                match kind {
                    $(Kind::$kind => Self::$kind,)*
                    _ => Self::whole(kind),
                }
            }

            /// The action of an operation as a whole and the branch behind it, if they make
            /// a pair.
            pub fn decided(test: Kind, branch: Kind) -> Option<Self> {
                match (test, branch) {
                    $((Kind::$test, Kind::$way) => Some(Self::$decided),)*
                    _ => None,
                }
            }

            pub fn has_quick(kind: Kind) -> bool {
                matches!(kind, $(Kind::$kind)|*)
            }
        }
    };
}

with_actions!(define);
