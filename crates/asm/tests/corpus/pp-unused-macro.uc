; good

; What nothing uses is not code, whatever it holds.
#macro never(a)
#if (a % 64
    nop
#endif
    'it's `no` text
    3com[a
#endm
#macro half(a)
#if (a > 0)
    immed[a0, a]
#else
    alu[--, a0, @@ `, b]]
#endif
#macro inner(b)
    immed[b, 0q7]
#endm
#endm
half(1)
ctx_arb[kill]
