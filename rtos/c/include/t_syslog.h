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

/* Prints a line. Knows %d, %u, %x, %X, %p, %c, %s and %%, with l for long, and a width, 0 and - before it. What it does
 * not know it prints as it stands. LOG_DEBUG is not printed. */
extern void syslog(uint_t prio, const char *format, ...);

#endif
