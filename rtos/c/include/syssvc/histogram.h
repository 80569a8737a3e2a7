/*
 * Histograms of measured times, in microseconds. A histogram has a bin for each time up to HIST_MAX_TIME; what is longer is
 * counted, and printed as such.
 */
#ifndef KIZAMI_HISTOGRAM_H
#define KIZAMI_HISTOGRAM_H

#include <kernel.h>

/* Histograms have the numbers from 1. */
#define TNUM_HISTID 4
#define HIST_MAX_TIME 1000

#ifndef TOPPERS_MACRO_ONLY
/* E_ID if there is no such histogram. The caller sees to it that nobody else uses the histogram meanwhile. */
extern ER init_hist(ID histid);
extern ER begin_measure(ID histid);
extern ER end_measure(ID histid);
extern ER print_hist(ID histid);
#endif /* TOPPERS_MACRO_ONLY */

#endif
