/* Definitions shared by the static configuration and the application. */
#ifndef APP_H
#define APP_H

#include <kernel.h>

#define STACK_SIZE (TARGET_MIN_STKSZ + 8192)
#define MAIN_PRIORITY /* the
   only one */ 10

#ifdef __arm__
#define LINE 20
#else
#define LINE 9
#endif

extern intptr_t failure;

extern void initialise(EXINF exinf);
extern void main_task(EXINF exinf);
extern void idle_task(EXINF exinf);
extern void first_isr(EXINF exinf);
extern void second_isr(EXINF exinf);

#endif
