; slow_path.uc: eight contexts count packets of 100 bytes that were never there,
; as RCP counts them, grant two units of 40 kbit/s each as Quick-Start does, and
; take the lock of XCP round by round.

#include "constant.uc"

.num_contexts 8

.reg write $bytes $rtt_bytes $low $high
.xfer_order $bytes $rtt_bytes $low $high
.reg read $state0 $state1
.xfer_order $state0 $state1
.reg write $units
.reg $bit
.reg counters state lock granted context count round
.sig done both

    load_constant(state, QS_STATE)
    load_constant(lock, XCP_STATE)
    load_constant(counters, RCP_COUNTERS)
    local_csr_rd[ACTIVE_CTX_STS]
    immed[context, 0]
    alu[context, context, AND, 7]
    alu_shf[context, --, B, context, <<4]
    alu[counters, counters, +, context]
    immed[count, 0]
    load_constant(round, ROUNDS)

again#:
    alu[count, count, +, 100]
    alu[$bytes, --, B, count]
    alu[$rtt_bytes, --, B, count]
    alu[$low, --, B, count]
    immed[$high, 0]
    sram[write, $bytes, counters, 0, 4], ctx_swap[done]

    sram[read, $state0, state, 0, 2], ctx_swap[done]
    alu[granted, state, +, $state1]
    immed[$units, 2]
    sram[add, $units, granted, 8], ctx_swap[done]

try#:
    immed[$bit, 1]
    sram[test_and_set, $bit, lock, 20], ctx_swap[both]
    br_bset[$bit, 0, try#]
    immed[$bit, 1]
    sram[test_and_clr, $bit, lock, 20], ctx_swap[both]

    alu[round, round, -, 1]
    bne[again#]
    ctx_arb[kill]
