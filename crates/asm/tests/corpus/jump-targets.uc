; good
jump[a1, first#], targets[first#, second#]
first#: nop
second#: ctx_arb[kill]
