; good

; The number of an element may be computed.
#define N 2
.sig done
.xfer_order $in[(N-2)] $in[N - 1]
.xfer_order_rd $$far[(N)] $$far[3]
.areg p 0
immed[p, 0]
scratch[read, $in0, p, 0, N], ctx_swap[done]
dram[read, $$far[N], p, 0, 1], ctx_swap[done]
alu[p, $in1, +, $$far3]
alu[--, p, -, 1]
ctx_arb[kill]
