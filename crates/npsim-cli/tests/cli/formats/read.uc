.sig arrived
.reg address count $word
    immed[address, 0x40]
    immed[count, 0]
again#:
    sram[read, $word, address, 0, 1], ctx_swap[arrived]
    alu[count, count, +, 1]
    br[again#]
