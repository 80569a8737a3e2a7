/* The system log. See t_syslog.h. */
#include <stdarg.h>
#include <stdbool.h>
#include <t_stdlib.h>
#include <t_syslog.h>

extern void kernel_print(const char *bytes, size_t length);

#define LONGEST 160

typedef struct { char text[LONGEST]; size_t length; } LINE;

static void put(LINE *line, char c)
{
	if (line->length < LONGEST - 2) {
		line->text[line->length++] = c;
	}
}

/* A conversion: how wide, filled with what, at the left or the right. */
typedef struct { int width; char fill; bool left; } FORM;

static void put_filled(LINE *line, const char *text, size_t length, FORM form)
{
	int room = form.width - (int)length;
	for (; !form.left && room > 0; room--) {
		put(line, form.fill);
	}
	for (size_t i = 0; i < length; i++) {
		put(line, text[i]);
	}
	for (; room > 0; room--) {
		put(line, ' ');
	}
}

static void put_number(LINE *line, unsigned long value, const char *digits, unsigned long base, bool negative, FORM form)
{
	char text[24];
	size_t at = sizeof(text);
	do {
		text[--at] = digits[value % base];
		value /= base;
	} while (value != 0);
	if (negative && form.fill == '0' && !form.left) {
		put(line, '-');
		form.width--;
	}
	else if (negative) {
		text[--at] = '-';
	}
	put_filled(line, text + at, sizeof(text) - at, form);
}

static const char *length_of(const char *text, size_t *length)
{
	text = text == NULL ? "(null)" : text;
	for (*length = 0; text[*length] != '\0'; (*length)++) {
	}
	return text;
}

/* Where the values of a line come from: arguments, each a LOGPAR, or the parameters of a record. */
typedef struct { va_list list; const LOGPAR *next; const LOGPAR *end; } VALUES;

static LOGPAR take(VALUES *values)
{
	if (values->end == NULL) {
		return va_arg(values->list, LOGPAR);
	}
	return values->next < values->end ? *values->next++ : 0;
}

static uint_t printed = LOG_UPTO(LOG_INFO), lowest = LOG_UPTO(LOG_EMERG);

ER syslog_msk_log(uint_t logmask, uint_t lowmask)
{
	printed = logmask;
	lowest = lowmask;
	return E_OK;
}

const char *itron_strerror(ER ercd)
{
	static const struct { ER code; const char *name; } names[] = {
		{ E_SYS, "E_SYS" }, { E_NOSPT, "E_NOSPT" }, { E_RSFN, "E_RSFN" }, { E_RSATR, "E_RSATR" },
		{ E_PAR, "E_PAR" }, { E_ID, "E_ID" }, { E_CTX, "E_CTX" }, { E_MACV, "E_MACV" },
		{ E_OACV, "E_OACV" }, { E_ILUSE, "E_ILUSE" }, { E_NOMEM, "E_NOMEM" }, { E_NOID, "E_NOID" },
		{ E_NORES, "E_NORES" }, { E_OBJ, "E_OBJ" }, { E_NOEXS, "E_NOEXS" }, { E_QOVR, "E_QOVR" },
		{ E_RLWAI, "E_RLWAI" }, { E_TMOUT, "E_TMOUT" }, { E_DLT, "E_DLT" }, { E_CLS, "E_CLS" },
		{ E_RASTER, "E_RASTER" }, { E_WBLK, "E_WBLK" }, { E_BOVR, "E_BOVR" }, { E_COMM, "E_COMM" },
	};
	if (ercd >= E_OK) {
		return "E_OK";
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].code == MERCD(ercd)) {
			return names[i].name;
		}
	}
	return "unknown error";
}

void t_perror(uint_t prio, const char *file, int_t line, const char *expr, ER ercd)
{
	syslog(prio, "%s:%d: '%s' gave %d, %s", file, line, expr, ercd, itron_strerror(ercd));
}

void kernel_assert_failed(const char *expression, const char *file, int_t line)
{
	syslog(LOG_EMERG, "%s:%d: '%s' does not hold", file, line, expression);
	for (;;) {
		(void)ext_ker();
	}
}

static bool is_printed(uint_t prio)
{
	return prio <= LOG_DEBUG && (printed & LOG_MASK(prio)) != 0;
}

