; error undefined-register 2
alu[x, --, B, b1]
