; Takes mpackets out of RBUF as fast as the receive bus delivers them, and frees
; their elements at once. One microengine is enough.

#include "rbuf.uc"

.num_contexts 8
.reg read $status $checksum
.xfer_order $status $checksum
.reg ticket element
.sig volatile arrived

    receive_ticket(ticket, arrived, $status)
next#:
    receive_request(ticket, arrived)
    ctx_arb[arrived]
    .set $status $checksum
    alu_shf[element, 0x7f, AND, $status, >>24]
    receive_free(element)
    br[next#]
