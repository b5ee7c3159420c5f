; error unknown-instruction 2
aul[a0, --, B, b1]
