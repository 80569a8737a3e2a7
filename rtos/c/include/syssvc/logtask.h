/*
 * The log task. A message is printed at once, so the task has nothing to print: it is there for programs that name it, and
 * sleeps. syssvc/logtask.cfg makes it.
 */
#ifndef KIZAMI_LOGTASK_H
#define KIZAMI_LOGTASK_H

#include <kernel.h>
#include "target_syssvc.h"

#ifndef LOGTASK_PRIORITY
#define LOGTASK_PRIORITY 3
#endif
#ifndef LOGTASK_STACK_SIZE
#define LOGTASK_STACK_SIZE (TARGET_MIN_STKSZ + 256)
#endif
#ifndef LOGTASK_INTERVAL
#define LOGTASK_INTERVAL 10000U
#endif
#ifndef LOGTASK_FLUSH_WAIT
#define LOGTASK_FLUSH_WAIT 1000U
#endif

#ifndef TOPPERS_MACRO_ONLY
extern void logtask_main(EXINF exinf);
/* Waits until no more than so many messages are left: never, since none is. E_CTX where a task may not wait. */
extern ER logtask_flush(uint_t count);
#endif /* TOPPERS_MACRO_ONLY */

#endif
