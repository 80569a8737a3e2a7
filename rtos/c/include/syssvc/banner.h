/* The banner: a line that names the kernel, before the first task begins. syssvc/banner.cfg attaches it. */
#ifndef KIZAMI_BANNER_H
#define KIZAMI_BANNER_H

#include <kernel.h>

#ifndef TOPPERS_MACRO_ONLY
extern void print_banner(EXINF exinf);
#endif /* TOPPERS_MACRO_ONLY */

#endif
