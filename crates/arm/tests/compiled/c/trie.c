#include "run.h"
struct node { s16 child[2], hop; };
static struct node nodes[600];
static s16 used = 1;
int main(void) {
    for (int i = 0; i < 40; i++) {
        u32 prefix = next() & 0x0fffffff, bits = 4 + next() % 11; s16 at = 0;
        for (u32 b = 0; b < bits; b++) { u32 s = prefix >> (31 - b) & 1; if (!nodes[at].child[s]) nodes[at].child[s] = used++; at = nodes[at].child[s]; }
        nodes[at].hop = i + 1;
    }
    for (int i = 0; i < 60; i++) {
        u32 address = next() & 0x0fffffff; s16 at = 0, hop = 0;
        for (u32 b = 0; b < 32; b++) { if (nodes[at].hop) hop = nodes[at].hop; at = nodes[at].child[address >> (31 - b) & 1]; if (!at) break; }
        hex((u16)hop);
    }
    return 0;
}
