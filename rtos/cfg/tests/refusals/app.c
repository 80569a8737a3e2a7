/* Every service with a number that no object has, and with every value that it does not take. Each gives the error of the
 * standard, and none changes anything. */
#include "app.h"
#include <limits.h>
#include <string.h>
#include <t_syslog.h>

static int_t calls, wrong;

/* Not called through a macro of its own name: what was asked is printed if the answer is another one. */
static void expect(ER expected, ER gave, const char *what, int_t line)
{
	calls++;
	if (gave != expected) {
		wrong++;
		syslog(LOG_ERROR, "line %d: %s gave %d, not %d", line, what, gave, expected);
	}
}
#define REFUSED(error, call) expect(error, (ER)(call), #call, __LINE__)

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
static EVERYTHING told;

/* Numbers of tasks that there are not. TSK_SELF is one that there is, in a task. */
static void tasks(ID id)
{
	REFUSED(E_ID, act_tsk(id));
	REFUSED(E_ID, mact_tsk(id, TPRC_INI));
	REFUSED(E_ID, can_act(id));
	REFUSED(E_ID, mig_tsk(id, TPRC_INI));
	REFUSED(E_ID, get_tst(id, &state));
	REFUSED(E_ID, chg_pri(id, 5));
	REFUSED(E_ID, get_pri(id, &priority));
	REFUSED(E_ID, ref_tsk(id, &told.task));
	REFUSED(E_ID, wup_tsk(id));
	REFUSED(E_ID, can_wup(id));
	REFUSED(E_ID, rel_wai(id));
	REFUSED(E_ID, sus_tsk(id));
	REFUSED(E_ID, rsm_tsk(id));
	REFUSED(E_ID, ras_ter(id));
	REFUSED(E_ID, ter_tsk(id));
	REFUSED(E_ID, sta_ovr(id, 1000));
	REFUSED(E_ID, stp_ovr(id));
	REFUSED(E_ID, ref_ovr(id, &told.ovr));
}

static void objects(ID id)
{
	REFUSED(E_ID, sig_sem(id));
	REFUSED(E_ID, wai_sem(id));
	REFUSED(E_ID, pol_sem(id));
	REFUSED(E_ID, twai_sem(id, 1));
	REFUSED(E_ID, ini_sem(id));
	REFUSED(E_ID, ref_sem(id, &told.sem));
	REFUSED(E_ID, set_flg(id, 1));
	REFUSED(E_ID, clr_flg(id, 0));
	REFUSED(E_ID, wai_flg(id, 1, TWF_ORW, &pattern));
	REFUSED(E_ID, pol_flg(id, 1, TWF_ORW, &pattern));
	REFUSED(E_ID, twai_flg(id, 1, TWF_ORW, &pattern, 1));
	REFUSED(E_ID, ini_flg(id));
	REFUSED(E_ID, ref_flg(id, &told.flg));
	REFUSED(E_ID, snd_dtq(id, 1));
	REFUSED(E_ID, psnd_dtq(id, 1));
	REFUSED(E_ID, tsnd_dtq(id, 1, 1));
	REFUSED(E_ID, fsnd_dtq(id, 1));
	REFUSED(E_ID, rcv_dtq(id, &word));
	REFUSED(E_ID, prcv_dtq(id, &word));
	REFUSED(E_ID, trcv_dtq(id, &word, 1));
	REFUSED(E_ID, ini_dtq(id));
	REFUSED(E_ID, ref_dtq(id, &told.dtq));
	REFUSED(E_ID, snd_pdq(id, 1, 1));
	REFUSED(E_ID, psnd_pdq(id, 1, 1));
	REFUSED(E_ID, tsnd_pdq(id, 1, 1, 1));
	REFUSED(E_ID, rcv_pdq(id, &word, &priority));
	REFUSED(E_ID, prcv_pdq(id, &word, &priority));
	REFUSED(E_ID, trcv_pdq(id, &word, &priority, 1));
	REFUSED(E_ID, ini_pdq(id));
	REFUSED(E_ID, ref_pdq(id, &told.pdq));
	REFUSED(E_ID, loc_mtx(id));
	REFUSED(E_ID, ploc_mtx(id));
	REFUSED(E_ID, tloc_mtx(id, 1));
	REFUSED(E_ID, unl_mtx(id));
	REFUSED(E_ID, ini_mtx(id));
	REFUSED(E_ID, ref_mtx(id, &told.mtx));
	REFUSED(E_ID, snd_mbf(id, message, 1));
	REFUSED(E_ID, psnd_mbf(id, message, 1));
	REFUSED(E_ID, tsnd_mbf(id, message, 1, 1));
	REFUSED(E_ID, rcv_mbf(id, message));
	REFUSED(E_ID, prcv_mbf(id, message));
	REFUSED(E_ID, trcv_mbf(id, message, 1));
	REFUSED(E_ID, ini_mbf(id));
	REFUSED(E_ID, ref_mbf(id, &told.mbf));
	REFUSED(E_ID, get_mpf(id, &block));
	REFUSED(E_ID, pget_mpf(id, &block));
	REFUSED(E_ID, tget_mpf(id, &block, 1));
	REFUSED(E_ID, rel_mpf(id, message));
	REFUSED(E_ID, ini_mpf(id));
	REFUSED(E_ID, ref_mpf(id, &told.mpf));
	REFUSED(E_ID, sta_cyc(id));
	REFUSED(E_ID, msta_cyc(id, TPRC_INI));
	REFUSED(E_ID, stp_cyc(id));
	REFUSED(E_ID, ref_cyc(id, &told.cyc));
	REFUSED(E_ID, sta_alm(id, 1000));
	REFUSED(E_ID, msta_alm(id, 1000, TPRC_INI));
	REFUSED(E_ID, stp_alm(id));
	REFUSED(E_ID, ref_alm(id, &told.alm));
	REFUSED(E_ID, loc_spn(id));
	REFUSED(E_ID, try_spn(id));
	REFUSED(E_ID, unl_spn(id));
}

