; loop.uc: context 0 goes through CASE_COUNT records of 64 bytes in DRAM: eight
; longwords that a case is given, in $$i0 to $$i7, and eight that it gives, in
; $$o0 to $$o7. The including file defines test_case().

#include "constant.uc"

.num_contexts 8

.reg read $$i0 $$i1 $$i2 $$i3 $$i4 $$i5 $$i6 $$i7
.xfer_order $$i0 $$i1 $$i2 $$i3 $$i4 $$i5 $$i6 $$i7
.reg write $$o0 $$o1 $$o2 $$o3 $$o4 $$o5 $$o6 $$o7
.xfer_order $$o0 $$o1 $$o2 $$o3 $$o4 $$o5 $$o6 $$o7
.sig got put
.reg place left

    br!=ctx[0, rest#]
    load_constant(place, CASES)
    load_constant(left, CASE_COUNT)
next_case#:
    dram[read, $$i0, place, 0, 4], ctx_swap[got]
    test_case()
    dram[write, $$o0, place, 32, 4], ctx_swap[put]
    alu[place, place, +, 64]
    alu[left, left, -, 1]
    bne[next_case#]
rest#:
    ctx_arb[kill]
