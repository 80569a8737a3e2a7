/* What the system services of a target are made of. */
#ifndef KIZAMI_TARGET_SYSSVC_H
#define KIZAMI_TARGET_SYSSVC_H

#include <kernel.h>

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A'
#define TARGET_NAME "Cortex-A9"
#elif defined(__ARM_ARCH_6M__)
#define TARGET_NAME "RP2040"
#elif defined(__arm__)
#define TARGET_NAME "Cortex-M33"
#else
#define TARGET_NAME "Linux"
#endif

/* The serial port, which the log task would use. */
#define TNUM_PORT 1
#define SIO_PORTID 1
#define LOGTASK_PORTID SIO_PORTID

#endif
