/*
 * The services of the Kizami RTOS under their ITRON names (generation 3: those of TOPPERS ASP3, and for several
 * processors those of FMP3). An application includes this file, and kernel_cfg.h for the names of its objects.
 */
#ifndef KIZAMI_KERNEL_H
#define KIZAMI_KERNEL_H

#include <t_stddef.h>

/* The processors. How many there are, rtos-cfg tells the compiler. */
#ifndef TNUM_PRCID
#define TNUM_PRCID 1
#endif
#define PRC1 1
#if TNUM_PRCID >= 2
#define PRC2 2
#define TOPPERS_SUPPORT_MULTI_PRC
#endif
#define TOPPERS_MASTER_PRCID PRC1
#define TOPPERS_TEPP_PRC ((1U << TNUM_PRCID) - 1U)

#define TKERNEL_MAKER 0
#define TKERNEL_PRID 0
#define TKERNEL_SPVER 0xf630
#define TKERNEL_PRVER 0x0010

#ifndef TOPPERS_MACRO_ONLY
typedef uint_t FLGPTN, INTNO, INHNO, EXCNO;
typedef void (*TASK)(EXINF exinf);
typedef void (*TMEHDR)(EXINF exinf);
typedef void (*ISR)(EXINF exinf);
typedef void (*INTHDR)(void);
typedef void (*EXCHDR)(void *p_excinf);
typedef void (*OVRHDR)(ID tskid, EXINF exinf);
typedef void (*INIRTN)(EXINF exinf);
typedef void (*TERRTN)(EXINF exinf);
typedef uint64_t STK_T, MPF_T;
typedef intptr_t MB_T;
#endif /* TOPPERS_MACRO_ONLY */

/* Attributes. */
#define TA_ACT 0x01U
#define TA_NONKERNEL 0x02U
#define TA_NOACTQUE 0x02U
#define TA_RSTR 0x04U
#define TA_TPRI 0x01U
#define TA_WMUL 0x02U
#define TA_CLR 0x04U
#define TA_CEILING 0x03U
#define TA_INHERIT 0x02U
#define TA_STA 0x02U
#define TA_ENAINT 0x01U
#define TA_EDGE 0x02U
#define TA_NATIVE 0x01U

/* Modes, and states of tasks. */
#define TWF_ORW 0x01U
#define TWF_ANDW 0x02U
#define TTS_RUN 0x01U
#define TTS_RDY 0x02U
#define TTS_WAI 0x04U
#define TTS_SUS 0x08U
#define TTS_WAS 0x0cU
#define TTS_DMT 0x10U
#define TTW_SLP 0x0001U
#define TTW_DLY 0x0002U
#define TTW_SEM 0x0004U
#define TTW_FLG 0x0008U
#define TTW_SDTQ 0x0010U
#define TTW_RDTQ 0x0020U
#define TTW_SPDQ 0x0100U
#define TTW_RPDQ 0x0200U
#define TTW_MTX 0x0080U
#define TTW_SMBF 0x0400U
#define TTW_RMBF 0x0800U
#define TTW_MPF 0x2000U

/* Other values. */
#define TSK_SELF 0
#define TSK_NONE 0
#define TPRI_SELF 0
#define TPRI_INI 0
#define TIPM_ENAALL 0
#define TMAX_INTPRI (-1)
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A'
#define TMIN_INTPRI (-6)
#elif defined(__ARM_ARCH_6M__)
#define TMIN_INTPRI (-3)
#elif defined(__arm__)
#define TMIN_INTPRI (-5)
#else
#define TMIN_INTPRI (-7)
#endif
#define TPRC_INI 0
#define TPRC_NONE 0
#define TMIN_TPRI 1
#define TMAX_TPRI 16
#define TMIN_DPRI 1
#define TMAX_DPRI 16
#define TMIN_ISRPRI 1
#define TMAX_ISRPRI 16
#define TMAX_MAXSEM UINT32_MAX
#define TMIN_ADJTIM (-1000000)
#define TMAX_ADJTIM 1000000
#define TMAX_ACTCNT 1
#define TMAX_WUPCNT 1
#define TBIT_FLGPTN 32
#define TMAX_OVRTIM 4000000000U
#define TOPPERS_SUPPORT_OVRHDR
#define TOPPERS_SUPPORT_DIS_INT
#define TOPPERS_SUPPORT_ENA_INT
#define TOPPERS_SUPPORT_CLR_INT
#define TOPPERS_SUPPORT_RAS_INT
#define TOPPERS_SUPPORT_PRB_INT
#define TOVR_STP 0x01U
#define TOVR_STA 0x02U
#define TCYC_STP 0x01U
#define TCYC_STA 0x02U
#define TALM_STP 0x01U
#define TALM_STA 0x02U
#define TSPN_UNL 0x01U
#define TSPN_LOC 0x02U

