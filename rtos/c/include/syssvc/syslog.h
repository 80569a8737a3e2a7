/* The system log: see t_syslog.h. A message is printed at once, so no task is needed for it. */
#include <t_syslog.h>
