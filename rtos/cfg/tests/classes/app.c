/* Classes: an object is where its class says, and goes nowhere else. */
#include "app.h"
#include <sil.h>
#include <t_syslog.h>
#include "kernel_cfg.h"

static volatile int cycles[3], wrong;
static volatile ID alarm_place, line_place, rover_place[2];

static ID place(void)
{
	ID prcid = 0;
	return get_pid(&prcid) == E_OK ? prcid : -1;
}

static ID begun, begun_on[3], ended_on[3];

static ID place_outside(void)
{
	ID prcid = 0;
	sil_get_pid(&prcid);
	return sns_ker() ? prcid : -1;
}

void begin(EXINF exinf)
{
	begun = place_outside() == PRC1 ? (ID)exinf : -1;
}

void begin_each(EXINF exinf)
{
	begun_on[exinf] = begun == 5 ? place_outside() : -1;
}

void end_each(EXINF exinf)
{
	ended_on[exinf] = place_outside();
}

void end(EXINF exinf)
{
	syslog(LOG_NOTICE, "ended: %d %d, then %d", ended_on[1], ended_on[2], (int)exinf);
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
	syslog(LOG_NOTICE, "begun: %d, then %d %d", begun, begun_on[1], begun_on[2]);
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
