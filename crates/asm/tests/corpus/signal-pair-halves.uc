; good

; A signal of a command that raises two is a pair, whose signals have numbers of their own.
.sig two other
.reg $$x[2] a
.xfer_order $$x
.addr two 4
immed[a, 0]
dram[read, $$x[0], a, 0, 1], sig_done[two]
ctx_arb[two[0], two[1]]
dram[write, $$x[0], a, 0, 1], sig_done[two[0]]
first#:
br_!signal[two[0], first#]
second#:
br_!signal[two[1], second#]
immed[a, (&two[1] << 4)]
local_csr_wr[0x10, a]
immed[a, mask(two[1])]
local_csr_wr[0x10, a]
.set_sig other
immed[a, &other[1]]
local_csr_wr[0x10, a]
ctx_arb[other[1], other[0]]
ctx_arb[kill]
