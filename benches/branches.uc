; A kernel whose loop is two basic blocks: ten operations a round and an eleventh in about half of
; them, the same as in branches.wat.
.num_contexts 8
.reg x t sum mix count
    br=ctx[0, start#]
    ctx_arb[kill]
start#:
    immed[x, 0x9e37]
    immed[sum, 0]
    immed[mix, 0]
    immed[count, (ROUNDS & 0xffff)]
    immed_w1[count, (ROUNDS >> 16)]
again#:
    alu_shf[t, --, B, x, <<13]
    alu[x, x, XOR, t]
    alu_shf[t, --, B, x, >>17]
    alu[x, x, XOR, t]
    alu_shf[t, --, B, x, <<5]
    alu[x, x, XOR, t]
    br_bclr[x, 0, even#]
    alu[sum, sum, +, x]
even#:
    alu[mix, mix, XOR, sum]
    alu[count, count, -, 1]
    bne[again#]
    alu[mix, mix, XOR, sum]
    ; local memory 0 is where the result is read
    immed[t, 0]
    local_csr_wr[ACTIVE_LM_ADDR_0, t]
    nop
    nop
    nop
    alu[*l$index0, --, B, mix]
    ctx_arb[kill]
