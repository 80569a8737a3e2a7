/* Definitions shared by the static configuration and the application. */
#include <kernel.h>
#include "kernel_cfg.h"

#define STACK_SIZE (TARGET_MIN_STKSZ + 2048)

extern void main_task(EXINF exinf);
extern void rover(EXINF exinf);
