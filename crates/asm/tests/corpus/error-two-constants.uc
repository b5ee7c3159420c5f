; error two-constants 2
alu[a0, 1, +, 2]
