; good
; warning align-without-predecessor 3
byte_align_le[a1, a2]
ctx_arb[kill]
