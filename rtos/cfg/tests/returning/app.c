/*
 * Returning from the handler of a CPU exception to the code that caused it: behind the instruction, or to the same
 * instruction, which is tried again.
 */
#include "app.h"
#include <t_syslog.h>

#define TIMES 300

static volatile int_t calls, tries;
static volatile bool_t pending;

/* Lets each instruction be tried that often, and then goes on behind it. */
static int_t most;

void on_exception(void *p_excinf)
{
	calls++;
	pending = xsns_dpn(p_excinf);
	if (++tries < most) {
		return;
	}
	tries = 0;
	PREPARE_RETURN_CPUEXC;
}

/* What is in registers around the instruction is as it was. */
static __attribute__((noinline)) uint32_t sum(uint32_t seed)
{
	uint32_t a = seed, b = seed * 3, c = seed * 5, d = seed * 7, e = seed * 11, f = seed * 13, g = seed * 17;
	int_t i;
	for (i = 0; i < TIMES; i++) {
		a += b;
		b ^= c;
		c += d;
		RAISE_CPU_EXCEPTION;
		d ^= e;
		e += f;
		f ^= g;
		g += a;
	}
	return a + b + c + d + e + f + g;
}

/* The same without the exception. */
static __attribute__((noinline)) uint32_t right(uint32_t seed)
{
	uint32_t a = seed, b = seed * 3, c = seed * 5, d = seed * 7, e = seed * 11, f = seed * 13, g = seed * 17;
	int_t i;
	for (i = 0; i < TIMES; i++) {
		a += b;
		b ^= c;
		c += d;
		d ^= e;
		e += f;
		f ^= g;
		g += a;
	}
	return a + b + c + d + e + f + g;
}

static void go(const char *where, int_t each)
{
	uint32_t result;
	calls = 0;
	most = each;
	result = sum(7);
	syslog(LOG_NOTICE, "%s: %d calls, registers %d, pending %d, locked %d", where, calls, result == right(7), pending, sns_loc());
}

void on_line(void)
{
	go("in a handler", 1);
	(void)sig_sem(DONE);
}

void faulty(EXINF exinf)
{
	(void)exinf;
	go("on the last processor", 2);
	(void)sig_sem(DONE);
}

void main_task(EXINF exinf)
{
	(void)exinf;
	go("in a task", 1);
	go("tried again", 3);
	(void)dis_dsp();
	go("under dis_dsp", 1);
	(void)ena_dsp();
	(void)loc_cpu();
	go("locked", 1);
	(void)unl_cpu();
	(void)ras_int(INTNO1);
	(void)wai_sem(DONE);
	(void)mact_tsk(FAULTY, TNUM_PRCID);
	(void)wai_sem(DONE);
	(void)ext_ker();
}
