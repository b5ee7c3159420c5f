; A coprocessor beside an SRAM channel has the pools: a request is written into the
; context's mailbox, four longwords (group, X, size, Delta), and the answer is read
; there. The read waits for the write by itself. What arrived is counted by thread.

#ifndef XCP_FEEDBACK_UC
#define XCP_FEEDBACK_UC

#include "sums.uc"

#define XCP_MAILBOX_SHIFT 4
; The context's local memory: address of its mailbox.
#define XCP_MAILBOX 10

.reg write $ask0 $ask1 $ask2 $ask3
.xfer_order $ask0 $ask1 $ask2 $ask3
.reg read $told
.sig asked told

#macro extension_set_up()
.begin
    .reg mailbox thread
    xcp_sums_set_up()
    thread_number(thread)
    load_constant(mailbox, FEEDBACK_MAILBOXES)
    alu_shf[thread, --, B, thread, <<XCP_MAILBOX_SHIFT]
    alu[*l$index1[XCP_MAILBOX], mailbox, +, thread]
.end
#endm

#macro xcp_exchange(buffer, delta, size, port_out, done)
.begin
    .reg mailbox
    alu[mailbox, --, B, *l$index1[XCP_MAILBOX]]
#ifdef XCP_PER_PORT
    alu[$ask0, --, B, port_out]
#else
    immed[$ask0, 0]
#endif
    alu[$ask1, --, B, *l$index1[XCP_X]]
    alu[$ask2, --, B, size]
    alu[$ask3, --, B, delta]
    sram[write, $ask0, mailbox, 0, 4], sig_done[asked]
    sram[read, $told, mailbox, 0, 1], sig_done[told]
    ; Meanwhile.
    xcp_arrive(size, port_out)
    ipv4_rewrite(ttl_step)
    xcp_answer_begin()
    ctx_arb[asked, told, summed]
    xcp_answer_delta($told)
    xcp_answer_write(buffer, done)
.end
#endm

#endif
