/* A list of route changes that the project places in DRAM. */
#ifndef CHANGES_H
#define CHANGES_H

#include <stdint.h>

/* Makes the changes that are due; returns when the next one is due, 0 if no more follow. */
uint64_t changes_due(void);
/* Changes made, and changes that could not be made. */
extern uint32_t changes_made, changes_refused;

#endif
