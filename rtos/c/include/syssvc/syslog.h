/* The messages of an application: see t_syslog.h. They are printed at once, so that there is no task for them. */
#include <t_syslog.h>
