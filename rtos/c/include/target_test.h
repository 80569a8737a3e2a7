/*
 * Definitions of a target for the sample and test programs of TOPPERS: interrupt lines that only software raises, a CPU
 * exception after which a program can go on, and a stack size.
 */
#ifndef KIZAMI_TARGET_TEST_H
#define KIZAMI_TARGET_TEST_H

#include <kernel.h>

#ifndef STACK_SIZE
#define STACK_SIZE (TARGET_MIN_STKSZ + 4096)
#endif

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A'
#define INTNO1 60
#define INTNO2 61
#define KIZAMI_EXCNO EXCNO_UNDEF
#define RAISE_CPU_EXCEPTION __asm__ volatile("udf #0")
#elif defined(__ARM_ARCH_6M__)
#define INTNO1 25
#define INTNO2 24
#define KIZAMI_EXCNO EXCNO_HARD
#define RAISE_CPU_EXCEPTION __asm__ volatile("udf #0")
#elif defined(__arm__)
#define INTNO1 60
#define INTNO2 61
#define KIZAMI_EXCNO EXCNO_USAGE
#define RAISE_CPU_EXCEPTION __asm__ volatile("udf #0")
#else
#define INTNO1 20
#define INTNO2 21
#define KIZAMI_EXCNO EXCNO_SIGILL
#define RAISE_CPU_EXCEPTION __asm__ volatile("ud2")
#endif

/* In the handler of that exception, whose argument is p_excinf: goes on behind the instruction. */
#if defined(__arm__) && !defined(__thumb__)
#define KIZAMI_EXC_SIZE 4
#else
#define KIZAMI_EXC_SIZE 2
#endif
#define PREPARE_RETURN_CPUEXC xset_pc(p_excinf, xget_pc(p_excinf) + KIZAMI_EXC_SIZE)

#define INTNO1_INTATR TA_ENAINT
#define INTNO1_INTPRI (-2)
#define intno1_clear() ((void)0)
#define INTNO2_INTATR TA_ENAINT
#define INTNO2_INTPRI (-2)
#define intno2_clear() ((void)0)

/* For one processor, and for each of two. */
#define CPUEXC1 KIZAMI_EXCNO
#define CPUEXC1_PRC1 (0x10000 | KIZAMI_EXCNO)
#if TNUM_PRCID >= 2
#define CPUEXC1_PRC2 (0x20000 | KIZAMI_EXCNO)
#endif

#endif
