/* Handlers: each says what it was given; the main task waits for each in turn. */
#include "app.h"
#include <t_syslog.h>
#include <stdlib.h>
#include <string.h>

static ID culprit;
static volatile ID overran;
static volatile EXINF overran_exinf;

void on_exception(void *p_excinf)
{
	syslog(LOG_NOTICE, "an exception: sns_ctx %d, xsns_dpn %d", sns_ctx(), xsns_dpn(p_excinf));
	(void)get_tid(&culprit);
	(void)act_tsk(MENDER);
}

void faulty(EXINF exinf)
{
	(void)exinf;
	__builtin_trap();
}

void mender(EXINF exinf)
{
	STAT state = 0;
	(void)exinf;
	(void)ras_ter(culprit);
	(void)get_tst(FAULTY, &state);
	syslog(LOG_NOTICE, "the task at fault is dormant: %d", culprit == FAULTY && state == TTS_DMT);
	(void)sig_sem(DONE);
}

void on_overrun(ID tskid, EXINF exinf)
{
	overran = tskid;
	overran_exinf = exinf;
}

void greedy(EXINF exinf)
{
	T_ROVR told;
	(void)exinf;
	/* So long that it is not over before it is looked at, also where an emulator stands still for a while. */
	(void)sta_ovr(TSK_SELF, TMAX_OVRTIM);
	(void)ref_ovr(TSK_SELF, &told);
	(void)sta_ovr(TSK_SELF, 2000);
	while (overran == 0) {
	}
	syslog(LOG_NOTICE, "overrun: state %d, itself %d, exinf %d", told.ovrstat, overran == GREEDY, (int_t)overran_exinf);
	(void)sig_sem(DONE);
}

void on_line(void)
{
	(void)sig_sem(DONE);
}

static int descending(const void *left, const void *right)
{
	return *(const int *)right - *(const int *)left;
}

/* The C library's, the compiler's own for a board. */
static void use_library(void)
{
	char text[] = "seven 7";
	char *number = strchr(text, ' ');
	int values[] = { 3, (int)strtol(number, NULL, 10), 5 };

	qsort(values, 3, sizeof(values[0]), descending);
	syslog(LOG_NOTICE, "sorted: %d %d %d", values[0], values[1], values[2]);
}

void main_task(EXINF exinf)
{
	(void)exinf;
	use_library();
	(void)act_tsk(FAULTY);
	(void)wai_sem(DONE);
	(void)act_tsk(GREEDY);
	(void)wai_sem(DONE);
	(void)ras_int(LINE);
	(void)wai_sem(DONE);
	syslog(LOG_NOTICE, "sta_ovr of a dormant task: %d (E_OK is %d)", sta_ovr(GREEDY, 1), E_OK);
	(void)ext_ker();
}
