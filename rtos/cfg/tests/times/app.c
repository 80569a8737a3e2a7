/* When a task is woken, how long it computes, and a long wait: by a clock that goes on by instructions, always at the same microseconds. */
#include "app.h"
#include <t_syslog.h>
#include "kernel_cfg.h"

void main_task(EXINF exinf)
{
	volatile uint32_t sum = 0;
	HRTCNT begin;
	(void)exinf;
	for (uint32_t round = 1; round <= 20; round++) {
		HRTCNT woken;
		(void)slp_tsk();
		woken = fch_hrt();
		for (uint32_t i = 0; i < round * 1000; i++) {
			sum += i;
		}
		syslog(LOG_NOTICE, "woken at %u, computed until %u", woken, fch_hrt());
	}
	(void)stp_cyc(TICK);
	begin = fch_hrt();
	(void)dly_tsk(100 * 1000 * 1000);
	syslog(LOG_NOTICE, "waited for %u", fch_hrt() - begin);
	(void)ext_ker();
}