static void processors(ID id)
{
	REFUSED(E_ID, mact_tsk(DORMANT, id));
	REFUSED(E_ID, mig_tsk(TSK_SELF, id));
	REFUSED(E_ID, msta_cyc(CYC, id));
	REFUSED(E_ID, msta_alm(ALM, 1000, id));
}

static void priorities(PRI pri)
{
	REFUSED(E_PAR, chg_pri(TSK_SELF, pri));
	REFUSED(E_PAR, rot_rdq(pri));
	REFUSED(E_PAR, get_lod(pri, &load));
	REFUSED(E_PAR, get_nth(pri, 0, &number));
}

/* Neither a time nor TMO_FEVR. */
static void times(TMO tmo)
{
	REFUSED(E_PAR, tslp_tsk(tmo));
	REFUSED(E_PAR, dly_tsk(tmo));
	REFUSED(E_PAR, twai_sem(SEM, tmo));
	REFUSED(E_PAR, twai_flg(FLG, 1, TWF_ORW, &pattern, tmo));
	REFUSED(E_PAR, tsnd_dtq(DTQ, 1, tmo));
	REFUSED(E_PAR, trcv_dtq(DTQ, &word, tmo));
	REFUSED(E_PAR, tsnd_pdq(PDQ, 1, 1, tmo));
	REFUSED(E_PAR, trcv_pdq(PDQ, &word, &priority, tmo));
	REFUSED(E_PAR, tloc_mtx(MTX, tmo));
	REFUSED(E_PAR, tsnd_mbf(MBF, message, 1, tmo));
	REFUSED(E_PAR, trcv_mbf(MBF, message, tmo));
	REFUSED(E_PAR, tget_mpf(MPF, &block, tmo));
	REFUSED(E_PAR, sta_alm(ALM, tmo));
	REFUSED(E_PAR, msta_alm(ALM, tmo, TPRC_INI));
	REFUSED(E_PAR, sta_ovr(TSK_SELF, tmo));
}

