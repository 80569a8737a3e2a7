/* Definitions shared by the static configuration and the application: as programs of some age have them. */
#include <kernel.h>
#include "kernel_cfg.h"
#include "target_test.h"

extern MPF_T pool_area[2 * COUNT_MPF_T(20)];
extern MB_T pool_mb[TCNT_MPFMB(2)];
extern MB_T queue_mb[TCNT_DTQMB(2)];
extern MB_T priority_mb[TCNT_PDQMB(2)];
extern MB_T buffer_mb[TCNT_MBFMB(2, 8)];

extern void main_task(EXINF exinf);
extern void restricted_task(EXINF exinf);
extern void phase_task(EXINF exinf);
