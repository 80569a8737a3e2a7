/* What the static configuration and the application agree on. */
#include <kernel.h>
#include "kernel_cfg.h"

#define STACK_SIZE (TARGET_MIN_STKSZ + 4096)

extern void main_task(EXINF exinf);
extern void other_task(EXINF exinf);
extern void on_overrun(ID tskid, EXINF exinf);
