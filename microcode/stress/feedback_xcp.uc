; Saturates the coprocessor's XCP module: every context writes a request to its
; mailbox and reads the answer; the read is held until the request is answered.

#include "constant.uc"
#include "spread.uc"

.num_contexts 8
.reg write $request[4]
.xfer_order $request
.reg read $delta
.reg mailbox number
.sig asked answered

    context_number(number)
    load_constant(mailbox, FEEDBACK_MAILBOXES)
    alu_shf[number, --, B, number, <<4]
    alu[mailbox, mailbox, +, number]
    immed[number, (ME_INDEX << 7)]
    alu[mailbox, mailbox, +, number]
    ; Group 0, an inter-packet time of a millisecond, 1000 bytes, no change.
    immed[$request[0], 0]
    immed[$request[1], 0x1000]
    immed[$request[2], 1000]
    immed[$request[3], 0]
next#:
    sram[write, $request[0], mailbox, 0, 4], sig_done[asked]
    sram[read, $delta, mailbox, 0, 1], sig_done[answered]
    ctx_arb[asked, answered]
    br[next#]
