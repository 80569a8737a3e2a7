/* Definitions shared by the static configuration and the application. */
#include <kernel.h>
#include "kernel_cfg.h"

#define MAIN_PRIORITY 10
#define HIGH_PRIORITY 5
#define STACK_SIZE (TARGET_MIN_STKSZ + 2048)

extern void main_task(EXINF exinf);
extern void consumer(EXINF exinf);
extern void tick(EXINF exinf);
extern void begin(EXINF exinf);
extern void end(EXINF exinf);
extern uint32_t beats;