/* Memory, in the units that stacks and pools are counted in. */
#define TOPPERS_COUNT_SZ(sz, unit) (((sz) + (unit) - 1) / (unit))
#define TOPPERS_ROUND_SZ(sz, unit) (((sz) + (unit) - 1) & ~((unit) - 1))
#define COUNT_STK_T(sz) TOPPERS_COUNT_SZ(sz, sizeof(STK_T))
#define ROUND_STK_T(sz) TOPPERS_ROUND_SZ(sz, sizeof(STK_T))
#define COUNT_MPF_T(blksz) TOPPERS_COUNT_SZ(blksz, sizeof(MPF_T))
#define ROUND_MPF_T(blksz) TOPPERS_ROUND_SZ(blksz, sizeof(MPF_T))

/* Memory that other kernels manage queues and pools in. This one has its own; what a program names is not used. */
#define TSZ_DTQMB(dtqcnt) (sizeof(MB_T) * (dtqcnt))
#define TCNT_DTQMB(dtqcnt) TOPPERS_COUNT_SZ(TSZ_DTQMB(dtqcnt), sizeof(MB_T))
#define TSZ_PDQMB(pdqcnt) (3 * sizeof(MB_T) * (pdqcnt))
#define TCNT_PDQMB(pdqcnt) TOPPERS_COUNT_SZ(TSZ_PDQMB(pdqcnt), sizeof(MB_T))
#define TSZ_MBFMB(msgcnt, msgsz) ((msgcnt) * (sizeof(uint32_t) + TOPPERS_ROUND_SZ(msgsz, sizeof(uint32_t))))
#define TCNT_MBFMB(msgcnt, msgsz) TOPPERS_COUNT_SZ(TSZ_MBFMB(msgcnt, msgsz), sizeof(MB_T))
#define TSZ_MPFMB(blkcnt) (sizeof(MB_T) * (blkcnt))
#define TCNT_MPFMB(blkcnt) TOPPERS_COUNT_SZ(TSZ_MPFMB(blkcnt), sizeof(MB_T))

/* CPU exceptions, as the port counts them; on this machine they are signals. */
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define EXCNO_NMI 2
#define EXCNO_HARD 3
#define EXCNO_MPU 4
#define EXCNO_BUS 5
#define EXCNO_USAGE 6
#elif defined(__arm__)
#define EXCNO_UNDEF 0
#define EXCNO_SVC 1
#define EXCNO_PABORT 2
#define EXCNO_DABORT 3
#else
#define EXCNO_SIGILL 4
#define EXCNO_SIGTRAP 5
#define EXCNO_SIGBUS 7
#define EXCNO_SIGFPE 8
#define EXCNO_SIGSEGV 11
#endif

#ifndef TOPPERS_MACRO_ONLY
typedef struct t_rtsk {
	STAT tskstat;
	PRI tskpri;
	PRI tskbpri;
	uint_t subpri;
	STAT tskwait;
	ID wobjid;
	TMO lefttmo;
	uint_t actcnt;
	uint_t wupcnt;
	bool_t raster;
	bool_t dister;
	ID prcid;
	ID actprc;
} T_RTSK;
typedef struct t_rsem { ID wtskid; uint_t semcnt; } T_RSEM;
typedef struct t_rflg { ID wtskid; FLGPTN flgptn; } T_RFLG;
typedef struct t_rdtq { ID stskid; ID rtskid; uint_t sdtqcnt; } T_RDTQ;
typedef struct t_rpdq { ID stskid; ID rtskid; uint_t spdqcnt; } T_RPDQ;
typedef struct t_rmtx { ID htskid; ID wtskid; } T_RMTX;
typedef struct t_rmbf { ID stskid; ID rtskid; uint_t smbfcnt; size_t fmbfsz; } T_RMBF;
typedef struct t_rmpf { ID wtskid; uint_t fblkcnt; } T_RMPF;
typedef struct t_rovr { STAT ovrstat; PRCTIM leftotm; } T_ROVR;
typedef struct t_rcyc { STAT cycstat; RELTIM lefttim; ID prcid; } T_RCYC;
typedef struct t_ralm { STAT almstat; RELTIM lefttim; ID prcid; } T_RALM;
typedef struct t_rspn { STAT spnstat; } T_RSPN;

