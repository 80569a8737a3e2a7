/* What the configuration says is what the kernel has. */
#include "app.h"
#include <t_syslog.h>
#include "kernel_cfg.h"

static bool_t before;
static int order;
intptr_t failure;

void initialise(EXINF exinf)
{
	before = sns_ker() && exinf == 7;
}

void idle_task(EXINF exinf)
{
	(void)exinf;
}

void first_isr(EXINF exinf)
{
	order = order * 10 + (int)exinf;
}

void second_isr(EXINF exinf)
{
	order = order * 10 + (int)exinf;
	(void)sig_sem(fn);
}

void main_task(EXINF exinf)
{
	T_RFLG flag = { 0, 0 };
	T_RTSK task;
	PRI priority = 0;
	ER taken;
	T_RSPN spin;
	intptr_t word = 0, next = 0;
	(void)exinf;
	(void)ref_flg(Some, &flag);
	(void)ref_tsk(TSK_SELF, &task);
	(void)get_pri(TSK_SELF, &priority);
	syslog(LOG_NOTICE, "before the kernel runs: %d, then %d", before, sns_ker());
	syslog(LOG_NOTICE, "flag 0x%08lX, priority %d, next processor %d", (unsigned long)flag.flgptn, priority, task.actprc);
	(void)ras_int(LINE);
	(void)wai_sem(fn);
	syslog(LOG_NOTICE, "services of the line: %d", order);
	taken = pol_sem(Port);
	syslog(LOG_NOTICE, "a semaphore from the start: %d, %d", taken, pol_sem(Port));
	syslog(LOG_NOTICE, "itself: %d %d %d %d", ter_tsk(TSK_SELF), ras_ter(TSK_SELF), rel_wai(TSK_SELF), rsm_tsk(TSK_SELF));
	(void)ista_alm(FAILS, 0);
	(void)rcv_dtq(QUEUE, &word);
	(void)sta_alm(FAILS_TOO, 0);
	(void)dly_tsk(1000);
	(void)sta_alm(FITS, 1000);
	(void)rcv_dtq(QUEUE, &next);
	syslog(LOG_NOTICE, "notifications: %d, %d, then %d", (int)word, (int)failure, (int)next);
	(void)ref_spn(SPIN, &spin);
	syslog(LOG_NOTICE, "a spin lock: %d", (int)(spin.spnstat == TSPN_UNL));
	syslog(LOG_NOTICE, "flags: %d, %d", wai_flg(Some, 3, TWF_ORW, &flag.flgptn), pol_flg(Some, 3, TWF_ANDW, &flag.flgptn));
	syslog(LOG_NOTICE, "|%-5d|%5s|%05d|%x|%q|%c%%|", 42, "ab", -42, 0xbeefU, '!');
	syslog(LOG_DEBUG, "not printed");
	(void)syslog_msk_log(LOG_UPTO(LOG_DEBUG), LOG_UPTO(LOG_EMERG));
	syslog(LOG_DEBUG, "printed");
	t_perror(LOG_ERROR, "a.c", UINT_C(7), "sig_sem(0)", sig_sem(0));
	assert(taken == E_OK);
	(void)ext_ker();
}
