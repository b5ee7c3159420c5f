/* A shell on the UART: shows what the core knows, and changes routes. */
#ifndef SHELL_H
#define SHELL_H

void shell_start(void);
/* Reads what has come, and does what whole lines say. */
void shell_read(void);

#endif
