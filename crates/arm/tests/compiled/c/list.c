#include "run.h"
struct node { struct node *next; u32 value; };
static struct node nodes[100];
int main(void) {
    struct node *head = 0;
    for (int i = 0; i < 100; i++) {
        struct node **at = &head;
        nodes[i].value = next() & 0xffff;
        while (*at && (*at)->value < nodes[i].value) at = &(*at)->next;
        nodes[i].next = *at; *at = &nodes[i];
    }
    u32 n = 0;
    for (struct node *p = head; p; p = p->next) if (n++ % 9 == 0) hex(p->value);
    return n;
}