static void values(void)
{
	MODE mode;
	PRI pri;
	REFUSED(E_PAR, wai_flg(FLG, 0, TWF_ORW, &pattern));
	REFUSED(E_PAR, pol_flg(FLG, 0, TWF_ANDW, &pattern));
	REFUSED(E_PAR, twai_flg(FLG, 0, TWF_ANDW, &pattern, 1));
	for (mode = 0; mode < 8; mode++) {
		if (mode != TWF_ANDW && mode != TWF_ORW) {
			REFUSED(E_PAR, wai_flg(FLG, 1, mode, &pattern));
			REFUSED(E_PAR, pol_flg(FLG, 1, mode, &pattern));
			REFUSED(E_PAR, twai_flg(FLG, 1, mode, &pattern, 1));
		}
	}
	for (pri = -1; pri <= 20; pri++) {
		if (pri < 1 || pri > 4) {
			REFUSED(E_PAR, snd_pdq(PDQ, 1, pri));
			REFUSED(E_PAR, psnd_pdq(PDQ, 1, pri));
			REFUSED(E_PAR, tsnd_pdq(PDQ, 1, pri, 1));
		}
	}
	REFUSED(E_PAR, snd_mbf(MBF, message, 0));
	REFUSED(E_PAR, psnd_mbf(MBF, message, 9));
	REFUSED(E_PAR, tsnd_mbf(MBF, message, UINT_MAX, 1));
	REFUSED(E_PAR, rel_mpf(MPF, NULL));
	REFUSED(E_PAR, rel_mpf(MPF, message));
	REFUSED(E_PAR, adj_tim(TMAX_ADJTIM + 1));
	REFUSED(E_PAR, adj_tim(TMIN_ADJTIM - 1));
	REFUSED(E_PAR, adj_tim(INT_MIN));
	REFUSED(E_PAR, chg_ipm(1));
	REFUSED(E_PAR, chg_ipm(-100));
	REFUSED(E_PAR, chg_ipm(INT_MIN));
	REFUSED(E_PAR, dis_int(9999));
	REFUSED(E_PAR, ena_int(UINT_MAX));
	REFUSED(E_PAR, clr_int(9999));
	REFUSED(E_PAR, ras_int(9999));
	REFUSED(E_PAR, prb_int(9999));
	REFUSED(E_PAR, sta_ovr(TSK_SELF, 0));
}

/* What an object is not in the state for. */
static void states(void)
{
	REFUSED(E_OBJ, get_pri(DORMANT, &priority));
	REFUSED(E_OBJ, chg_pri(DORMANT, 5));
	REFUSED(E_OBJ, wup_tsk(DORMANT));
	REFUSED(E_OBJ, can_wup(DORMANT));
	REFUSED(E_OBJ, rel_wai(DORMANT));
	REFUSED(E_OBJ, rel_wai(MAIN_TASK));
	REFUSED(E_OBJ, sus_tsk(DORMANT));
	REFUSED(E_OBJ, rsm_tsk(DORMANT));
	REFUSED(E_OBJ, rsm_tsk(MAIN_TASK));
	REFUSED(E_OBJ, ter_tsk(DORMANT));
	REFUSED(E_OBJ, ras_ter(DORMANT));
	REFUSED(E_ILUSE, ter_tsk(MAIN_TASK));
	REFUSED(E_ILUSE, ras_ter(MAIN_TASK));
	REFUSED(E_OBJ, unl_mtx(MTX));
	REFUSED(E_ILUSE, unl_spn(SPN));
	REFUSED(E_TMOUT, prcv_dtq(DTQ, &word));
	REFUSED(E_TMOUT, prcv_pdq(PDQ, &word, &priority));
	REFUSED(E_TMOUT, prcv_mbf(MBF, message));
	REFUSED(E_TMOUT, pol_flg(FLG, 2, TWF_ANDW, &pattern));
}

void other_task(EXINF exinf)
{
	(void)exinf;
}

void on_overrun(ID tskid, EXINF exinf)
{
	(void)tskid;
	(void)exinf;
}

void main_task(EXINF exinf)
{
	/* Each kind has one object, tasks have two. */
	static const ID none[] = { -1, 3, 100, INT_MAX, INT_MIN };
	static const PRI no_priority[] = { -1, TMAX_TPRI + 1, INT_MAX, INT_MIN };
	static const EVERYTHING nothing;
	EVERYTHING before, after;
	uint_t i;
	(void)exinf;
	told = nothing;
	look(&before);
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		tasks(none[i]);
		objects(none[i]);
		processors(none[i]);
	}
	objects(0);
	objects(2);
	for (i = 0; i < sizeof(no_priority) / sizeof(no_priority[0]); i++) {
		priorities(no_priority[i]);
	}
	times(TMAX_RELTIM + 1);
	times(TMO_FEVR - 1);
	values();
	states();
	look(&after);
	syslog(LOG_NOTICE, "%s", calls > 600 ? "more than 600 calls" : "too few calls");
	syslog(LOG_NOTICE, "%d of them gave something else", wrong);
	syslog(LOG_NOTICE, "%s", memcmp(&before, &after, sizeof(before)) == 0 ? "nothing has changed" : "something has changed");
	(void)ext_ker();
}
