/* Services for test programs. See syssvc/test_svc.h. */
#include <sil.h>
#include <t_stdlib.h>
#include <t_syslog.h>
#include <syssvc/test_svc.h>

static uint_t passed[TNUM_PRCID];
static volatile uint_t reached[TNUM_PRCID];

void test_start(const char *progname)
{
	syslog(LOG_NOTICE, "Test program: %s", progname);
	for (int_t i = 0; i < TNUM_PRCID; i++) {
		passed[i] = 0;
		reached[i] = 0;
	}
}

static void finish(void)
{
	(void)syslog_fls_log();
	(void)ext_ker();
}

void check_point_prc(uint_t count, ID prcid)
{
	bool_t wrong = true;
	ID here;
	SIL_PRE_LOC;

	SIL_LOC_INT();
	sil_get_pid(&here);
	if (prcid < 1 || prcid > TNUM_PRCID) {
		wrong = ++passed[0] != count;
		syslog(LOG_NOTICE, wrong ? "## Unexpected check point %d." : "Check point %d passed.", count);
	}
	else if (here != prcid) {
		syslog(LOG_ERROR, "## Unexpected check point %d-%d by processor %d.", prcid, count, here);
	}
	else {
		wrong = ++passed[prcid - 1] != count;
		syslog(LOG_NOTICE, wrong ? "## Unexpected check point %d-%d." : "Check point %d-%d passed.", prcid, count);
	}
	SIL_UNL_INT();
	if (wrong) {
		finish();
	}
}

void check_finish_prc(uint_t count, ID prcid)
{
	if (count > 0) {
		check_point_prc(count, prcid);
		syslog(LOG_NOTICE, "All check points passed.");
	}
	finish();
}

void check_finish(uint_t count)
{
	check_finish_prc(count, 0);
}

void check_assert_error(const char *expr, const char *file, int_t line)
{
	syslog(LOG_ERROR, "## Assertion `%s' failed at %s:%u.", expr, file, line);
	finish();
}

void check_ercd_error(ER ercd, const char *file, int_t line)
{
	syslog(LOG_ERROR, "## Unexpected error %s detected at %s:%u.", itron_strerror(ercd), file, line);
	finish();
}

ER get_interrupt_priority_mask(PRI *p_ipm)
{
	return get_ipm(p_ipm);
}

void test_barrier(uint_t phase)
{
	ID here;
	sil_get_pid(&here);
	for (int_t i = 0; i < TNUM_PRCID; i++) {
		do {
			/* Said anew, since test_start may have come after this. */
			reached[here - 1] = phase;
			sil_dly_nse(1000);
		} while (reached[i] < phase);
	}
}
