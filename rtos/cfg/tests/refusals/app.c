/*
 * Refused calls: every service with a number that no object has, and with every value that it does not take, in every
 * context. A context that does not fit is told first (E_CTX), then the argument, then that the task is asked to end
 * (E_RASTER), as in ASP3 and FMP3; and no refused call changes anything.
 */
#include "app.h"
#include <limits.h>
#include <string.h>
#include <t_syslog.h>

/* What a service needs of its context. Each includes those before it. */
typedef enum { NOTHING, UNLOCKED, IN_TASK, DISPATCHING } NEEDS;

/* The context that the table is gone through in: its name, and the most that a service may need there. */
static const char *context;
static NEEDS fits;
/* Whether the task is asked to end, so that it may not wait. */
static bool_t asked;
static int_t calls, wrong;

/* Not called through a macro of its own name: what was asked is printed if the answer is another one. */
static void expect(ER expected, ER gave, const char *what, int_t line)
{
	calls++;
	if (gave != expected) {
		wrong++;
		syslog(LOG_ERROR, "line %d, %s: %s gave %d, not %d", line, context, what, gave, expected);
	}
}
/* A row of the table: what the service needs, and the error that its arguments are refused with. */
#define REFUSED(needs, error, call) expect((needs) <= fits ? (error) : E_CTX, (ER)(call), #call, __LINE__)
/* A row with nothing wrong but the context. */
#define RIGHT(needs, call)                                                                     \
	do {                                                                                   \
		if ((needs) > fits || ((needs) == DISPATCHING && asked)) {                     \
			expect((needs) > fits ? E_CTX : E_RASTER, (ER)(call), #call, __LINE__); \
		}                                                                              \
	} while (0)

/* All that can be told of all objects. */
typedef struct everything {
	T_RTSK task, dormant;
	T_RSEM sem;
	T_RFLG flg;
	T_RDTQ dtq;
	T_RPDQ pdq;
	T_RMTX mtx;
	T_RMBF mbf;
	T_RMPF mpf;
	T_RCYC cyc;
	T_RALM alm;
	T_ROVR ovr;
	PRI ipm;
	bool_t loc, dsp, dpn, ctx;
} EVERYTHING;

static void look(EVERYTHING *all)
{
	memset(all, 0, sizeof(*all));
	(void)ref_tsk(MAIN_TASK, &all->task);
	(void)ref_tsk(DORMANT, &all->dormant);
	(void)ref_sem(SEM, &all->sem);
	(void)ref_flg(FLG, &all->flg);
	(void)ref_dtq(DTQ, &all->dtq);
	(void)ref_pdq(PDQ, &all->pdq);
	(void)ref_mtx(MTX, &all->mtx);
	(void)ref_mbf(MBF, &all->mbf);
	(void)ref_mpf(MPF, &all->mpf);
	(void)ref_cyc(CYC, &all->cyc);
	(void)ref_alm(ALM, &all->alm);
	(void)ref_ovr(MAIN_TASK, &all->ovr);
	(void)get_ipm(&all->ipm);
	all->loc = sns_loc();
	all->dsp = sns_dsp();
	all->dpn = sns_dpn();
	all->ctx = sns_ctx();
}

static STAT state;
static PRI priority;
static FLGPTN pattern;
static intptr_t word;
static char message[8];
static void *block;
static uint_t load;
static ID number;
static T_RSPN spin;
static EVERYTHING told;

/* Numbers of tasks that there are not. TSK_SELF is one that there is, in a task. */
static void tasks(ID id)
{
	REFUSED(UNLOCKED, E_ID, act_tsk(id));
	REFUSED(UNLOCKED, E_ID, mact_tsk(id, TPRC_INI));
	REFUSED(IN_TASK, E_ID, can_act(id));
	REFUSED(IN_TASK, E_ID, mig_tsk(id, TPRC_INI));
	REFUSED(IN_TASK, E_ID, get_tst(id, &state));
	REFUSED(IN_TASK, E_ID, chg_pri(id, 5));
	REFUSED(IN_TASK, E_ID, chg_spr(id, 5U));
	REFUSED(IN_TASK, E_ID, get_pri(id, &priority));
	REFUSED(IN_TASK, E_ID, ref_tsk(id, &told.task));
	REFUSED(UNLOCKED, E_ID, wup_tsk(id));
	REFUSED(IN_TASK, E_ID, can_wup(id));
	REFUSED(UNLOCKED, E_ID, rel_wai(id));
	REFUSED(IN_TASK, E_ID, sus_tsk(id));
	REFUSED(IN_TASK, E_ID, rsm_tsk(id));
	REFUSED(IN_TASK, E_ID, ras_ter(id));
	REFUSED(IN_TASK, E_ID, ter_tsk(id));
	REFUSED(UNLOCKED, E_ID, sta_ovr(id, 1000));
	REFUSED(UNLOCKED, E_ID, stp_ovr(id));
	REFUSED(IN_TASK, E_ID, ref_ovr(id, &told.ovr));
}

static void objects(ID id)
{
	REFUSED(UNLOCKED, E_ID, sig_sem(id));
	REFUSED(DISPATCHING, E_ID, wai_sem(id));
	REFUSED(IN_TASK, E_ID, pol_sem(id));
	REFUSED(DISPATCHING, E_ID, twai_sem(id, 1));
	REFUSED(IN_TASK, E_ID, ini_sem(id));
	REFUSED(IN_TASK, E_ID, ref_sem(id, &told.sem));
	REFUSED(UNLOCKED, E_ID, set_flg(id, 1));
	REFUSED(IN_TASK, E_ID, clr_flg(id, 0));
	REFUSED(DISPATCHING, E_ID, wai_flg(id, 1, TWF_ORW, &pattern));
	REFUSED(IN_TASK, E_ID, pol_flg(id, 1, TWF_ORW, &pattern));
	REFUSED(DISPATCHING, E_ID, twai_flg(id, 1, TWF_ORW, &pattern, 1));
	REFUSED(IN_TASK, E_ID, ini_flg(id));
	REFUSED(IN_TASK, E_ID, ref_flg(id, &told.flg));
	REFUSED(DISPATCHING, E_ID, snd_dtq(id, 1));
	REFUSED(UNLOCKED, E_ID, psnd_dtq(id, 1));
	REFUSED(DISPATCHING, E_ID, tsnd_dtq(id, 1, 1));
	REFUSED(UNLOCKED, E_ID, fsnd_dtq(id, 1));
	REFUSED(DISPATCHING, E_ID, rcv_dtq(id, &word));
	REFUSED(IN_TASK, E_ID, prcv_dtq(id, &word));
	REFUSED(DISPATCHING, E_ID, trcv_dtq(id, &word, 1));
	REFUSED(IN_TASK, E_ID, ini_dtq(id));
	REFUSED(IN_TASK, E_ID, ref_dtq(id, &told.dtq));
	REFUSED(DISPATCHING, E_ID, snd_pdq(id, 1, 1));
	REFUSED(UNLOCKED, E_ID, psnd_pdq(id, 1, 1));
	REFUSED(DISPATCHING, E_ID, tsnd_pdq(id, 1, 1, 1));
	REFUSED(DISPATCHING, E_ID, rcv_pdq(id, &word, &priority));
	REFUSED(IN_TASK, E_ID, prcv_pdq(id, &word, &priority));
	REFUSED(DISPATCHING, E_ID, trcv_pdq(id, &word, &priority, 1));
	REFUSED(IN_TASK, E_ID, ini_pdq(id));
	REFUSED(IN_TASK, E_ID, ref_pdq(id, &told.pdq));
	REFUSED(DISPATCHING, E_ID, loc_mtx(id));
	REFUSED(IN_TASK, E_ID, ploc_mtx(id));
	REFUSED(DISPATCHING, E_ID, tloc_mtx(id, 1));
	REFUSED(IN_TASK, E_ID, unl_mtx(id));
	REFUSED(IN_TASK, E_ID, ini_mtx(id));
	REFUSED(IN_TASK, E_ID, ref_mtx(id, &told.mtx));
	REFUSED(DISPATCHING, E_ID, snd_mbf(id, message, 1));
	REFUSED(IN_TASK, E_ID, psnd_mbf(id, message, 1));
	REFUSED(DISPATCHING, E_ID, tsnd_mbf(id, message, 1, 1));
	REFUSED(DISPATCHING, E_ID, rcv_mbf(id, message));
	REFUSED(IN_TASK, E_ID, prcv_mbf(id, message));
	REFUSED(DISPATCHING, E_ID, trcv_mbf(id, message, 1));
	REFUSED(IN_TASK, E_ID, ini_mbf(id));
	REFUSED(IN_TASK, E_ID, ref_mbf(id, &told.mbf));
	REFUSED(DISPATCHING, E_ID, get_mpf(id, &block));
	REFUSED(IN_TASK, E_ID, pget_mpf(id, &block));
	REFUSED(DISPATCHING, E_ID, tget_mpf(id, &block, 1));
	REFUSED(IN_TASK, E_ID, rel_mpf(id, message));
	REFUSED(IN_TASK, E_ID, ini_mpf(id));
	REFUSED(IN_TASK, E_ID, ref_mpf(id, &told.mpf));
	REFUSED(IN_TASK, E_ID, sta_cyc(id));
	REFUSED(IN_TASK, E_ID, msta_cyc(id, TPRC_INI));
	REFUSED(IN_TASK, E_ID, stp_cyc(id));
	REFUSED(IN_TASK, E_ID, ref_cyc(id, &told.cyc));
	REFUSED(UNLOCKED, E_ID, sta_alm(id, 1000));
	REFUSED(UNLOCKED, E_ID, msta_alm(id, 1000, TPRC_INI));
	REFUSED(UNLOCKED, E_ID, stp_alm(id));
	REFUSED(IN_TASK, E_ID, ref_alm(id, &told.alm));
	REFUSED(UNLOCKED, E_ID, loc_spn(id));
	REFUSED(UNLOCKED, E_ID, try_spn(id));
	REFUSED(NOTHING, E_ID, unl_spn(id));
	REFUSED(IN_TASK, E_ID, ref_spn(id, &spin));
}

static void processors(ID id)
{
	REFUSED(UNLOCKED, E_ID, mact_tsk(DORMANT, id));
	REFUSED(IN_TASK, E_ID, mig_tsk(TSK_SELF, id));
	REFUSED(UNLOCKED, E_ID, mrot_rdq(id, 99));
	REFUSED(IN_TASK, E_ID, mget_lod(id, 99, &load));
	REFUSED(IN_TASK, E_ID, mget_nth(id, 99, 0, &number));
	REFUSED(IN_TASK, E_ID, msta_cyc(CYC, id));
	REFUSED(UNLOCKED, E_ID, msta_alm(ALM, 1000, id));
}

static void priorities(PRI pri)
{
	REFUSED(IN_TASK, E_PAR, chg_pri(TSK_SELF, pri));
	REFUSED(UNLOCKED, E_PAR, rot_rdq(pri));
	REFUSED(IN_TASK, E_PAR, get_lod(pri, &load));
	REFUSED(IN_TASK, E_PAR, get_nth(pri, 0, &number));
	REFUSED(UNLOCKED, E_PAR, mrot_rdq(1, pri));
	REFUSED(IN_TASK, E_PAR, mget_lod(1, pri, &load));
	REFUSED(IN_TASK, E_PAR, mget_nth(1, pri, 0, &number));
}

/* Neither a time nor TMO_FEVR. */
static void times(TMO tmo)
{
	REFUSED(DISPATCHING, E_PAR, tslp_tsk(tmo));
	REFUSED(DISPATCHING, E_PAR, dly_tsk(tmo));
	REFUSED(DISPATCHING, E_PAR, twai_sem(SEM, tmo));
	REFUSED(DISPATCHING, E_PAR, twai_flg(FLG, 1, TWF_ORW, &pattern, tmo));
	REFUSED(DISPATCHING, E_PAR, tsnd_dtq(DTQ, 1, tmo));
	REFUSED(DISPATCHING, E_PAR, trcv_dtq(DTQ, &word, tmo));
	REFUSED(DISPATCHING, E_PAR, tsnd_pdq(PDQ, 1, 1, tmo));
	REFUSED(DISPATCHING, E_PAR, trcv_pdq(PDQ, &word, &priority, tmo));
	REFUSED(DISPATCHING, E_PAR, tloc_mtx(MTX, tmo));
	REFUSED(DISPATCHING, E_PAR, tsnd_mbf(MBF, message, 1, tmo));
	REFUSED(DISPATCHING, E_PAR, trcv_mbf(MBF, message, tmo));
	REFUSED(DISPATCHING, E_PAR, tget_mpf(MPF, &block, tmo));
	REFUSED(UNLOCKED, E_PAR, sta_alm(ALM, tmo));
	REFUSED(UNLOCKED, E_PAR, msta_alm(ALM, tmo, TPRC_INI));
	REFUSED(UNLOCKED, E_PAR, sta_ovr(MAIN_TASK, tmo));
}

static void values(void)
{
	MODE mode;
	PRI pri;
	REFUSED(DISPATCHING, E_PAR, wai_flg(FLG, 0, TWF_ORW, &pattern));
	REFUSED(IN_TASK, E_PAR, pol_flg(FLG, 0, TWF_ANDW, &pattern));
	REFUSED(DISPATCHING, E_PAR, twai_flg(FLG, 0, TWF_ANDW, &pattern, 1));
	for (mode = 0; mode < 8; mode++) {
		if (mode != TWF_ANDW && mode != TWF_ORW) {
			REFUSED(DISPATCHING, E_PAR, wai_flg(FLG, 1, mode, &pattern));
			REFUSED(IN_TASK, E_PAR, pol_flg(FLG, 1, mode, &pattern));
			REFUSED(DISPATCHING, E_PAR, twai_flg(FLG, 1, mode, &pattern, 1));
		}
	}
	for (pri = -1; pri <= 20; pri++) {
		if (pri < 1 || pri > 4) {
			REFUSED(DISPATCHING, E_PAR, snd_pdq(PDQ, 1, pri));
			REFUSED(UNLOCKED, E_PAR, psnd_pdq(PDQ, 1, pri));
			REFUSED(DISPATCHING, E_PAR, tsnd_pdq(PDQ, 1, pri, 1));
		}
	}
	REFUSED(DISPATCHING, E_PAR, snd_mbf(MBF, message, 0));
	REFUSED(IN_TASK, E_PAR, psnd_mbf(MBF, message, 9));
	REFUSED(DISPATCHING, E_PAR, tsnd_mbf(MBF, message, UINT_MAX, 1));
	REFUSED(DISPATCHING, E_PAR, snd_mbf(MBF, NULL, 1));
	REFUSED(IN_TASK, E_PAR, psnd_mbf(MBF, NULL, 1));
	REFUSED(DISPATCHING, E_PAR, rcv_mbf(MBF, NULL));
	REFUSED(IN_TASK, E_PAR, prcv_mbf(MBF, NULL));
	REFUSED(IN_TASK, E_PAR, rel_mpf(MPF, NULL));
	REFUSED(IN_TASK, E_PAR, rel_mpf(MPF, message));
	REFUSED(UNLOCKED, E_PAR, adj_tim(TMAX_ADJTIM + 1));
	REFUSED(UNLOCKED, E_PAR, adj_tim(TMIN_ADJTIM - 1));
	REFUSED(UNLOCKED, E_PAR, adj_tim(INT_MIN));
	REFUSED(IN_TASK, E_PAR, chg_ipm(1));
	REFUSED(IN_TASK, E_PAR, chg_ipm(-100));
	REFUSED(IN_TASK, E_PAR, chg_ipm(INT_MIN));
	REFUSED(NOTHING, E_PAR, dis_int(9999));
	REFUSED(NOTHING, E_PAR, ena_int(UINT_MAX));
	REFUSED(NOTHING, E_PAR, clr_int(9999));
	REFUSED(NOTHING, E_PAR, ras_int(9999));
	REFUSED(NOTHING, E_PAR, prb_int(9999));
	REFUSED(UNLOCKED, E_PAR, sta_ovr(MAIN_TASK, 0));
}

/* The calling task, where there is none. */
static void self(void)
{
	if (sns_ctx()) {
		REFUSED(UNLOCKED, E_ID, act_tsk(TSK_SELF));
		REFUSED(UNLOCKED, E_ID, mact_tsk(TSK_SELF, 1));
		REFUSED(UNLOCKED, E_ID, wup_tsk(TSK_SELF));
		REFUSED(UNLOCKED, E_ID, sta_ovr(TSK_SELF, 1000));
		REFUSED(UNLOCKED, E_ID, stp_ovr(TSK_SELF));
		REFUSED(UNLOCKED, E_PAR, rot_rdq(TPRI_SELF));
		REFUSED(UNLOCKED, E_PAR, mrot_rdq(1, TPRI_SELF));
		REFUSED(IN_TASK, E_CTX, ext_tsk());
	}
}

/* An object that only another processor may use, from here. */
static void elsewhere(void)
{
#if TNUM_PRCID >= 2
	REFUSED(UNLOCKED, E_OACV, sig_sem(FAR_SEM));
	REFUSED(IN_TASK, E_OACV, pol_sem(FAR_SEM));
	REFUSED(DISPATCHING, E_OACV, wai_sem(FAR_SEM));
	REFUSED(DISPATCHING, E_PAR, twai_sem(FAR_SEM, TMAX_RELTIM + 1));
#endif
}

/* Every service that can be refused, with what it takes. */
static void right(void)
{
	SYSTIM now;
	PRI ipm;
	intptr_t exinf;
	RIGHT(UNLOCKED, act_tsk(DORMANT));
	RIGHT(UNLOCKED, mact_tsk(DORMANT, 1));
	RIGHT(IN_TASK, can_act(DORMANT));
	RIGHT(IN_TASK, mig_tsk(DORMANT, 1));
	RIGHT(IN_TASK, get_tst(DORMANT, &state));
	RIGHT(IN_TASK, chg_pri(DORMANT, 5));
	RIGHT(IN_TASK, chg_spr(DORMANT, 5U));
	RIGHT(IN_TASK, get_pri(DORMANT, &priority));
	RIGHT(IN_TASK, get_inf(&exinf));
	RIGHT(IN_TASK, ref_tsk(DORMANT, &told.task));
	RIGHT(DISPATCHING, slp_tsk());
	RIGHT(DISPATCHING, tslp_tsk(1));
	RIGHT(UNLOCKED, wup_tsk(DORMANT));
	RIGHT(IN_TASK, can_wup(DORMANT));
	RIGHT(UNLOCKED, rel_wai(DORMANT));
	RIGHT(IN_TASK, sus_tsk(DORMANT));
	RIGHT(IN_TASK, rsm_tsk(DORMANT));
	RIGHT(DISPATCHING, dly_tsk(1));
	RIGHT(IN_TASK, ras_ter(DORMANT));
	RIGHT(IN_TASK, dis_ter());
	RIGHT(IN_TASK, ena_ter());
	RIGHT(IN_TASK, ter_tsk(DORMANT));
	RIGHT(UNLOCKED, sig_sem(SEM));
	RIGHT(DISPATCHING, wai_sem(SEM));
	RIGHT(IN_TASK, pol_sem(SEM));
	RIGHT(DISPATCHING, twai_sem(SEM, 1));
	RIGHT(IN_TASK, ini_sem(SEM));
	RIGHT(IN_TASK, ref_sem(SEM, &told.sem));
	RIGHT(UNLOCKED, set_flg(FLG, 1));
	RIGHT(IN_TASK, clr_flg(FLG, 0));
	RIGHT(DISPATCHING, wai_flg(FLG, 1, TWF_ORW, &pattern));
	RIGHT(IN_TASK, pol_flg(FLG, 1, TWF_ORW, &pattern));
	RIGHT(DISPATCHING, twai_flg(FLG, 1, TWF_ORW, &pattern, 1));
	RIGHT(IN_TASK, ini_flg(FLG));
	RIGHT(IN_TASK, ref_flg(FLG, &told.flg));
	RIGHT(DISPATCHING, snd_dtq(DTQ, 1));
	RIGHT(UNLOCKED, psnd_dtq(DTQ, 1));
	RIGHT(DISPATCHING, tsnd_dtq(DTQ, 1, 1));
	RIGHT(UNLOCKED, fsnd_dtq(DTQ, 1));
	RIGHT(DISPATCHING, rcv_dtq(DTQ, &word));
	RIGHT(IN_TASK, prcv_dtq(DTQ, &word));
	RIGHT(DISPATCHING, trcv_dtq(DTQ, &word, 1));
	RIGHT(IN_TASK, ini_dtq(DTQ));
	RIGHT(IN_TASK, ref_dtq(DTQ, &told.dtq));
	RIGHT(DISPATCHING, snd_pdq(PDQ, 1, 1));
	RIGHT(UNLOCKED, psnd_pdq(PDQ, 1, 1));
	RIGHT(DISPATCHING, tsnd_pdq(PDQ, 1, 1, 1));
	RIGHT(DISPATCHING, rcv_pdq(PDQ, &word, &priority));
	RIGHT(IN_TASK, prcv_pdq(PDQ, &word, &priority));
	RIGHT(DISPATCHING, trcv_pdq(PDQ, &word, &priority, 1));
	RIGHT(IN_TASK, ini_pdq(PDQ));
	RIGHT(IN_TASK, ref_pdq(PDQ, &told.pdq));
	RIGHT(DISPATCHING, loc_mtx(MTX));
	RIGHT(IN_TASK, ploc_mtx(MTX));
	RIGHT(DISPATCHING, tloc_mtx(MTX, 1));
	RIGHT(IN_TASK, unl_mtx(MTX));
	RIGHT(IN_TASK, ini_mtx(MTX));
	RIGHT(IN_TASK, ref_mtx(MTX, &told.mtx));
	RIGHT(DISPATCHING, snd_mbf(MBF, message, 1));
	RIGHT(IN_TASK, psnd_mbf(MBF, message, 1));
	RIGHT(DISPATCHING, tsnd_mbf(MBF, message, 1, 1));
	RIGHT(DISPATCHING, rcv_mbf(MBF, message));
	RIGHT(IN_TASK, prcv_mbf(MBF, message));
	RIGHT(DISPATCHING, trcv_mbf(MBF, message, 1));
	RIGHT(IN_TASK, ini_mbf(MBF));
	RIGHT(IN_TASK, ref_mbf(MBF, &told.mbf));
	RIGHT(DISPATCHING, get_mpf(MPF, &block));
	RIGHT(IN_TASK, pget_mpf(MPF, &block));
	RIGHT(DISPATCHING, tget_mpf(MPF, &block, 1));
	RIGHT(IN_TASK, ini_mpf(MPF));
	RIGHT(IN_TASK, ref_mpf(MPF, &told.mpf));
	RIGHT(IN_TASK, set_tim(1));
	RIGHT(IN_TASK, get_tim(&now));
	RIGHT(UNLOCKED, adj_tim(0));
	RIGHT(IN_TASK, sta_cyc(CYC));
	RIGHT(IN_TASK, msta_cyc(CYC, 1));
	RIGHT(IN_TASK, stp_cyc(CYC));
	RIGHT(IN_TASK, ref_cyc(CYC, &told.cyc));
	RIGHT(UNLOCKED, sta_alm(ALM, 1000));
	RIGHT(UNLOCKED, msta_alm(ALM, 1000, 1));
	RIGHT(UNLOCKED, stp_alm(ALM));
	RIGHT(IN_TASK, ref_alm(ALM, &told.alm));
	RIGHT(UNLOCKED, sta_ovr(DORMANT, 1000));
	RIGHT(UNLOCKED, stp_ovr(DORMANT));
	RIGHT(IN_TASK, ref_ovr(DORMANT, &told.ovr));
	RIGHT(UNLOCKED, rot_rdq(10));
	RIGHT(UNLOCKED, mrot_rdq(1, 10));
	RIGHT(IN_TASK, get_lod(10, &load));
	RIGHT(IN_TASK, mget_lod(1, 10, &load));
	RIGHT(IN_TASK, get_nth(10, 0, &number));
	RIGHT(IN_TASK, mget_nth(1, 10, 0, &number));
	RIGHT(UNLOCKED, get_tid(&number));
	RIGHT(UNLOCKED, get_pid(&number));
	RIGHT(IN_TASK, dis_dsp());
	RIGHT(IN_TASK, ena_dsp());
	RIGHT(IN_TASK, chg_ipm(0));
	RIGHT(IN_TASK, get_ipm(&ipm));
	RIGHT(UNLOCKED, loc_spn(SPN));
	RIGHT(UNLOCKED, try_spn(SPN));
	RIGHT(IN_TASK, ref_spn(SPN, &spin));
}

/* What an object is not in the state for. */
static void states(void)
{
	REFUSED(IN_TASK, E_OBJ, get_pri(DORMANT, &priority));
	REFUSED(IN_TASK, E_OBJ, chg_pri(DORMANT, 5));
	REFUSED(UNLOCKED, E_OBJ, wup_tsk(DORMANT));
	REFUSED(IN_TASK, E_OBJ, can_wup(DORMANT));
	REFUSED(UNLOCKED, E_OBJ, rel_wai(DORMANT));
	REFUSED(UNLOCKED, E_OBJ, rel_wai(MAIN_TASK));
	REFUSED(IN_TASK, E_OBJ, sus_tsk(DORMANT));
	REFUSED(IN_TASK, E_OBJ, rsm_tsk(DORMANT));
	REFUSED(IN_TASK, E_OBJ, rsm_tsk(MAIN_TASK));
	REFUSED(IN_TASK, E_OBJ, ter_tsk(DORMANT));
	REFUSED(IN_TASK, E_OBJ, ras_ter(DORMANT));
	REFUSED(IN_TASK, E_ILUSE, ter_tsk(MAIN_TASK));
	REFUSED(IN_TASK, E_ILUSE, ras_ter(MAIN_TASK));
	REFUSED(IN_TASK, E_OBJ, unl_mtx(MTX));
	REFUSED(NOTHING, E_ILUSE, unl_spn(SPN));
	REFUSED(IN_TASK, E_TMOUT, prcv_dtq(DTQ, &word));
	REFUSED(IN_TASK, E_TMOUT, prcv_pdq(PDQ, &word, &priority));
	REFUSED(IN_TASK, E_TMOUT, prcv_mbf(MBF, message));
	REFUSED(IN_TASK, E_TMOUT, pol_flg(FLG, 2, TWF_ANDW, &pattern));
}

/* The whole table. */
static void table(const char *name, NEEDS most)
{
	/* Tasks have two numbers, most kinds have one. */
	static const ID none[] = { -1, 3, 100, INT_MAX, INT_MIN };
	static const PRI no_priority[] = { -1, TMAX_TPRI + 1, INT_MAX, INT_MIN };
	uint_t i;
	context = name;
	fits = most;
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		tasks(none[i]);
		objects(none[i]);
		processors(none[i]);
	}
	objects(0);
	objects(TNUM_SEMID + 1);
	for (i = 0; i < sizeof(no_priority) / sizeof(no_priority[0]); i++) {
		priorities(no_priority[i]);
	}
	times(TMAX_RELTIM + 1);
	times(TMO_FEVR - 1);
	values();
	self();
	elsewhere();
	right();
}

