// SPDX-License-Identifier: GPL-2.0
/*
 * Texts for the control files: valid ones, mutated, or noise.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "writes.h"

static unsigned long long random_state;

void random_begin(unsigned long long seed)
{
	random_state = seed * 2 + 1;
}

unsigned long long rnd(unsigned long long below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state * 0x2545f4914f6cdd1dULL >> 11) % below;
}

bool one_in(unsigned long long n)
{
	return !rnd(n);
}

void add(char *text, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, TEXT_MAX - used, format, args);
	va_end(args);
}

static void add_number(char *text, unsigned long long min, unsigned long long max)
{
	static const char *const odd[] = {
		"", "-1", "+1", "0x1000", "1e6", "1.5", "18446744073709551616",
		"18446744073709555712", "99999999999999999999999",
		"999999999999999999999999", "000000000000000000065536", "0",
	};

	switch (rnd(8)) {
	case 0:
		add(text, "%llu", min + rnd(3) - 1);
		break;
	case 1:
		add(text, "%llu", (unsigned long long)max + rnd(3) - 1);
		break;
	case 2:
		add(text, "%s", odd[rnd(ARRAY_SIZE(odd))]);
		break;
	case 3:
		add(text, "%0*llu", (int)rnd(26), 1ULL << rnd(64));
		break;
	default:
		add(text, "%llu", min +
				  rnd(one_in(2) ? 100000 : max - min + 1));
		break;
	}
}

static void add_size(char *text, unsigned long long max)
{
	static const char units[] = "KMGTkmgtBQE";
	int unit = rnd(2 * sizeof(units)), shift = unit % 4 * 10 + 10;

	if (unit >= (int)sizeof(units) - 1) {
		add_number(text, 4096, max);
		return;
	}
	/* Some that would be small ones again, were they cut to 64 bits. */
	if (one_in(16))
		add(text, "%llu", (1ULL << (64 - shift)) + 1 + rnd(100));
	else
		add_number(text, 1, max >> shift | 1);
	add(text, "%c", units[unit]);
}

static void add_key(char *text)
{
	static const char *const back[] = {
		"weight=default", "weight=default", "max=max", "max=max",
		"iops=max", "iops=max", "bw=max", "bw",
	};

	switch (rnd(11)) {
	case 0 ... 3:
		add(text, "bw=");
		add_size(text, 1ULL << 40);
		break;
	case 4 ... 5:
		add(text, "burst=");
		add_size(text, 1ULL << 32);
		break;
	case 6:
		add(text, "latency=");
		add_number(text, 1, US_MAX);
		break;
	case 7:
		add(text, "weight=");
		add_number(text, 1, 10000);
		break;
	case 8:
		add(text, "max=");
		add_size(text, 1ULL << 40);
		break;
	case 9:
		add(text, "iops=");
		add_size(text, 1 << 28);
		break;
	default:
		add(text, "%s", back[rnd(ARRAY_SIZE(back))]);
		break;
	}
}

static void add_reservation(char *text)
{
	static const char *const nowhere[] = {
		"0:0", "4095:0", "999999:999999", "8", "8:", ":", "x:y", "",
	};
	static const char *const gaps[] = { " ", "  ", "\t", "", "," };
	int words = rnd(4);

	if (one_in(20))
		add(text, "%s", nowhere[rnd(8)]);
	else
		add(text, "%s", device);
	if (one_in(8)) {
		add(text, " none");
		words = rnd(8) / 7;
	}
	while (words--) {
		add(text, "%s", gaps[one_in(8) ? rnd(5) : rnd(2)]);
		add_key(text);
	}
}

/* A few bytes changed, dropped or doubled; not those before @from. */
static size_t mutate(char *text, size_t len, size_t from)
{
	static const char likely[] = "0123456789 =:-+\n\tKMGTbwxi";
	int times = 1 + rnd(3);

	while (times-- && len > from) {
		size_t at = from + rnd(len - from);

		switch (rnd(4)) {
		case 0:
			text[at] = likely[rnd(sizeof(likely))];
			break;
		case 1:
			text[at] = rnd(256);
			break;
		case 2:
			len--;
			memmove(text + at, text + at + 1, len - at);
			break;
		default:
			if (len < TEXT_MAX - 1) {
				memmove(text + at + 1, text + at, len - at);
				len++;
			}
			break;
		}
	}
	return len;
}

size_t make(int file, char *text)
{
	size_t len, from = 0, i;

	text[0] = '\0';
	if (one_in(20)) {
		len = 1 + rnd(TEXT_MAX - 2);
		for (i = 0; i < len; i++)
			text[i] = rnd(256);
		return len;
	}
	if (file == RESERVATION) {
		add_reservation(text);
		from = strlen(device);
	} else if (file == CAPACITY && one_in(2)) {
		add(text, "0");
	} else {
		add_number(text, number_files[file].min,
			   number_files[file].max);
		if (file == CAPACITY && one_in(2))
			add(text, " force");
	}
	if (one_in(3))
		add(text, "\n");
	len = strlen(text);
	return one_in(3) ? mutate(text, len, from) : len;
}

