; error import-value 3
.import_var N
alu[a0, a1, +, N]
