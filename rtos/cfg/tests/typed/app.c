/* Reading the serial port: reads what is typed, as many characters at a time as -D says. */
#include "app.h"
#include <t_syslog.h>
#include "syssvc/serial.h"
#include "kernel_cfg.h"

void main_task(EXINF exinf)
{
	char text[LENGTH + 1] = { 0 };
	(void)exinf;
	(void)serial_opn_por(SIO_PORTID);
	for (int i = 0; i < 2; i++) {
		ER_UINT length = serial_rea_dat(SIO_PORTID, text, LENGTH);
		syslog(LOG_NOTICE, "%s %s: %d", GREETING, text, length);
	}
	(void)dly_tsk(10000);
	syslog(LOG_NOTICE, "others ran: %d", pol_sem(RAN) == E_OK);
	(void)ext_ker();
}