void on_line(void)
{
	table("in a handler", UNLOCKED);
	(void)loc_cpu();
	table("in a handler, locked", NOTHING);
	(void)unl_cpu();
}

/* Is asked to end while it sleeps, and may not wait any more. */
void other_task(EXINF exinf)
{
	(void)exinf;
	(void)dis_ter();
	(void)slp_tsk();
	asked = true;
	table("in a task that is asked to end", DISPATCHING);
	asked = false;
}

void on_overrun(ID tskid, EXINF exinf)
{
	(void)tskid;
	(void)exinf;
}

void main_task(EXINF exinf)
{
	static const EVERYTHING nothing;
	EVERYTHING before, after;
	(void)exinf;
	told = nothing;
	look(&before);
	table("in a task", DISPATCHING);
	states();
	(void)dis_dsp();
	table("under dis_dsp", IN_TASK);
	(void)ena_dsp();
	(void)chg_ipm(-1);
	table("under chg_ipm", IN_TASK);
	(void)chg_ipm(TIPM_ENAALL);
	(void)loc_cpu();
	table("locked", NOTHING);
	(void)unl_cpu();
	(void)ras_int(INTNO1);
	(void)act_tsk(DORMANT);
	(void)ras_ter(DORMANT);
	look(&after);
	syslog(LOG_NOTICE, "%s", calls > 5000 ? "more than 5000 calls" : "too few calls");
	syslog(LOG_NOTICE, "%d of them gave something else", wrong);
	syslog(LOG_NOTICE, "%s", memcmp(&before, &after, sizeof(before)) == 0 ? "nothing has changed" : "something has changed");
	(void)ext_ker();
}
