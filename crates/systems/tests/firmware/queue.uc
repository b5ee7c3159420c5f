; queue.uc: every context takes a buffer off the free queue, marks its descriptor
; as its own, holds it for a while, and gives it back. A mark that should not be
; there is a violation. With TWICE 1 context 0 gives each buffer back two times.

#include "constant.uc"
#include "buffer.uc"
#include "context_number.uc"

#define ROUNDS 64
#define MARK   8        ; the byte of a descriptor where its holder's mark stands

.num_contexts 8

.reg $mark
.reg read $link $pause
.sig both done
.reg number cells queue handle descriptor round

    context_number(number)
    alu[number, number, +, 1]                   ; 0 is no mark
    load_constant(queue, FREE_BUFFERS)
    immed[cells, 0]
    immed[round, ROUNDS]

again#:
    buffer_take(handle, queue, $link, done)
    alu[--, --, B, handle]
    bne[taken#]
    scratch[incr, --, cells, EMPTY]
    br[again#]

taken#:
    alu_shf[descriptor, --, B, handle, <<2]
    alu[$mark, --, B, number]
    sram[swap, $mark, descriptor, MARK], ctx_swap[both]
    alu[--, --, B, $mark]
    beq[alone#]
    scratch[incr, --, cells, VIOLATIONS]
alone#:
    sram[read, $pause, descriptor, 0, 1], ctx_swap[done]
    immed[$mark, 0]
    sram[swap, $mark, descriptor, MARK], ctx_swap[both]
    alu[--, number, -, $mark]
    beq[undisturbed#]
    scratch[incr, --, cells, VIOLATIONS]
undisturbed#:
    buffer_return(handle, queue)
#if (TWICE)
    br!=ctx[0, once#]
    buffer_return(handle, queue)
once#:
#endif
    alu[round, round, -, 1]
    bne[again#]
    ctx_arb[kill]
