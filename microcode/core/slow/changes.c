#include "changes.h"

#include "fib.h"
#include "packets.h"

/* Memory with the number of changes, then eight longwords for each change, in order of time: nanoseconds since
 * the start, operation (0 adds, 1 redirects, 2 removes), prefix, length, and the next hop in the format of the
 * table. */
IMPORT_OR(ROUTE_CHANGES, 0xffffffff);

uint32_t changes_made, changes_refused;

uint64_t changes_due(void)
{
    uint32_t list = VALUE_OR(ROUTE_CHANGES);
    if (list == 0xffffffff)
        return 0;
    uint32_t count = dram_read(list), hop[4];
    while (changes_made + changes_refused < count) {
        uint32_t at = list + 4 + 32 * (changes_made + changes_refused);
        uint64_t due = (uint64_t)dram_read(at) * (time_second() / 1000000) / 1000;
        if (due > time_now())
            return due;
        for (uint32_t word = 0; word < 4; word++)
            hop[word] = dram_read(at + 16 + 4 * word);
        enum changed how = fib_change(dram_read(at + 4), dram_read(at + 8), dram_read(at + 12), hop);
        if (how == CHANGE_HAS_TO_WAIT)
            return fib_ready();
        if (how == CHANGED)
            changes_made++;
        else
            changes_refused++;
    }
    return 0;
}
