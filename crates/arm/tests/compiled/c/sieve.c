#include "run.h"
static u8 composite[5000];
int main(void) {
    u32 count = 0;
    for (u32 i = 2; i < 5000; i++) {
        if (composite[i]) continue;
        count++;
        for (u32 j = i * i; j < 5000; j += i) composite[j] = 1;
    }
    hex(count);
    return count & 127;
}
