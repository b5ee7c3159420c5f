; error path-conflict 2
alu[a0, $1, +, $2]
