; good
.operand_synonym tag *l$index0[3]
.operand_synonym limit 12
alu[tag, --, B, a0]
alu[a1, b2, +, limit]
.begin
.operand_synonym tag a5
alu[tag, --, B, b1]
.end
alu[a2, --, B, tag]
ctx_arb[kill]
