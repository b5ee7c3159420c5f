; An ALU-bound kernel: ten operations a round, the same as in alu.wat.
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
    alu[sum, sum, +, x]
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
