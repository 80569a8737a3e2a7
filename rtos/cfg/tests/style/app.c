/* A configuration in TOPPERS' style: the kernel has what the configuration says. */
#include "app.h"
#include <sil.h>
#include <t_stdlib.h>
#include <t_syslog.h>
#include "syssvc/serial.h"
#include "syssvc/syslog.h"
#include "kernel_cfg.h"

_Static_assert(sizeof(bool_t) == sizeof(int), "a truth value is an int");

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

/* The processor, before, within and after a section that is locked. */
static void sections(void)
{
	SIL_PRE_LOC;
	uint32_t word = 0x12345677;
	uint8_t byte = 0xff;
	ID inside = 0;
	bool_t locked;
	HRTCNT begin = fch_hrt();
	sil_dly_nse(2500);
	begin = fch_hrt() - begin;
	SIL_LOC_INT();
	locked = sns_loc();
	sil_get_pid(&inside);
	SIL_UNL_INT();
	syslog(LOG_NOTICE, "locked: %d, then %d, on %d; late enough: %d", locked, sns_loc(), inside, begin >= 3);
	(void)loc_cpu();
	SIL_LOC_INT();
	SIL_UNL_INT();
	locked = sns_loc();
	(void)unl_cpu();
	syslog(LOG_NOTICE, "still locked: %d", locked);
	sil_swrw_mem(&word, sil_rew_mem(&word) + 1);
	sil_wrb_mem(&byte, sil_reb_mem(&byte) + 1);
	syslog(LOG_NOTICE, "registers: %x, %x", word, byte);
}

static void port(void)
{
	T_SERIAL_RPOR state = { 9, 9 };
	char c;
	ER closed = serial_ctl_por(SIO_PORTID, IOCTL_ECHO), opened = serial_opn_por(SIO_PORTID);
	syslog(LOG_NOTICE, "a port: %d %d %d %d", closed, opened, serial_opn_por(SIO_PORTID), serial_rea_dat(2, &c, 1));
	syslog(LOG_NOTICE, "written: %d", serial_wri_dat(SIO_PORTID, "to the port\n", 12));
	/* Not only text: a byte of 0, one that ends a program in an emulator's protocol, and no UTF-8. */
	syslog(LOG_NOTICE, "bytes: %d", serial_wri_dat(SIO_PORTID, "ab\0cd\x04\x04\xff\n", 9));
	(void)serial_ref_por(SIO_PORTID, &state);
	syslog(LOG_NOTICE, "unread: %u, closed: %d", state.reacnt, serial_cls_por(SIO_PORTID));
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
	syslog(LOG_NOTICE, "%d, %s, %tu, %lx", (SYSTIM)7, itron_strerror(E_OBJ), (HRTCNT)9, 0x12345678L);
	syslog(LOG_NOTICE, "%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8);
	syslog(LOG_NOTICE, "%s, %s, %s, %s", itron_strerror(E_OK), itron_strerror(7), itron_strerror(ERCD(E_COMM, -1)), itron_strerror(-100));
	sections();
	port();
	syslog(LOG_DEBUG, "not printed");
	(void)syslog_msk_log(LOG_UPTO(LOG_DEBUG), LOG_UPTO(LOG_EMERG));
	syslog(LOG_DEBUG, "printed");
	t_perror(LOG_ERROR, "a.c", UINT_C(7), "sig_sem(0)", sig_sem(0));
	assert(taken == E_OK);
	(void)ext_ker();
}