/* Tasks. */
extern ER act_tsk(ID tskid);
extern ER mact_tsk(ID tskid, ID prcid);
extern ER_UINT can_act(ID tskid);
extern ER mig_tsk(ID tskid, ID prcid);
extern ER get_tst(ID tskid, STAT *p_tskstat);
extern ER chg_pri(ID tskid, PRI tskpri);
extern ER chg_spr(ID tskid, uint_t subpri);
extern ER get_pri(ID tskid, PRI *p_tskpri);
extern ER get_inf(EXINF *p_exinf);
extern ER ref_tsk(ID tskid, T_RTSK *pk_rtsk);
extern ER slp_tsk(void);
extern ER tslp_tsk(TMO tmout);
extern ER wup_tsk(ID tskid);
extern ER_UINT can_wup(ID tskid);
extern ER rel_wai(ID tskid);
extern ER sus_tsk(ID tskid);
extern ER rsm_tsk(ID tskid);
extern ER dly_tsk(RELTIM dlytim);
extern ER ext_tsk(void);
extern ER ras_ter(ID tskid);
extern ER dis_ter(void);
extern ER ena_ter(void);
extern bool_t sns_ter(void);
extern ER ter_tsk(ID tskid);

/* Synchronisation and communication. */
extern ER sig_sem(ID semid);
extern ER wai_sem(ID semid);
extern ER pol_sem(ID semid);
extern ER twai_sem(ID semid, TMO tmout);
extern ER ini_sem(ID semid);
extern ER ref_sem(ID semid, T_RSEM *pk_rsem);
extern ER set_flg(ID flgid, FLGPTN setptn);
extern ER clr_flg(ID flgid, FLGPTN clrptn);
extern ER wai_flg(ID flgid, FLGPTN waiptn, MODE wfmode, FLGPTN *p_flgptn);
extern ER pol_flg(ID flgid, FLGPTN waiptn, MODE wfmode, FLGPTN *p_flgptn);
extern ER twai_flg(ID flgid, FLGPTN waiptn, MODE wfmode, FLGPTN *p_flgptn, TMO tmout);
extern ER ini_flg(ID flgid);
extern ER ref_flg(ID flgid, T_RFLG *pk_rflg);
extern ER snd_dtq(ID dtqid, intptr_t data);
extern ER psnd_dtq(ID dtqid, intptr_t data);
extern ER tsnd_dtq(ID dtqid, intptr_t data, TMO tmout);
extern ER fsnd_dtq(ID dtqid, intptr_t data);
extern ER rcv_dtq(ID dtqid, intptr_t *p_data);
extern ER prcv_dtq(ID dtqid, intptr_t *p_data);
extern ER trcv_dtq(ID dtqid, intptr_t *p_data, TMO tmout);
extern ER ini_dtq(ID dtqid);
extern ER ref_dtq(ID dtqid, T_RDTQ *pk_rdtq);
extern ER snd_pdq(ID pdqid, intptr_t data, PRI datapri);
extern ER psnd_pdq(ID pdqid, intptr_t data, PRI datapri);
extern ER tsnd_pdq(ID pdqid, intptr_t data, PRI datapri, TMO tmout);
extern ER rcv_pdq(ID pdqid, intptr_t *p_data, PRI *p_datapri);
extern ER prcv_pdq(ID pdqid, intptr_t *p_data, PRI *p_datapri);
extern ER trcv_pdq(ID pdqid, intptr_t *p_data, PRI *p_datapri, TMO tmout);
extern ER ini_pdq(ID pdqid);
extern ER ref_pdq(ID pdqid, T_RPDQ *pk_rpdq);
extern ER loc_mtx(ID mtxid);
extern ER ploc_mtx(ID mtxid);
extern ER tloc_mtx(ID mtxid, TMO tmout);
extern ER unl_mtx(ID mtxid);
extern ER ini_mtx(ID mtxid);
extern ER ref_mtx(ID mtxid, T_RMTX *pk_rmtx);
extern ER snd_mbf(ID mbfid, const void *msg, uint_t msgsz);
extern ER psnd_mbf(ID mbfid, const void *msg, uint_t msgsz);
extern ER tsnd_mbf(ID mbfid, const void *msg, uint_t msgsz, TMO tmout);
extern ER_UINT rcv_mbf(ID mbfid, void *msg);
extern ER_UINT prcv_mbf(ID mbfid, void *msg);
extern ER_UINT trcv_mbf(ID mbfid, void *msg, TMO tmout);
extern ER ini_mbf(ID mbfid);
extern ER ref_mbf(ID mbfid, T_RMBF *pk_rmbf);
extern ER loc_spn(ID spnid);
extern ER try_spn(ID spnid);
extern ER unl_spn(ID spnid);
extern ER ref_spn(ID spnid, T_RSPN *pk_rspn);

