/* Definitions shared by the static configuration and the application. */
#include <kernel.h>
#include "kernel_cfg.h"

#define STACK_SIZE (TARGET_MIN_STKSZ + 2048)

/* The exception that __builtin_trap() makes, and a line that software can raise. */
#if defined(__ARM_ARCH_6M__)
#define FAULT EXCNO_HARD
#define LINE 25
#elif defined(EXCNO_USAGE)
#define FAULT EXCNO_USAGE
#define LINE 20
#elif defined(EXCNO_UNDEF)
#define FAULT EXCNO_UNDEF
#define LINE 60
#else
#define FAULT EXCNO_SIGILL
#define LINE 20
#endif

extern void main_task(EXINF exinf);
extern void faulty(EXINF exinf);
extern void mender(EXINF exinf);
extern void greedy(EXINF exinf);
extern void on_line(void);
extern void on_exception(void *p_excinf);
extern void on_overrun(ID tskid, EXINF exinf);
