; good
byte_align_be[--, $0]
byte_align_be[a1, $1]
byte_align_le[--, $0]
byte_align_le[a1, $1]
ctx_arb[kill]
