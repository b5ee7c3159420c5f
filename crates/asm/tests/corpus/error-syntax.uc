; error syntax 3
alu[a0, --, B a1
, ]
