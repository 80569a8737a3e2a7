/*
 * The system interface layer: functions for drivers, which may be called in any context, also before the kernel runs
 * and with the processor locked.
 */
#ifndef KIZAMI_SIL_H
#define KIZAMI_SIL_H

#include <kernel.h>

/* The byte order of all targets. */
#define SIL_ENDIAN_LITTLE

/* What sil_dly_nse may take longer than it is asked for, and in which steps: a microsecond, in nanoseconds. */
#define SIL_DLY_TIM1 1000U
#define SIL_DLY_TIM2 1000U

#ifndef TOPPERS_MACRO_ONLY

/* Locks the processor as loc_cpu does, unless it is, and unlocks it if it was not. Sections may stand in each other. */
#define SIL_PRE_LOC bool_t sil_was_locked
#define SIL_LOC_INT() ((void)((sil_was_locked = sns_loc()) ? E_OK : loc_cpu()))
#define SIL_UNL_INT() ((void)(sil_was_locked ? E_OK : unl_cpu()))

/* The number of this processor, from 1. */
extern void sil_get_pid(ID *p_prcid);

/* Lets at least that many nanoseconds pass; the clock has microseconds. */
Inline void sil_dly_nse(ulong_t dlytim)
{
	HRTCNT begin = fch_hrt();
	while (fch_hrt() - begin <= (HRTCNT)((dlytim + 999U) / 1000U)) {
	}
}

/* Registers of devices; sil_sw… goes on when what was written is there. */
#define KIZAMI_SIL_ACCESS(letter, type)                                              \
	Inline type sil_re##letter##_mem(const type *mem)                                \
	{                                                                                \
		return *(const volatile type *)mem;                                          \
	}                                                                                \
	Inline void sil_wr##letter##_mem(type *mem, type data)                           \
	{                                                                                \
		*(volatile type *)mem = data;                                                \
	}                                                                                \
	Inline void sil_swr##letter##_mem(type *mem, type data)                          \
	{                                                                                \
		*(volatile type *)mem = data;                                                \
		__sync_synchronize();                                                        \
	}
KIZAMI_SIL_ACCESS(b, uint8_t)
KIZAMI_SIL_ACCESS(h, uint16_t)
KIZAMI_SIL_ACCESS(w, uint32_t)
#undef KIZAMI_SIL_ACCESS

/* The same in a given byte order: that of the target, which is little, or the other one. */
#define KIZAMI_SIL_ORDER(letter, type, swap)                                         \
	Inline type sil_re##letter##_lem(const type *mem)                                \
	{                                                                                \
		return sil_re##letter##_mem(mem);                                            \
	}                                                                                \
	Inline void sil_wr##letter##_lem(type *mem, type data)                           \
	{                                                                                \
		sil_wr##letter##_mem(mem, data);                                             \
	}                                                                                \
	Inline void sil_swr##letter##_lem(type *mem, type data)                          \
	{                                                                                \
		sil_swr##letter##_mem(mem, data);                                            \
	}                                                                                \
	Inline type sil_re##letter##_bem(const type *mem)                                \
	{                                                                                \
		return swap(sil_re##letter##_mem(mem));                                      \
	}                                                                                \
	Inline void sil_wr##letter##_bem(type *mem, type data)                           \
	{                                                                                \
		sil_wr##letter##_mem(mem, swap(data));                                       \
	}                                                                                \
	Inline void sil_swr##letter##_bem(type *mem, type data)                          \
	{                                                                                \
		sil_swr##letter##_mem(mem, swap(data));                                      \
	}
KIZAMI_SIL_ORDER(h, uint16_t, __builtin_bswap16)
KIZAMI_SIL_ORDER(w, uint32_t, __builtin_bswap32)
#undef KIZAMI_SIL_ORDER

#endif /* TOPPERS_MACRO_ONLY */

#endif
