; good
.reg done address $done
.sig done
    immed[address, 8]
    sram[read, $done, address, 0, 1], ctx_swap[done]
    alu[done, --, B, $done]
    alu[--, done, -, 3]
    sram[read, $done, address, done, 1], sig_done[done]
    ctx_arb[done]
    alu[a15, --, B, $done]
.begin
    .sig address
    ; The register of this name is still the one outside.
    sram[read, $done, address, 0, 1], sig_done[address]
    br_!signal[address, waited#]
waited#:
    .io_completed address
    immed[a14, &address]
.end
    ctx_arb[kill]
