; Elements of TBUF claimed in order ahead of the transmitter.

#ifndef ORDERING_CLAIMS_UC
#define ORDERING_CLAIMS_UC

#include "transmit.uc"

; Elements that have left TBUF, as far as a context of this microengine has seen. To
; be set to 0 by one context at the beginning.
.reg @left

; Elements that may be claimed and have not left: so few that the transmitter's count
; of eight bits is unequivocal. Contexts with a claim wait for room on their own.
#define CLAIMED_LIMIT 192

; claim_bound(end)
;   Waits as long as the claims before `end` are too many. No other context may claim
;   meanwhile.
#macro claim_bound(end)
.begin
    .reg ahead
    alu[ahead, end, -, @left]
    alu[--, ahead, -, CLAIMED_LIMIT]
    ble[few#]
    transmit_room(ahead, end, CLAIMED_LIMIT)
    alu[@left, end, -, ahead]
few#:
.end
#endm

; claim_wait(end)
;   Waits until all elements before `end` may be filled.
#macro claim_wait(end)
.begin
    .reg ahead
    transmit_room(ahead, end, TBUF_ELEMENTS)
    alu[@left, end, -, ahead]
.end
#endm

#endif
