/* Histograms of measured times. See syssvc/histogram.h. */
#include <t_syslog.h>
#include <syssvc/histogram.h>

typedef struct { HRTCNT begin; uint_t bins[HIST_MAX_TIME + 1]; uint_t over; } HISTOGRAM;

static HISTOGRAM histograms[TNUM_HISTID];

static HISTOGRAM *of(ID histid)
{
	return histid >= 1 && histid <= TNUM_HISTID ? &histograms[histid - 1] : NULL;
}

ER init_hist(ID histid)
{
	HISTOGRAM *histogram = of(histid);
	if (histogram == NULL) {
		return E_ID;
	}
	*histogram = (HISTOGRAM){ .over = 0 };
	return E_OK;
}

ER begin_measure(ID histid)
{
	HISTOGRAM *histogram = of(histid);
	if (histogram == NULL) {
		return E_ID;
	}
	histogram->begin = fch_hrt();
	return E_OK;
}

ER end_measure(ID histid)
{
	HRTCNT end = fch_hrt(), time;
	HISTOGRAM *histogram = of(histid);
	if (histogram == NULL) {
		return E_ID;
	}
	time = end - histogram->begin;
	if (time <= HIST_MAX_TIME) {
		histogram->bins[time]++;
	}
	else {
		histogram->over++;
	}
	return E_OK;
}

ER print_hist(ID histid)
{
	const HISTOGRAM *histogram = of(histid);
	if (histogram == NULL) {
		return E_ID;
	}
	for (uint_t time = 0; time <= HIST_MAX_TIME; time++) {
		if (histogram->bins[time] > 0) {
			syslog(LOG_NOTICE, "%d : %d", time, histogram->bins[time]);
		}
	}
	if (histogram->over > 0) {
		syslog(LOG_NOTICE, "> %d : %d", HIST_MAX_TIME, histogram->over);
	}
	return E_OK;
}
