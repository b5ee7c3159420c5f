; good
.reg read $in
.reg write $out
.reg where
.sig done
    immed[where, 0x40]
    .set_wr $out
    sram[write, $out, where, 0, 1], ctx_swap[done]
    sram[read, $in, where, 4, 1], ctx_swap[done]
    .use_rd $in
end#:
    br[end#]
