#include "run.h"
static const char *words[] = {"pear", "apple", "fig", "plum", "app", "quince", "figs", "date"};
static int compare(const char *a, const char *b) { while (*a && *a == *b) a++, b++; return (u8)*a - (u8)*b; }
int main(void) {
    for (int i = 1; i < 8; i++)
        for (int j = i; j && compare(words[j - 1], words[j]) > 0; j--) { const char *t = words[j]; words[j] = words[j - 1]; words[j - 1] = t; }
    for (int i = 0; i < 8; i++) { say(words[i]); say("\n"); }
    return 0;
}
