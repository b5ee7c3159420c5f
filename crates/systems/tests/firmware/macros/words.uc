; ticks -> random words before and after, ticks that timer_wait(...) took; what
; receive_ticket and receive_port make of a status word.

#include "constant.uc"
#include "random.uc"
#include "timer.uc"
#include "rbuf.uc"

.reg read $status
.sig volatile arrived
.sig rung

#macro test_case()
.begin
    .reg word before
    random_word(word)
    alu[$$o0, --, B, word]
    alu[word, --, B, $$i0]
    local_csr_rd[TIMESTAMP_LOW]
    immed[before, 0]
    timer_wait(word, rung)
    local_csr_rd[TIMESTAMP_LOW]
    immed[word, 0]
    alu[$$o1, word, -, before]
    random_word(word)
    alu[$$o2, --, B, word]
    receive_port(word, $$i1)
    alu[$$o3, --, B, word]
    receive_ticket(word, arrived, $status)
    alu[$$o4, --, B, word]
    immed[word, ((&arrived << 12) | &$status)]
    alu[$$o5, --, B, word]
    immed[word, RX_THREAD_FREELIST_0]
    alu[$$o6, --, B, word]
    immed[$$o7, 0]
.end
#endm

#include "loop.uc"
