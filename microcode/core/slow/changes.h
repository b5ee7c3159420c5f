/* A list of route changes that the project has in DRAM. */
#ifndef CHANGES_H
#define CHANGES_H

#include <stdint.h>

/* Makes the changes that are due; gives when the next one is, 0 if none is left. */
uint64_t changes_due(void);
/* Changes made, and changes that could not be made. */
extern uint32_t changes_made, changes_refused;

#endif
