; error unclosed-bracket 4

#macro wrong(a)
#if (a % 64
    nop
#endif
#endm
wrong(1)
wrong(2)
ctx_arb[kill]
