; good
; warning read-before-write 7
; warning read-before-write 9
.reg @lock @set
.reg global seen
    immed[@set, 0]
again#: alu[--, @lock, -, @set]
    beq[again#]
    alu[--, --, B, seen]
    ctx_arb[kill]
