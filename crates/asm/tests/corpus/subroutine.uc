; good
.reg ret x
immed[x, 1]
br[add#], defer[1]
load_addr[ret, first#]
first#: br[add#], defer[1]
load_addr[ret, second#]
second#: local_csr_wr[0x10, x]
ctx_arb[kill]
.subroutine
add#: alu[x, x, +, 1]
rtn[ret]
.endsub
