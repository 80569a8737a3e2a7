/* The serial port. See syssvc/serial.h. */
#include <syssvc/serial.h>

/* What the user has typed, up to so many characters: how many there were. Does not wait. */
extern uint_t kernel_read(char *text, uint_t length);
extern void kernel_print(const char *bytes, size_t length);

#define PAUSE 10000U

static bool_t is_open;

static ER check(ID portid)
{
	if (sns_dpn()) {
		return E_CTX;
	}
	return portid != SIO_PORTID ? E_ID : is_open ? E_OK : E_OBJ;
}

ER serial_opn_por(ID portid)
{
	ER ercd = check(portid);
	if (ercd == E_OBJ) {
		is_open = true;
		return E_OK;
	}
	return ercd == E_OK ? E_OBJ : ercd;
}

ER serial_cls_por(ID portid)
{
	ER ercd = check(portid);
	if (ercd == E_OK) {
		is_open = false;
	}
	return ercd;
}

ER_UINT serial_rea_dat(ID portid, char *buf, uint_t len)
{
	ER ercd = check(portid);
	uint_t count = 0;
	while (ercd == E_OK && count < len) {
		uint_t more = kernel_read(buf + count, len - count);
		count += more;
		if (more == 0) {
			ercd = dly_tsk(PAUSE);
		}
	}
	return ercd == E_OK ? (ER_UINT)count : ercd;
}

ER_UINT serial_wri_dat(ID portid, const char *buf, uint_t len)
{
	ER ercd = check(portid);
	if (ercd != E_OK) {
		return ercd;
	}
	if (len > 0) {
		kernel_print(buf, len);
	}
	return (ER_UINT)len;
}

ER serial_ctl_por(ID portid, uint_t ioctl)
{
	(void)ioctl;
	return check(portid);
}

ER serial_ref_por(ID portid, T_SERIAL_RPOR *pk_rpor)
{
	ER ercd = check(portid);
	if (ercd == E_OK) {
		pk_rpor->reacnt = 0;
		pk_rpor->wricnt = 0;
	}
	return ercd;
}
