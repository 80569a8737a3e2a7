/* An application in C: it builds with any ITRON kernel of generation 3. */
#include "app.h"
#include <t_syslog.h>

#define ROUNDS 10

uint32_t beats;

void begin(EXINF exinf)
{
	(void)exinf;
	syslog(LOG_NOTICE, "the kernel starts");
}

void end(EXINF exinf)
{
	(void)exinf;
	syslog(LOG_NOTICE, "the kernel ends");
}

/* Every two milliseconds. */
void tick(EXINF exinf)
{
	(void)exinf;
	(void)wup_tsk(MAIN_TASK);
}

void main_task(EXINF exinf)
{
	SYSTIM now = 0;
	intptr_t round;
	for (round = 1; round <= ROUNDS; round++) {
		(void)slp_tsk();
		(void)snd_dtq(QUEUE, round * (intptr_t)exinf);
	}
	(void)wai_sem(DONE);
	(void)sta_alm(LATE, 1000);
	(void)wai_sem(DONE);
	(void)get_tim(&now);
	syslog(LOG_NOTICE, "all %d received; %s", ROUNDS, now >= 2000 * (ROUNDS - 1) ? "not too early" : "too early");
	syslog(LOG_NOTICE, "an object that there is not: %d (E_ID is %d)", sig_sem(DONE + 1), E_ID);
	syslog(LOG_NOTICE, "beats: %s", beats > 0 ? "some" : "none");
	(void)ext_ker();
}

void consumer(EXINF exinf)
{
	intptr_t data = 0, sum = 0;
	int_t count;
	for (count = 0; count < ROUNDS; count++) {
		(void)rcv_dtq(QUEUE, &data);
		(void)loc_mtx(LOCK);
		sum += data;
		(void)unl_mtx(LOCK);
	}
	syslog(LOG_NOTICE, "consumer %d: the sum is %ld", (int_t)exinf, (long)sum);
	(void)sig_sem(DONE);
}
