/*
 * The serial port: one port, which prints and, on this machine, reads what the user types. On a board nothing comes in.
 */
#ifndef KIZAMI_SERIAL_H
#define KIZAMI_SERIAL_H

#include <kernel.h>
#include "target_syssvc.h"

/* How the port treats characters. The terminal does so itself, and these change nothing. */
#define IOCTL_NULL 0U
#define IOCTL_ECHO 0x0001U
#define IOCTL_CRLF 0x0010U
#define IOCTL_FCSND 0x0100U
#define IOCTL_FCANY 0x0200U
#define IOCTL_FCRCV 0x0400U

#ifndef TOPPERS_MACRO_ONLY
typedef struct t_serial_rpor { uint_t reacnt; uint_t wricnt; } T_SERIAL_RPOR;

/* E_ID if there is no such port; E_OBJ if it is open already, or for the others not open; E_CTX where a task may not wait. */
extern ER serial_opn_por(ID portid);
extern ER serial_cls_por(ID portid);
/* Waits until so many characters are there, and gives how many. The port is looked at every ten milliseconds. */
extern ER_UINT serial_rea_dat(ID portid, char *buf, uint_t len);
extern ER_UINT serial_wri_dat(ID portid, const char *buf, uint_t len);
extern ER serial_ctl_por(ID portid, uint_t ioctl);
extern ER serial_ref_por(ID portid, T_SERIAL_RPOR *pk_rpor);
#endif /* TOPPERS_MACRO_ONLY */

#endif
