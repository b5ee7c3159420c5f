; Saturates the command buses: fast writes carry their data in the command, so
; nothing else limits their rate.

.num_contexts 8
.reg data

    immed[data, HWM_CONTROL]
next#:
#define_eval N 0
#while (N < 16)
    msf[fast_wr, --, data, 0]
#define_eval N (N + 1)
#endloop
    br[next#]
