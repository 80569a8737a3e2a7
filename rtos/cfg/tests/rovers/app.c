/*
 * Two tasks that migrate between two processors: in turn, at the same time, and as one of many programs says that are made
 * up at random. Nothing is printed meanwhile, so that two processors whose instructions take equally long stay in step.
 */
#include "app.h"
#include <t_syslog.h>

#define TIMES 100
#define STEPS 6
#define PROGRAMS 40

static void (*volatile role)(int_t me);

/* Whose turn it is. */
static volatile int_t turn;
static volatile bool_t stop;
static volatile uint32_t rounds[2];
/* What each does over and over: its steps, and how long it pauses after each. */
static volatile uint8_t steps[2][STEPS], pauses[2][STEPS];

static ID other(int_t me)
{
	return me == 0 ? ROVER2 : ROVER1;
}

/* To the other processor. */
static void move(void)
{
	ID here;
	(void)get_pid(&here);
	(void)mig_tsk(TSK_SELF, 3 - here);
}

static void in_turn(int_t me)
{
	int_t i;
	for (i = 0; i < TIMES; i++) {
		while (turn != me) {
			(void)rot_rdq(TPRI_SELF);
		}
		move();
		turn = 1 - me;
	}
}

/* Waits for its turn by the clock. A wake-up has to be over before the next: where a processor is slow, a task that
 * waits for less leaves no time to those below it. */
static void by_the_clock(int_t me)
{
	int_t i;
	(void)chg_pri(TSK_SELF, 8 + me);
	for (i = 0; i < TIMES; i++) {
		while (turn != me) {
			(void)dly_tsk(1000);
		}
		move();
		turn = 1 - me;
	}
}

static void at_once(int_t me)
{
	int_t i;
	(void)me;
	for (i = 0; i < TIMES; i++) {
		move();
	}
}

static void made_up(int_t me)
{
	uint_t i = 0;
	STAT state;
	PRI priority;
	while (!stop) {
		volatile int_t pause = pauses[me][i];
		while (pause-- > 0) {
		}
		switch (steps[me][i]) {
		case 0:
		case 1:
			(void)mig_tsk(TSK_SELF, 1 + steps[me][i]);
			break;
		case 2:
			move();
			break;
		case 3:
			(void)get_tst(other(me), &state);
			break;
		case 4:
			(void)rot_rdq(TPRI_SELF);
			break;
		case 5:
		case 6:
			(void)mig_tsk(other(me), steps[me][i] - 4);
			break;
		case 7:
			(void)wup_tsk(other(me));
			break;
		case 8:
			(void)get_pri(other(me), &priority);
			break;
		case 9:
			(void)pol_sem(SHARED);
			break;
		default:
			(void)sig_sem(SHARED);
			break;
		}
		if (++i == STEPS) {
			i = 0;
			rounds[me]++;
		}
	}
}

void rover(EXINF me)
{
	role((int_t)me);
	(void)sig_sem(DONE);
}

static void begin(void (*which)(int_t me))
{
	role = which;
	turn = 0;
	stop = false;
	(void)act_tsk(ROVER1);
	(void)act_tsk(ROVER2);
}

static void ended(void)
{
	(void)wai_sem(DONE);
	(void)wai_sem(DONE);
}

static uint32_t random_below(uint32_t most)
{
	static uint32_t seed = 1;
	seed = seed * 1664525U + 1013904223U;
	return (seed >> 8) % most;
}

/* How many of the programs do not go on. */
static int_t made_up_programs(void)
{
	int_t number, stuck = 0;
	for (number = 0; number < PROGRAMS; number++) {
		uint32_t before;
		uint_t i;
		for (i = 0; i < STEPS; i++) {
			steps[0][i] = (uint8_t)random_below(11);
			pauses[0][i] = random_below(3) == 0 ? (uint8_t)random_below(6) : 0;
			/* Every second pair does the same. */
			steps[1][i] = number % 2 == 0 ? steps[0][i] : (uint8_t)random_below(11);
			pauses[1][i] = number % 2 == 0 ? pauses[0][i] : 0;
		}
		before = rounds[0] + rounds[1];
		begin(made_up);
		for (i = 0; i < 100 && rounds[0] + rounds[1] < before + 5; i++) {
			(void)dly_tsk(5000);
		}
		stuck += i == 100;
		stop = true;
		ended();
	}
	return stuck;
}

void main_task(EXINF exinf)
{
	(void)exinf;
	begin(in_turn);
	ended();
	syslog(LOG_NOTICE, "in turn");
	begin(by_the_clock);
	ended();
	syslog(LOG_NOTICE, "by the clock");
	begin(at_once);
	ended();
	syslog(LOG_NOTICE, "at once");
	syslog(LOG_NOTICE, "made up: %d stand still", made_up_programs());
	(void)ext_ker();
}
