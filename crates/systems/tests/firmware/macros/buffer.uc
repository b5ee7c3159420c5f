; whether to give back -> a buffer taken and its address; given back at once if
; the longword is not 0.

#include "constant.uc"
#include "../../../../../microcode/lib/buffer.uc"

.reg read $link
.sig taken

#macro test_case()
.begin
    .reg handle queue address
    load_constant(queue, FREE_BUFFERS)
    buffer_take(handle, queue, $link, taken)
    alu[$$o0, --, B, handle]
    buffer_address(address, handle)
    alu[$$o1, --, B, address]
    immed[$$o2, 0]
    immed[$$o3, 0]
    immed[$$o4, 0]
    immed[$$o5, 0]
    immed[$$o6, 0]
    immed[$$o7, 0]
    alu[--, --, B, handle]
    beq[kept#]
    alu[--, --, B, $$i0]
    beq[kept#]
    buffer_return(handle, queue)
kept#:
.end
#endm

#include "loop.uc"
