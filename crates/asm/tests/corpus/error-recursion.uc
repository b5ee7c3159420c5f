; error expansion-limit 8
#macro one(n)
    two(n)
#endm
#macro two(n)
    one(n)
#endm
    one(3)
    ctx_arb[kill]
