; good
local_csr_rd[ACTIVE_CTX_STS]
immed[a1, 0]
local_csr_wr[CRC_REMAINDER, b1]
local_csr_wr[0x140, 7]
local_csr_wr[NN_PUT, $1]
ctx_arb[kill]
