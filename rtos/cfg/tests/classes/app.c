/* Whatever belongs to a class is where the class says, and goes nowhere else. */
#include "app.h"
#include <t_syslog.h>
#include "kernel_cfg.h"

static volatile int cycles[3], wrong;
static volatile ID alarm_place, line_place, rover_place[2];

static ID place(void)
{
	ID prcid = 0;
	return get_pid(&prcid) == E_OK ? prcid : -1;
}

void on_cycle(EXINF exinf)
{
	cycles[exinf]++;
	wrong += place() != (ID)exinf;
}

void on_alarm(EXINF exinf)
{
	(void)exinf;
	alarm_place = place();
	(void)sig_sem(DONE);
}

void on_line(EXINF exinf)
{
	(void)exinf;
	line_place = place();
	(void)sig_sem(DONE);
}

void sub_task(EXINF exinf)
{
	(void)exinf;
	(void)loc_spn(SPIN);
	(void)unl_spn(SPIN);
	(void)ras_int(LINE);
}

void rover(EXINF exinf)
{
	(void)exinf;
	rover_place[0] = place();
	(void)mig_tsk(TSK_SELF, 1);
	rover_place[1] = place();
	(void)sig_sem(DONE);
}

/* Where the alarm came that was started, or why it was not; on the other processor it may come before this is called. */
static ID alarm_on(ER started)
{
	return started == E_OK && wai_sem(DONE) == E_OK ? alarm_place : started;
}

void main_task(EXINF exinf)
{
	(void)exinf;
	(void)dly_tsk(20000);
	syslog(LOG_NOTICE, "cycles: %d %d, of them elsewhere: %d", cycles[1] > 2, cycles[2] > 2, wrong);
	(void)act_tsk(SUB_TASK);
	(void)wai_sem(DONE);
	syslog(LOG_NOTICE, "the interrupt: %d", line_place);
	(void)act_tsk(ROVER);
	(void)wai_sem(DONE);
	syslog(LOG_NOTICE, "the rover: %d %d", rover_place[0], rover_place[1]);
	syslog(LOG_NOTICE, "alarms: %d", alarm_on(sta_alm(ALARM1, 100)));
	syslog(LOG_NOTICE, "alarms: %d", alarm_on(sta_alm(ALARM2, 100)));
	syslog(LOG_NOTICE, "alarms: %d", alarm_on(msta_alm(ROVING, 100, 1)));
	syslog(LOG_NOTICE, "alarms: %d", alarm_on(msta_alm(ROVING, 100, 2)));
	syslog(LOG_NOTICE, "not allowed: %d", alarm_on(msta_alm(ALARM2, 100, 1)));
	syslog(LOG_NOTICE, "not allowed: %d %d", mact_tsk(SUB_TASK, 1), mig_tsk(MAIN_TASK, 2));
	syslog(LOG_NOTICE, "not allowed: %d %d", msta_cyc(CYCLE1, 2), mact_tsk(ROVER, 3));
	(void)ext_ker();
}
