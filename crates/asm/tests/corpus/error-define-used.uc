; error unclosed-bracket 3

#define OPEN (1 + 2
immed[a0, OPEN]
there#: immed[a1, OPEN]
.areg x OPEN
#if OPEN > 2
immed[a2, 1]
#endif
#macro m(v)
immed[a3, v]
#endm
m(OPEN)
#define_eval NEXT (OPEN + 1)
#define TWICE (OPEN * 2)
#while TWICE
#endloop
br[there#]
