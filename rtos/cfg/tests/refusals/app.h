/* Definitions shared by the static configuration and the application. */
#include <kernel.h>
#include "kernel_cfg.h"
#include "target_test.h"

extern void main_task(EXINF exinf);
extern void other_task(EXINF exinf);
extern void on_overrun(ID tskid, EXINF exinf);
extern void on_line(void);
