/* Definitions shared by the static configuration and the application. */
#ifndef APP_H
#define APP_H

#include <kernel.h>

#define STACK_SIZE (TARGET_MIN_STKSZ + 1024)

extern void main_task(EXINF exinf);

#endif
