; record.uc: sixteen contexts keep a record of frames: how many, the longest length, which
; frame it was. A context takes every sixteenth frame.

#include "constant.uc"
#include "lock.uc"

#define FRAMES (LENGTHS_SIZE / 8)

.num_contexts 8

.reg read $$length $$rest
.xfer_order $$length $$rest
.reg read $count $longest $which
.xfer_order $count $longest $which
.reg write $new_count $new_longest $new_which
.xfer_order $new_count $new_longest $new_which
.reg $bit
.reg lengths lock record frame place length count longest which left
.sig got done taken rung

    load_constant(lengths, LENGTHS)
    load_constant(lock, RECORD_LOCK)
    load_constant(record, RECORD)
    local_csr_rd[ACTIVE_CTX_STS]
    immed[frame, 0]
    alu[frame, frame, AND, 0x7]
    alu[frame, frame, +, (8 * (ME_INDEX - COUNT_FIRST))]
    immed[left, (FRAMES / 16)]

next#:
    lock_take($bit, lock, 0, scratch, taken, rung)
    alu_shf[place, --, B, frame, <<3]
    dram[read, $$length, lengths, place, 1], ctx_swap[got]
    alu[length, --, B, $$length]
    scratch[read, $count, record, 0, 3], ctx_swap[done]
    alu[count, $count, +, 1]
    alu[longest, --, B, $longest]
    alu[which, --, B, $which]
    alu[--, longest, -, length]
    bge[write#]
    alu[longest, --, B, length]
    alu[which, --, B, frame]
write#:
    alu[$new_count, --, B, count]
    alu[$new_longest, --, B, longest]
    alu[$new_which, --, B, which]
    scratch[write, $new_count, record, 0, 3], ctx_swap[done]
    lock_release($bit, lock, 0, scratch, done)
    ctx_arb[done]
    alu[frame, frame, +, 16]
    alu[left, left, -, 1]
    bne[next#]
    ctx_arb[kill]
