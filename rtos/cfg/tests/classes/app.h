/* Definitions shared by the static configuration and the application. */
#ifndef APP_H
#define APP_H

#include <kernel.h>

#define STACK_SIZE (TARGET_MIN_STKSZ + 8192)

#ifdef __arm__
#if __ARM_ARCH_PROFILE == 'A'
#define LINE 40
#else
#define LINE 20
#endif
#else
#define LINE 9
#endif

extern void begin(EXINF exinf);
extern void begin_each(EXINF exinf);
extern void end_each(EXINF exinf);
extern void end(EXINF exinf);
extern void main_task(EXINF exinf);
extern void sub_task(EXINF exinf);
extern void rover(EXINF exinf);
extern void on_cycle(EXINF exinf);
extern void on_alarm(EXINF exinf);
extern void on_line(EXINF exinf);

#endif
