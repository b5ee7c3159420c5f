; good

; A define that nothing uses may hold any characters, and takes no line after it.
#define OPEN (
immed[a0, 1]
#define CLOSE ]]
#define QUOTE it's
#define NUMBER 3com + `
#define LIST (1, \
    2
immed[a1, 2]
#ifdef OPEN
immed[a2, 3]
#endif
ctx_arb[kill]