static void print(const char *format, VALUES *values)
{
	static const char small[] = "0123456789abcdef", large[] = "0123456789ABCDEF";
	LINE line = { .length = 0 };
	while (*format != '\0') {
		const char *begin = format;
		FORM form = { 0, ' ', false };
		bool is_long = false;
		size_t length;
		if (*format++ != '%') {
			put(&line, *begin);
			continue;
		}
		for (; *format == '-' || *format == '0'; format++) {
			form.left = form.left || *format == '-';
			form.fill = *format == '0' ? '0' : form.fill;
		}
		for (; *format >= '0' && *format <= '9' && form.width < LONGEST; format++) {
			form.width = form.width * 10 + (*format - '0');
		}
		if (*format == 'l' || *format == 't') {
			is_long = true;
			format++;
		}
		switch (*format) {
		case 'd': {
			LOGPAR value = take(values);
			long number = is_long ? (long)value : (int)value;
			unsigned long size = number < 0 ? 0UL - (unsigned long)number : (unsigned long)number;
			put_number(&line, size, small, 10, number < 0, form);
			break;
		}
		case 'u':
		case 'x':
		case 'X': {
			LOGPAR value = take(values);
			unsigned long number = is_long ? (unsigned long)value : (unsigned int)value;
			put_number(&line, number, *format == 'X' ? large : small, *format == 'u' ? 10 : 16, false, form);
			break;
		}
		case 'p':
			put_number(&line, (unsigned long)take(values), small, 16, false, form);
			break;
		case 'c': {
			char c = (char)take(values);
			put_filled(&line, &c, 1, form);
			break;
		}
		case 's': {
			const char *text = length_of((const char *)take(values), &length);
			form.fill = ' ';
			put_filled(&line, text, length, form);
			break;
		}
		case '%':
			put(&line, '%');
			break;
		default:
			/* What is not known stands there as it is. */
			while (begin < format) {
				put(&line, *begin++);
			}
			continue;
		}
		format++;
	}
	line.text[line.length++] = '\n';
	kernel_print(line.text, line.length);
}

void kernel_log(uint_t prio, const char *format, ...)
{
	VALUES values = { .end = NULL };
	if (is_printed(prio)) {
		va_start(values.list, format);
		print(format, &values);
		va_end(values.list);
	}
}

ER syslog_wri_log(uint_t prio, const SYSLOG *p_syslog)
{
	VALUES values = { .next = &p_syslog->logpar[1], .end = &p_syslog->logpar[TNUM_LOGPAR] };
	const char *format = (const char *)p_syslog->logpar[0];
	if (!is_printed(prio)) {
		return E_OK;
	}
	if (p_syslog->logtype == LOG_TYPE_ASSERT) {
		values.next = p_syslog->logpar;
		format = "%s:%d: '%s' does not hold";
	}
	else if (p_syslog->logtype != LOG_TYPE_COMMENT) {
		return E_OK;
	}
	print(format, &values);
	return E_OK;
}

void tt_syslog(SYSLOG *p_syslog, const char *format, va_list ap)
{
	uint_t count = 1;
	p_syslog->logtype = LOG_TYPE_COMMENT;
	p_syslog->logpar[0] = (LOGPAR)format;
	while (*format != '\0' && count < TNUM_LOGPAR) {
		bool is_long = false, is_word = false;
		if (*format++ != '%') {
			continue;
		}
		while (*format == '-' || (*format >= '0' && *format <= '9')) {
			format++;
		}
		if (*format == 'l' || *format == 't') {
			is_word = *format == 't';
			is_long = *format++ == 'l';
		}
		switch (*format) {
		case 'd':
			p_syslog->logpar[count++] = is_word ? va_arg(ap, LOGPAR) : is_long ? (LOGPAR)va_arg(ap, long) : (LOGPAR)va_arg(ap, int);
			break;
		case 'u':
		case 'x':
		case 'X':
			p_syslog->logpar[count++] = is_word ? va_arg(ap, LOGPAR)
			                            : is_long ? (LOGPAR)va_arg(ap, unsigned long)
			                                      : (LOGPAR)va_arg(ap, unsigned int);
			break;
		case 'c':
			p_syslog->logpar[count++] = (LOGPAR)va_arg(ap, int);
			break;
		case 's':
		case 'p':
			p_syslog->logpar[count++] = (LOGPAR)va_arg(ap, void *);
			break;
		case '\0':
			continue;
		default:
			break;
		}
		format++;
	}
}

ER_UINT syslog_rea_log(SYSLOG *p_syslog)
{
	(void)p_syslog;
	return E_OBJ;
}

ER syslog_ref_log(T_SYSLOG_RLOG *pk_rlog)
{
	*pk_rlog = (T_SYSLOG_RLOG){ .count = 0, .lost = 0, .logmask = printed, .lowmask = lowest };
	return E_OK;
}

ER syslog_fls_log(void)
{
	return E_OK;
}
