; reader.uc: adds up a kilobyte of DRAM. One context reads 32 bytes a command, and asks
; for the next 32 before it needs them: one set of registers fills while the other is
; added up.

#include "constant.uc"

.num_contexts 8

.reg read $$even[8] $$odd[8]
.xfer_order $$even
.xfer_order $$odd
.reg write $sum
.reg base place left sum
.sig even odd done

; add_eight(words)
;   Adds eight transfer registers to `sum`.
#macro add_eight(words)
    alu[sum, sum, +, words[0]]
    alu[sum, sum, +, words[1]]
    alu[sum, sum, +, words[2]]
    alu[sum, sum, +, words[3]]
    alu[sum, sum, +, words[4]]
    alu[sum, sum, +, words[5]]
    alu[sum, sum, +, words[6]]
    alu[sum, sum, +, words[7]]
#endm

    br=ctx[0, start#]
    ctx_arb[kill]                       ; the other contexts are not ours

start#:
    load_constant(base, BLOCK)
    immed[place, 0]
    immed[left, (BLOCK_SIZE / 64)]      ; rounds of an even and an odd part
    immed[sum, 0]
    dram[read, $$even[0], base, place, 4], sig_done[even]
    alu[place, place, +, 32]
    dram[read, $$odd[0], base, place, 4], sig_done[odd]

next#:
    ctx_arb[even]
    add_eight($$even)
    alu[left, left, -, 1]
    beq[last#]
    alu[place, place, +, 32]
    dram[read, $$even[0], base, place, 4], sig_done[even]
    ctx_arb[odd]
    add_eight($$odd)
    alu[place, place, +, 32]
    dram[read, $$odd[0], base, place, 4], sig_done[odd]
    br[next#]

last#:
    ctx_arb[odd]
    add_eight($$odd)
    load_constant(place, TOTAL)
    alu[$sum, --, B, sum]
    scratch[write, $sum, place, 0, 1], ctx_swap[done]
    ctx_arb[kill]
