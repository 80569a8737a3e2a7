/* The system services and headers that programs for TOPPERS of some age use. */
#include <itron.h>
#include <queue.h>
#include <sil.h>
#include <t_stdlib.h>
#include <t_syslog.h>
#include "syssvc/banner.h"
#include "syssvc/histogram.h"
#include "syssvc/logtask.h"
#include "syssvc/serial.h"
#include "syssvc/syslog.h"
#include "syssvc/test_svc.h"
#include "target_syssvc.h"
#include "app.h"

MPF_T pool_area[2 * COUNT_MPF_T(20)];
MB_T pool_mb[TCNT_MPFMB(2)];
MB_T queue_mb[TCNT_DTQMB(2)];
MB_T priority_mb[TCNT_PDQMB(2)];
MB_T buffer_mb[TCNT_MBFMB(2, 8)];

/* A restricted task never waits, nor is it suspended. */
void restricted_task(EXINF exinf)
{
	(void)exinf;
	check_point(2);
	check_ercd(slp_tsk(), E_NOSPT);
	check_ercd(dly_tsk(1), E_NOSPT);
	check_ercd(rcv_dtq(WORDS, &(intptr_t){ 0 }), E_NOSPT);
	check_ercd(prcv_dtq(WORDS, &(intptr_t){ 0 }), E_TMOUT);
	check_ercd(twai_sem(99, 1), E_ID);
	check_ercd(chg_pri(TSK_SELF, 5), E_NOSPT);
	check_ercd(sus_tsk(TSK_SELF), E_NOSPT);
}

/* The phases that the processors come to together. */
void phase_task(EXINF exinf)
{
	(void)exinf;
	test_barrier(1);
	test_barrier(2);
}

static void queues(void)
{
	QUEUE head, a, b, c;
	queue_initialize(&head);
	check_assert(queue_empty(&head));
	queue_insert_prev(&head, &b);
	queue_insert_next(&head, &a);
	queue_insert_prev(&head, &c);
	queue_delete(&b);
	check_assert(queue_delete_next(&head) == &a && queue_delete_next(&head) == &c && queue_empty(&head));
}

static void pools(void)
{
	void *first, *second;
	check_ercd(get_mpf(POOL, &first), E_OK);
	check_ercd(pget_mpf(POOL, &second), E_OK);
	check_assert(first == (void *)pool_area && second == (void *)(pool_area + COUNT_MPF_T(20)));
	check_ercd(rel_mpf(POOL, second), E_OK);
	check_ercd(rel_mpf(POOL, first), E_OK);
}

static void orders(void)
{
	uint16_t half = 0x1234;
	uint32_t word = 0x12345678;
	check_assert(sil_reh_lem(&half) == 0x1234 && sil_reh_bem(&half) == 0x3412);
	check_assert(sil_rew_lem(&word) == 0x12345678 && sil_rew_bem(&word) == 0x78563412);
	sil_wrh_bem(&half, 0x1234);
	sil_wrw_bem(&word, 0x12345678);
	check_assert(half == 0x3412 && word == 0x78563412);
	sil_swrh_lem(&half, 1);
	sil_swrw_lem(&word, 2);
	check_assert(half == 1 && word == 2);
	sil_swrh_bem(&half, 1);
	sil_swrw_bem(&word, 2);
	check_assert(half == 0x100 && word == 0x02000000);
	check_assert(SIL_DLY_TIM1 > 0 && SIL_DLY_TIM2 > 0);
}

/* A function of the application that logs. */
static void note(const char *format, ...)
{
	SYSLOG record;
	va_list arguments;
	va_start(arguments, format);
	tt_syslog(&record, format, arguments);
	va_end(arguments);
	check_ercd(syslog_wri_log(LOG_NOTICE, &record), E_OK);
}

static void log_services(void)
{
	SYSLOG record = { .logtype = LOG_TYPE_COMMENT, .logpar = { (LOGPAR)"a record: %d and %s", -7, (LOGPAR)"words" } };
	T_SYSLOG_RLOG state;
	syslog_write(LOG_NOTICE, &record);
	check_ercd(syslog_wri_log(LOG_DEBUG, &record), E_OK);
	note("a note: %d, %5s, %c, %lx, %u%%", -1, "ab", '!', 0x1234L, 7U);
	check_ercd(syslog_msk_log(LOG_UPTO(LOG_NOTICE), LOG_UPTO(LOG_CRIT)), E_OK);
	check_ercd(syslog_ref_log(&state), E_OK);
	check_assert(state.count == 0 && state.lost == 0 && state.logmask == LOG_UPTO(LOG_NOTICE));
	check_assert(state.lowmask == LOG_UPTO(LOG_CRIT));
	check_ercd(syslog_rea_log(&record), E_OBJ);
	check_ercd(logtask_flush(0), E_OK);
	check_ercd(syslog_fls_log(), E_OK);
}

static void histograms(void)
{
	check_ercd(init_hist(TNUM_HISTID + 1), E_ID);
	check_ercd(init_hist(1), E_OK);
	check_ercd(begin_measure(1), E_OK);
	check_ercd(dly_tsk(HIST_MAX_TIME + 1), E_OK);
	check_ercd(end_measure(1), E_OK);
	check_ercd(print_hist(1), E_OK);
}

void main_task(EXINF exinf)
{
	STAT state;
	UW word = 1;
	BOOL right = word == 1 && NADR != NULL && TA_TFIFO == 0;
	(void)exinf;
	test_start("services");
	check_assert(right);
	check_point(1);
	check_ercd(act_tsk(RESTRICTED), E_OK);
	check_point(3);
	check_state(false, false, false, false, false);
	check_ipm(TIPM_ENAALL);
	/* It sleeps. */
	check_ercd(get_tst(LOGTASK, &state), E_OK);
	check_assert(state == TTS_WAI);
	queues();
	pools();
	orders();
	log_services();
	histograms();
#if TNUM_PRCID >= 2
	test_barrier(1);
	test_barrier(2);
#endif
	check_finish(4);
}
