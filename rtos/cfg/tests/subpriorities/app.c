/*
 * Sub-priorities: each worker writes its letter when it runs, and does what its role says. The main task, which is above
 * them, sleeps to let them run, and prints what they wrote.
 */
#include "app.h"
#include <t_syslog.h>

static char order[16];
static volatile uint_t length;
static void (*volatile role)(char me);

static void note(char me)
{
	order[length++] = me;
}

void worker(EXINF exinf)
{
	note((char)exinf);
	if (role != NULL) {
		role((char)exinf);
	}
	ext_tsk();
}

/* Lets the workers run, and says in which order they did. */
static void ran(const char *what)
{
	(void)dly_tsk(20000U);
	order[length] = '\0';
	syslog(LOG_NOTICE, "%s: %s", what, order);
	length = 0U;
	role = NULL;
}

static void activate(void)
{
	(void)act_tsk(TASK_A);
	(void)act_tsk(TASK_B);
	(void)act_tsk(TASK_C);
}

/* A puts itself behind B. */
static void steps_back(char me)
{
	if (me == 'A') {
		(void)chg_spr(TSK_SELF, 9U);
		note('a');
	}
}

/* While A holds the mutex it is the first of its priority, whatever its sub-priority. */
static void holds_ceiling(char me)
{
	if (me == 'A') {
		(void)loc_mtx(CEILING);
		(void)act_tsk(TASK_B);
		(void)chg_spr(TSK_SELF, 8U);
		note('a');
		(void)unl_mtx(CEILING);
		note('.');
	}
}

/* The same, with what it inherits from C, which waits. */
static void holds_inherited(char me)
{
	if (me == 'A') {
		(void)loc_mtx(INHERITED);
		(void)chg_spr(TASK_C, 0U);
		(void)act_tsk(TASK_C);
		/* C has run until it waits. This makes B ready, which is above A and below what A inherits. */
		(void)chg_spr(TASK_B, 1U);
		(void)act_tsk(TASK_B);
		note('a');
		(void)unl_mtx(INHERITED);
		note('.');
	}
	else if (me == 'C') {
		(void)loc_mtx(INHERITED);
		note('c');
		(void)unl_mtx(INHERITED);
	}
}

static uint_t sub_priority(ID task)
{
	T_RTSK told;
	(void)ref_tsk(task, &told);
	return told.subpri;
}

void main_task(EXINF exinf)
{
	ID first;

	activate();
	ran("as activated");
	(void)chg_spr(TASK_A, 3U);
	(void)chg_spr(TASK_B, 1U);
	(void)chg_spr(TASK_C, 2U);
	syslog(LOG_NOTICE, "sub-priorities: %u %u %u", sub_priority(TASK_A), sub_priority(TASK_B), sub_priority(TASK_C));
	activate();
	ran("by sub-priority");
	syslog(LOG_NOTICE, "when it has ended: %d", sub_priority(TASK_A) == UINT_MAX);
	activate();
	(void)chg_spr(TASK_C, 5U);
	(void)chg_spr(TASK_B, 5U);
	(void)get_nth(ORDERED, 1U, &first);
	syslog(LOG_NOTICE, "the second is B: %d", first == TASK_B);
	ran("changed while ready, the same twice");
	activate();
	(void)chg_spr(TASK_A, UINT_MAX);
	ran("the lowest, behind those of it");
	syslog(LOG_NOTICE, "rot_rdq: %d %d", rot_rdq(ORDERED), rot_rdq(ORDERED + 1));
	(void)act_tsk(PLAIN_D);
	(void)act_tsk(PLAIN_E);
	(void)chg_spr(PLAIN_E, 0U);
	ran("where they do not tell");
	(void)act_tsk(PLAIN_D);
	(void)act_tsk(TASK_A);
	(void)chg_spr(PLAIN_D, 4U);
	(void)chg_pri(PLAIN_D, ORDERED);
	ran("of another priority");
	role = steps_back;
	(void)chg_spr(TASK_A, 1U);
	(void)chg_spr(TASK_B, 2U);
	(void)act_tsk(TASK_A);
	(void)act_tsk(TASK_B);
	ran("steps back");
	role = holds_ceiling;
	(void)chg_spr(TASK_A, 7U);
	(void)chg_spr(TASK_B, 2U);
	(void)act_tsk(TASK_A);
	ran("boosted by a ceiling");
	role = holds_inherited;
	(void)chg_spr(TASK_A, 7U);
	(void)act_tsk(TASK_A);
	ran("boosted by inheritance");
	syslog(LOG_NOTICE, "refused: %d %d", chg_spr(99, 1U), chg_spr(-1, 1U));
#if TNUM_PRCID >= 2
	/* In another queue of the same processor. */
	(void)chg_spr(TASK_A, 2U);
	(void)chg_spr(TASK_B, 6U);
	(void)act_tsk(PINNED);
	(void)chg_spr(PINNED, 5U);
	(void)act_tsk(TASK_A);
	(void)act_tsk(TASK_B);
	(void)dis_dsp();
	(void)ena_dsp();
	ran("with a pinned task");
#else
	(void)act_tsk(TASK_A);
	ran("with a pinned task");
#endif
	ext_ker();
}
