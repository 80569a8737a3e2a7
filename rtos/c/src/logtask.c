/* The log task and the banner, of which neither has much to do. See syssvc/logtask.h and syssvc/banner.h. */
#include <t_syslog.h>
#include <syssvc/banner.h>
#include <syssvc/logtask.h>

void logtask_main(EXINF exinf)
{
	(void)exinf;
	for (;;) {
		(void)slp_tsk();
	}
}

ER logtask_flush(uint_t count)
{
	(void)count;
	return sns_dpn() ? E_CTX : syslog_fls_log();
}

void print_banner(EXINF exinf)
{
	(void)exinf;
	syslog(LOG_NOTICE, "Kizami RTOS for %s, processors: %d", TARGET_NAME, TNUM_PRCID);
}
