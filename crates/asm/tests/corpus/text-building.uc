; good

; Lists, numbers and calls built from text by the preprocessor, as libraries of macros do.
#macro join_names(STEM, TAIL, N)
#define_eval ALL ''
#define AT 0
#while (AT < N)
#define_eval ALL 'ALL,STEM/**/AT/**/TAIL'
#define_eval AT (AT + 1)
#endloop
#undef AT
#define_eval ALL strright('ALL', -1)
#define_eval ALL 'ALL'
#endm
#macro count_of(LIST)
#define_eval LEFT LIST
#define_eval LEFT 'LEFT,'
#define_eval COUNT 0
#while (strstr('LEFT', ",") > 0)
#define_eval COMMA strstr('LEFT', ",")
#define_eval ITEM strleft('LEFT', COMMA - 1)
#define_eval LEFT strright('LEFT', -COMMA)
#if (COUNT == 1)
#define_eval SECOND strright(strleft('ITEM', 99), 99)
#define_eval SECOND 'SECOND'
#endif
#define_eval COUNT (COUNT + 1)
#endloop
#endm
#macro hex_of(V)
#define_eval OUT ''
#define NIBBLE 7
#while (NIBBLE >= 0)
#define_eval D ((V >> (NIBBLE * 4)) & 0xf)
#define_eval D strleft(strright("0123456789abcdef", 16 - D), 1)
#define_eval OUT 'OUT/**/D'
#define_eval NIBBLE (NIBBLE - 1)
#endloop
#undef NIBBLE
#define_eval NUMBER '0x/**/OUT'
#endm
#define STEPS_OF_add 1
#macro steps(what, step)
#if (streq('++', 'step'))
#define IDX ++
#elif (streq('--', 'step'))
#define IDX --
#else
#define_eval IDX (step + 1)
#endif
#if (strstr('|++|--|', '|IDX|'))
    alu[v, --, B, what/**/IDX]
#else
    alu[v, --, B, what[(IDX - 1)]]
#endif
#undef IDX
#endm
#macro steps(what)
    steps(what, 0)
#endm
#macro add(x)
    alu[v, v, +, x]
#endm
#macro times(op, n)
#define_eval I 0
#if (op/**/_STEPS >= 1 && !defined(NOPE) && (defined(NOPE) + defined(NADA)) == 0)
#while (I < n)
    op(I)
#define_eval I (I + 1)
#endloop
#endif
#endm
#define add_STEPS STEPS_OF_add
.reg v w[4]
    .set w[0] w[1] w[2] w[3] v
    join_names(stop, #, 3)
    jump[v, stop0#], targets[ALL]
stop0#: nop
stop1#: nop
stop2#: nop
    count_of('a0,b1,$c')
#if (COUNT != 3 || !streq('SECOND', 'b1'))
#error "count" COUNT SECOND
#endif
    hex_of(48879)
    immed[v, NUMBER]
#if (NUMBER != 0xbeef)
#error "hex" NUMBER
#endif
    local_csr_wr[ACTIVE_LM_ADDR_0, 0]
    nop
    nop
    nop
    steps(*l$index0, ++)
    steps(w, 2)
    steps(w)
    times(add, 3)
#define_eval PTR '*l$index/**/1'
    alu[v, --, B, PTR++]
#if is_ct_const(v)
#error "v"
#endif
h#: br[h#]
