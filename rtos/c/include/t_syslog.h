/* Messages of an application, to whatever the port has for words. */
#ifndef KIZAMI_SYSLOG_H
#define KIZAMI_SYSLOG_H

#include <kernel.h>

#define LOG_EMERG 0U
#define LOG_ALERT 1U
#define LOG_CRIT 2U
#define LOG_ERROR 3U
#define LOG_WARNING 4U
#define LOG_NOTICE 5U
#define LOG_INFO 6U
#define LOG_DEBUG 7U

#define LOG_MASK(prio) (1U << (prio))
#define LOG_UPTO(prio) ((1U << ((prio) + 1)) - 1U)

#ifndef TOPPERS_MACRO_ONLY

/* Prints a line. Knows %d, %u, %x, %X, %p, %c, %s and %%, with l for long, and a width, 0 and - before it. What it does
 * not know it prints as it stands. LOG_DEBUG is not printed, unless syslog_msk_log says so. */
extern void syslog(uint_t prio, const char *format, ...);
#define syslog_0(prio, format) syslog(prio, format)
#define syslog_1(prio, format, a) syslog(prio, format, a)
#define syslog_2(prio, format, a, b) syslog(prio, format, a, b)
#define syslog_3(prio, format, a, b, c) syslog(prio, format, a, b, c)
#define syslog_4(prio, format, a, b, c, d) syslog(prio, format, a, b, c, d)
#define syslog_5(prio, format, a, b, c, d, e) syslog(prio, format, a, b, c, d, e)

/* Which priorities are printed: LOG_UPTO(LOG_INFO) at first. There is no buffer, so that the second is not used. */
extern ER syslog_msk_log(uint_t logmask, uint_t lowmask);

/* Prints that an expression gave an error, and which. */
extern void t_perror(uint_t prio, const char *file, int_t line, const char *expr, ER ercd);

#endif /* TOPPERS_MACRO_ONLY */

#endif
