/*
 * Services for test programs: points that must be passed in their order, and conditions that must hold. A program in which
 * something else happens says so and ends.
 */
#ifndef KIZAMI_TEST_SVC_H
#define KIZAMI_TEST_SVC_H

#include <kernel.h>
#include "target_test.h"

#ifndef TOPPERS_MACRO_ONLY

extern void test_start(const char *progname);
/* The count-th point: of that processor, or of the whole program if the processor is 0. */
extern void check_point_prc(uint_t count, ID prcid);
/* The last point; the program ends. */
extern void check_finish(uint_t count);
extern void check_finish_prc(uint_t count, ID prcid);
extern void check_assert_error(const char *expr, const char *file, int_t line);
extern void check_ercd_error(ER ercd, const char *file, int_t line);
extern ER get_interrupt_priority_mask(PRI *p_ipm);
/* Waits until all processors have come to that phase, from 1 in steps of one. */
extern void test_barrier(uint_t phase);

#define check_point(count) check_point_prc(count, 0)
#define check_assert(exp) ((void)((exp) ? 0 : (check_assert_error(#exp, __FILE__, __LINE__), 0)))
#define check_ercd(ercd, expected) ((void)((ercd) == (expected) ? 0 : (check_ercd_error(ercd, __FILE__, __LINE__), 0)))

/* sns_ctx, sns_loc, sns_dsp, sns_dpn and sns_ter. */
#define check_state(ctx, loc, dsp, dpn, ter)    \
	do {                                    \
		check_assert(sns_ctx() == ctx); \
		check_assert(sns_loc() == loc); \
		check_assert(sns_dsp() == dsp); \
		check_assert(sns_dpn() == dpn); \
		check_assert(sns_ter() == ter); \
	} while (false)

#define check_ipm(ipm)                                               \
	do {                                                         \
		PRI intpri;                                          \
		check_ercd(get_interrupt_priority_mask(&intpri), E_OK); \
		check_assert(intpri == ipm);                         \
	} while (false)

#endif /* TOPPERS_MACRO_ONLY */

#endif
