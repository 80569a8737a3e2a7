/* The system log: messages of an application, printed to the terminal of the port. */
#ifndef KIZAMI_SYSLOG_H
#define KIZAMI_SYSLOG_H

#include <kernel.h>
#ifndef TOPPERS_MACRO_ONLY
#include <stdarg.h>
#endif

#define LOG_EMERG 0U
#define LOG_ALERT 1U
#define LOG_CRIT 2U
#define LOG_ERROR 3U
#define LOG_WARNING 4U
#define LOG_NOTICE 5U
#define LOG_INFO 6U
#define LOG_DEBUG 7U

/* The types of a log record. A comment is printed as its format says, an assertion as one that does not hold; the kernel
 * makes no other ones. */
#define LOG_TYPE_COMMENT 0x01U
#define LOG_TYPE_ASSERT 0x02U

#define LOG_MASK(prio) (1U << (prio))
#define LOG_UPTO(prio) ((1U << ((prio) + 1)) - 1U)

#ifndef TOPPERS_MACRO_ONLY

/* What is printed, whatever it is: it is cast to this. */
typedef intptr_t LOGPAR;
typedef uintptr_t ULOGPAR;
typedef HRTCNT LOGTIM;

/* A log record. Of a comment, the first parameter is the format. */
#define TNUM_LOGPAR 6
typedef struct {
	uint_t logtype;
	LOGTIM logtim;
	ID prcid;
	LOGPAR logpar[TNUM_LOGPAR];
} SYSLOG;

/* Prints a line, of up to eight values. Knows %d, %u, %x, %X, %p, %c, %s and %%, with l for long or t for a LOGPAR, and a
 * width, 0 and - before that. What it does not know it prints as it stands. LOG_DEBUG is not printed, unless
 * syslog_msk_log says so. */
#define syslog(prio, ...)                                                                                    \
	KERNEL_LOG_PICK(__VA_ARGS__, syslog_8, syslog_7, syslog_6, syslog_5, syslog_4, syslog_3, syslog_2,       \
	                syslog_1, syslog_0, unused)(prio, __VA_ARGS__)
#define KERNEL_LOG_PICK(f, a, b, c, d, e, g, h, i, name, ...) name
#define syslog_0(prio, f) kernel_log(prio, f)
#define syslog_1(prio, f, a) kernel_log(prio, f, (LOGPAR)(a))
#define syslog_2(prio, f, a, b) kernel_log(prio, f, (LOGPAR)(a), (LOGPAR)(b))
#define syslog_3(prio, f, a, b, c) kernel_log(prio, f, (LOGPAR)(a), (LOGPAR)(b), (LOGPAR)(c))
#define syslog_4(prio, f, a, b, c, d) kernel_log(prio, f, (LOGPAR)(a), (LOGPAR)(b), (LOGPAR)(c), (LOGPAR)(d))
#define syslog_5(prio, f, a, b, c, d, e)                                                                     \
	kernel_log(prio, f, (LOGPAR)(a), (LOGPAR)(b), (LOGPAR)(c), (LOGPAR)(d), (LOGPAR)(e))
#define syslog_6(prio, f, a, b, c, d, e, g)                                                                  \
	kernel_log(prio, f, (LOGPAR)(a), (LOGPAR)(b), (LOGPAR)(c), (LOGPAR)(d), (LOGPAR)(e), (LOGPAR)(g))
#define syslog_7(prio, f, a, b, c, d, e, g, h)                                                               \
	kernel_log(prio, f, (LOGPAR)(a), (LOGPAR)(b), (LOGPAR)(c), (LOGPAR)(d), (LOGPAR)(e), (LOGPAR)(g), (LOGPAR)(h))
#define syslog_8(prio, f, a, b, c, d, e, g, h, i)                                                            \
	kernel_log(prio, f, (LOGPAR)(a), (LOGPAR)(b), (LOGPAR)(c), (LOGPAR)(d), (LOGPAR)(e), (LOGPAR)(g), (LOGPAR)(h), \
	           (LOGPAR)(i))
extern void kernel_log(uint_t prio, const char *format, ...);

/* Prints a record at once. Fills in its time and its processor nowhere: the record is the caller's. */
extern ER syslog_wri_log(uint_t prio, const SYSLOG *p_syslog);
#define syslog_write(prio, p_syslog) ((void)syslog_wri_log(prio, p_syslog))
/* Makes the record of a format with its arguments, of which five are kept, for functions with arguments of their own. */
extern void tt_syslog(SYSLOG *p_syslog, const char *format, va_list ap);

/* Nothing is kept, since everything is printed at once: syslog_rea_log gives E_OBJ, and syslog_fls_log has nothing to do. */
typedef struct t_syslog_rlog { uint_t count; uint_t lost; uint_t logmask; uint_t lowmask; } T_SYSLOG_RLOG;
extern ER_UINT syslog_rea_log(SYSLOG *p_syslog);
extern ER syslog_ref_log(T_SYSLOG_RLOG *pk_rlog);
extern ER syslog_fls_log(void);
/* Which priorities are printed: LOG_UPTO(LOG_INFO) at first. There is no buffer, so that the second is kept and not used. */
extern ER syslog_msk_log(uint_t logmask, uint_t lowmask);

/* Prints that an expression gave an error, and which. */
extern void t_perror(uint_t prio, const char *file, int_t line, const char *expr, ER ercd);

#endif /* TOPPERS_MACRO_ONLY */

#endif
