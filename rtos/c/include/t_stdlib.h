/* The functions of TOPPERS' library that applications use. */
#ifndef KIZAMI_T_STDLIB_H
#define KIZAMI_T_STDLIB_H

#include <t_stddef.h>

#ifndef TOPPERS_MACRO_ONLY
/* The name of an error. */
extern const char *itron_strerror(ER ercd);
#endif /* TOPPERS_MACRO_ONLY */

#endif
