; Constraints on the microengines and contexts of a stage. The includer defines
; STAGE_FIRST, STAGE_COUNT and CONTEXTS.

#ifndef ORDERING_ARRANGEMENT_UC
#define ORDERING_ARRANGEMENT_UC

#if (ME_INDEX >= STAGE_FIRST + STAGE_COUNT)
#error "the microengines of this stage must follow one another"
#endif
#if (CONTEXTS < 1 || CONTEXTS > 8)
#error "CONTEXTS is a number from 1 to 8"
#endif

#endif
