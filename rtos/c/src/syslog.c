/* See t_syslog.h. */
#include <stdarg.h>
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

static void put_number(LINE *line, unsigned long value, unsigned long base, bool negative, int width, char fill)
{
	char digits[24];
	int count = 0;
	do {
		digits[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value != 0);
	if (negative) {
		digits[count++] = '-';
	}
	for (; width > count; width--) {
		put(line, fill);
	}
	while (count > 0) {
		put(line, digits[--count]);
	}
}

void syslog(uint_t prio, const char *format, ...)
{
	LINE line = { .length = 0 };
	va_list arguments;
	if (prio >= LOG_DEBUG) {
		return;
	}
	va_start(arguments, format);
	for (; *format != '\0'; format++) {
		bool is_long = false;
		int width = 0;
		char fill = ' ';
		if (*format != '%') {
			put(&line, *format);
			continue;
		}
		format++;
		if (*format == '0') {
			fill = '0';
		}
		for (; *format >= '0' && *format <= '9'; format++) {
			width = width * 10 + (*format - '0');
		}
		if (*format == 'l') {
			is_long = true;
			format++;
		}
		if (*format == 'd') {
			long value = is_long ? va_arg(arguments, long) : va_arg(arguments, int);
			unsigned long size = value < 0 ? 0UL - (unsigned long)value : (unsigned long)value;
			put_number(&line, size, 10, value < 0, width, fill);
		}
		else if (*format == 'u' || *format == 'x') {
			unsigned long value = is_long ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned int);
			put_number(&line, value, *format == 'u' ? 10 : 16, false, width, fill);
		}
		else if (*format == 'c') {
			put(&line, (char)va_arg(arguments, int));
		}
		else if (*format == 's') {
			const char *text = va_arg(arguments, const char *);
			while (*text != '\0') {
				put(&line, *text++);
			}
		}
		else if (*format == '%') {
			put(&line, '%');
		}
		else {
			break;
		}
	}
	va_end(arguments);
	line.text[line.length++] = '\n';
	line.text[line.length] = '\0';
	kernel_print(line.text);
}