/* Memory pools. */
extern ER get_mpf(ID mpfid, void **p_blk);
extern ER pget_mpf(ID mpfid, void **p_blk);
extern ER tget_mpf(ID mpfid, void **p_blk, TMO tmout);
extern ER rel_mpf(ID mpfid, void *blk);
extern ER ini_mpf(ID mpfid);
extern ER ref_mpf(ID mpfid, T_RMPF *pk_rmpf);

/* Time. */
extern ER set_tim(SYSTIM systim);
extern ER get_tim(SYSTIM *p_systim);
extern ER adj_tim(ADJTIM adjtim);
extern HRTCNT fch_hrt(void);
extern ER sta_cyc(ID cycid);
extern ER msta_cyc(ID cycid, ID prcid);
extern ER stp_cyc(ID cycid);
extern ER ref_cyc(ID cycid, T_RCYC *pk_rcyc);
extern ER sta_alm(ID almid, RELTIM almtim);
extern ER msta_alm(ID almid, RELTIM almtim, ID prcid);
extern ER stp_alm(ID almid);
extern ER ref_alm(ID almid, T_RALM *pk_ralm);
extern ER sta_ovr(ID tskid, PRCTIM ovrtim);
extern ER stp_ovr(ID tskid);
extern ER ref_ovr(ID tskid, T_ROVR *pk_rovr);

/* The system. */
extern ER rot_rdq(PRI tskpri);
extern ER mrot_rdq(ID prcid, PRI tskpri);
extern ER mget_lod(ID prcid, PRI tskpri, uint_t *p_load);
extern ER mget_nth(ID prcid, PRI tskpri, uint_t nth, ID *p_tskid);
extern ER get_tid(ID *p_tskid);
extern ER get_pid(ID *p_prcid);
extern ER get_lod(PRI tskpri, uint_t *p_load);
extern ER get_nth(PRI tskpri, uint_t nth, ID *p_tskid);
extern ER loc_cpu(void);
extern ER unl_cpu(void);
extern ER dis_dsp(void);
extern ER ena_dsp(void);
extern bool_t sns_ctx(void);
extern bool_t sns_loc(void);
extern bool_t sns_dsp(void);
extern bool_t sns_dpn(void);
extern bool_t sns_ker(void);
extern ER ext_ker(void);
extern ER dis_int(INTNO intno);
extern ER ena_int(INTNO intno);
extern ER clr_int(INTNO intno);
extern ER ras_int(INTNO intno);
extern ER_BOOL prb_int(INTNO intno);
extern ER chg_ipm(PRI intpri);
extern ER get_ipm(PRI *p_intpri);
extern bool_t xsns_dpn(void *p_excinf);
/* In the handler of a CPU exception: the address of the instruction that raised it, and where to go on when the handler is
 * left, with all registers as they were. Without xset_pc the instruction is tried again. Only this kernel has these. */
extern uintptr_t xget_pc(void *p_excinf);
extern void xset_pc(void *p_excinf, uintptr_t pc);
#endif /* TOPPERS_MACRO_ONLY */

/* The names that services had in handlers, before generation 3. */
#define iact_tsk act_tsk
#define imact_tsk mact_tsk
#define iwup_tsk wup_tsk
#define irel_wai rel_wai
#define isns_ter sns_ter
#define isig_sem sig_sem
#define iset_flg set_flg
#define ipsnd_dtq psnd_dtq
#define ifsnd_dtq fsnd_dtq
#define ipsnd_pdq psnd_pdq
#define iloc_spn loc_spn
#define itry_spn try_spn
#define iunl_spn unl_spn
#define ifch_hrt fch_hrt
#define iadj_tim adj_tim
#define ista_alm sta_alm
#define imsta_alm msta_alm
#define istp_alm stp_alm
#define ista_ovr sta_ovr
#define istp_ovr stp_ovr
#define irot_rdq rot_rdq
#define imrot_rdq mrot_rdq
#define iget_tid get_tid
#define iget_pid get_pid
#define iloc_cpu loc_cpu
#define iunl_cpu unl_cpu
#define isns_ctx sns_ctx
#define isns_loc sns_loc
#define isns_dsp sns_dsp
#define isns_dpn sns_dpn
#define isns_ker sns_ker
#define iext_ker ext_ker
#define idis_int dis_int
#define iena_int ena_int
#define iclr_int clr_int
#define iras_int ras_int
#define iprb_int prb_int
#define ixsns_dpn xsns_dpn

#endif /* KIZAMI_KERNEL_H */
