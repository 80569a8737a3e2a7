/* See t_syslog.h. */
#include <stdarg.h>
#include <t_stdlib.h>
#include <t_syslog.h>

extern void kernel_print(const char *text);

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

static uint_t printed = LOG_UPTO(LOG_INFO);

ER syslog_msk_log(uint_t logmask, uint_t lowmask)
{
	(void)lowmask;
	printed = logmask;
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
		{ E_RASTER, "E_RASTER" }, { E_WBLK, "E_WBLK" }, { E_BOVR, "E_BOVR" },
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].code == MERCD(ercd)) {
			return names[i].name;
		}
	}
	return "no error that is known";
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

void kernel_log(uint_t prio, const char *format, ...)
{
	static const char small[] = "0123456789abcdef", large[] = "0123456789ABCDEF";
	LINE line = { .length = 0 };
	va_list arguments;
	if (prio > LOG_DEBUG || (printed & LOG_MASK(prio)) == 0) {
		return;
	}
	va_start(arguments, format);
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
			LOGPAR value = va_arg(arguments, LOGPAR);
			long number = is_long ? (long)value : (int)value;
			unsigned long size = number < 0 ? 0UL - (unsigned long)number : (unsigned long)number;
			put_number(&line, size, small, 10, number < 0, form);
			break;
		}
		case 'u':
		case 'x':
		case 'X': {
			LOGPAR value = va_arg(arguments, LOGPAR);
			unsigned long number = is_long ? (unsigned long)value : (unsigned int)value;
			put_number(&line, number, *format == 'X' ? large : small, *format == 'u' ? 10 : 16, false, form);
			break;
		}
		case 'p':
			put_number(&line, (unsigned long)va_arg(arguments, LOGPAR), small, 16, false, form);
			break;
		case 'c': {
			char c = (char)va_arg(arguments, LOGPAR);
			put_filled(&line, &c, 1, form);
			break;
		}
		case 's': {
			const char *text = length_of((const char *)va_arg(arguments, LOGPAR), &length);
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
	va_end(arguments);
	line.text[line.length++] = '\n';
	line.text[line.length] = '\0';
	kernel_print(line.text);
}
