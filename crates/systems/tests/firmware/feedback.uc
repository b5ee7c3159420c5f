; feedback.uc: every context asks the coprocessor for rates of two groups and then
; for feedback of two groups, and keeps its requests and the answers.

#include "constant.uc"
#include "context_number.uc"

#define ROUNDS 32

.num_contexts 8

.reg read $told
.reg write $kept[4]
.xfer_order $kept
.reg write $request[4]
.xfer_order $request
.sig asked answered logged
.reg number seed

; step(seed)
;   The next of a sequence that visits all longwords but 0.
#macro step(seed)
.begin
    .reg shifted
    alu_shf[shifted, --, B, seed, <<13]
    alu[seed, seed, XOR, shifted]
    alu_shf[shifted, --, B, seed, >>17]
    alu[seed, seed, XOR, shifted]
    alu_shf[shifted, --, B, seed, <<5]
    alu[seed, seed, XOR, shifted]
.end
#endm

; rates()
;   A longword a round in RATES: group << 20 | code << 16 | answer.
#macro rates()
.begin
    .reg base log round what
    load_constant(base, FEEDBACK_REQUESTS)
    load_constant(log, RATES)
    alu_shf[what, --, B, number, <<7]           ; 4 * ROUNDS bytes a context
    alu[log, log, +, what]
    immed[round, ROUNDS]
again#:
    step(seed)
    alu[what, seed, AND, 0x1f]
    alu_shf[what, --, B, what, <<2]
    sram[read, $told, base, what, 1], ctx_swap[answered]
    alu_shf[what, --, B, what, <<14]
    alu[$kept[0], what, OR, $told]
    sram[write, $kept[0], log, 0, 1], ctx_swap[logged]
    alu[log, log, +, 4]
    alu[round, round, -, 1]
    bne[again#]
.end
#endm

; changes()
;   Four longwords a round in CHANGES: group << 16 | size, X, Delta, answer. The
;   read waits for the write by itself.
#macro changes()
.begin
    .reg mailbox log round what middle
    load_constant(mailbox, FEEDBACK_MAILBOXES)
    load_constant(log, CHANGES)
    load_constant(middle, 2048)
    alu_shf[what, --, B, number, <<4]
    alu[mailbox, mailbox, +, what]
    alu_shf[what, --, B, number, <<9]           ; 16 * ROUNDS bytes a context
    alu[log, log, +, what]
    immed[round, ROUNDS]
again#:
    step(seed)
    alu[what, seed, AND, 1]
    alu[$request[0], --, B, what]
    alu_shf[what, --, B, what, <<16]
    alu_shf[$kept[0], what, OR, seed, >>22]
    alu_shf[what, --, B, seed, >>22]
    alu[$request[2], --, B, what]
    alu_shf[what, --, B, seed, >>14]
    alu[$request[1], --, B, what]
    alu[$kept[1], --, B, what]
    alu_shf[what, --, B, seed, >>20]
    alu[what, what, -, middle]
    alu[$request[3], --, B, what]
    alu[$kept[2], --, B, what]
    sram[write, $request[0], mailbox, 0, 4], sig_done[asked]
    sram[read, $told, mailbox, 0, 1], sig_done[answered]
    ctx_arb[asked, answered]
    alu[$kept[3], --, B, $told]
    sram[write, $kept[0], log, 0, 4], ctx_swap[logged]
    alu[log, log, +, 16]
    alu[round, round, -, 1]
    bne[again#]
.end
#endm

    context_number(number)
    load_constant(seed, 0x2545f491)
    alu[seed, seed, XOR, number]
    rates()
    changes()
    ctx_arb[kill]
