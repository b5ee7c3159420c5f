; Pseudo-random numbers.

#ifndef RANDOM_UC
#define RANDOM_UC

; random_word(word)
;   word <- the microengine's next pseudo-random number. RANDOM_WORD, where it is
;   defined, takes its place: then answers can be foretold.
#macro random_word(word)
#ifdef RANDOM_WORD
    load_constant(word, RANDOM_WORD)
#else
    local_csr_rd[PSEUDO_RANDOM_NUMBER]
    immed[word, 0]
#endif
#endm

#endif
