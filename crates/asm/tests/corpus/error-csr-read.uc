; error csr-read-without-immed 2
local_csr_rd[ACTIVE_CTX_STS]
nop
