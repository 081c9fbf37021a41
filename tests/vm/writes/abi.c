// SPDX-License-Identifier: GPL-2.0
/*
 * What the ABI pages say of the control files: which texts are accepted, and
 * what is read then.
 */
#include <stdint.h>
#include <string.h>

#include "writes.h"

#define DIGITS_MAX	23	/* longer numbers are refused, whatever they say */

const struct number_file number_files[NUMBERS] = {
	{ "t_wait_us",		0,	1000000 },
	{ "late_one_in",	10,	100000 },
	{ "late_one_in_writes",	10,	100000 },
	{ "default_bw",		4096,	1ULL << 40 },
	{ "default_burst",	4096,	1ULL << 32 },
	{ "default_latency_us",	1,	US_MAX },
	{ "capacity_bw",	0,	1ULL << 50 },
	{ "capacity_request",	4096,	UINT32_MAX },
};

/* What the kernel takes for white space. */
static bool space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == (char)0xa0;
}

/* Decimal digits, all of them; false if they are none or too many. */
static bool number(const char *text, size_t digits, unsigned long long *value)
{
	*value = 0;
	if (!digits)
		return false;
	for (; digits; digits--, text++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, *text - '0', value))
			return false;
	return true;
}

static size_t digits_of(const char *text)
{
	return strspn(text, "0123456789");
}

static bool is_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(text, word, len) &&
	       (!text[len] || !strcmp(text + len, "\n"));
}

static bool take_number(struct state *next, int file, const char *text)
{
	size_t digits = digits_of(text);
	bool force = file == CAPACITY && is_word(text + digits, " force");

	if (file == CAPACITY && digits > DIGITS_MAX)
		return false;
	if (!is_word(text + digits, "") && !force)
		return false;
	return number(text, digits, &next->number[file]) &&
	       next->number[file] >= number_files[file].min &&
	       next->number[file] <= number_files[file].max;
}

static bool take_size(const char *text, bool suffix, unsigned long long *value)
{
	static const char units[] = "kmgt";
	size_t digits = digits_of(text);
	const char *unit;

	if (digits > DIGITS_MAX || !number(text, digits, value))
		return false;
	text += digits;
	if (!*text)
		return true;
	unit = strchr(units, *text | 0x20);
	if (!suffix || !unit || !*unit || text[1])
		return false;
	for (; unit >= units; unit--)
		if (__builtin_mul_overflow(*value, 1024, value))
			return false;
	return true;
}

/* A rate, or that there is none. */
static bool take_rate(const char *text, unsigned long long *value)
{
	if (!strcmp(text, "max")) {
		*value = 0;
		return true;
	}
	return take_size(text, true, value) && *value;
}

/**
 * struct named - what a first reservation has to name
 * @bw: the bandwidth was
 * @iops: the operations were
 */
struct named {
	bool bw;
	bool iops;
};

static bool take_word(struct state *next, const char *word, struct named *named)
{
	if (!strncmp(word, "bw=", 3)) {
		named->bw = true;
		return take_rate(word + 3, &next->bw);
	}
	if (!strncmp(word, "iops=", 5)) {
		named->iops = true;
		return take_rate(word + 5, &next->iops) &&
		       next->iops <= 1 << 28;
	}
	if (!strncmp(word, "burst=", 6))
		return take_size(word + 6, true, &next->burst);
	if (!strncmp(word, "latency=", 8))
		return take_size(word + 8, false, &next->latency) &&
		       next->latency <= US_MAX;
	if (!strcmp(word, "weight=default")) {
		next->weight = 0;
		return true;
	}
	if (!strncmp(word, "weight=", 7))
		return take_size(word + 7, false, &next->weight) &&
		       next->weight >= 1 && next->weight <= 10000;
	if (!strncmp(word, "max=", 4))
		return take_rate(word + 4, &next->max);
	return false;
}

/* MAJ:MIN, a space, and the rest; NULL if it is not our disk's. */
static char *after_device(char *text)
{
	size_t len = strlen(device);

	if (strncmp(text, device, len))
		return NULL;
	/* A zero may have more of them. */
	while (!strcmp(device + strlen(device) - 2, ":0") && text[len] == '0')
		len++;
	if (!space(text[len]))
		return NULL;
	for (text += len; space(*text); text++)
		;
	return text;
}

/* The numbers of a reservation are in range, and go together. */
static bool in_range(const struct state *next)
{
	unsigned long long least = next->bw ? next->bw : next->iops * 4096;

	return least >= 4096 && least <= 1ULL << 40 &&
	       next->burst >= 4096 && next->burst <= 1ULL << 32 &&
	       next->latency >= 1 && next->latency <= US_MAX &&
	       (!next->max || (next->max >= least && next->max <= 1ULL << 40));
}

static bool take_reservation(struct state *next, char *text)
{
	bool none = false, some = false;
	size_t len = strlen(text);
	struct named named = {};
	char *word;

	while (len && space(text[len - 1]))
		text[--len] = '\0';
	while (space(*text))
		text++;
	text = after_device(text);
	if (!text)
		return false;

	if (!next->own) {
		next->bw = next->number[DEFAULT_BW];
		next->burst = next->number[DEFAULT_BURST];
		next->latency = next->number[DEFAULT_LATENCY];
		next->weight = 0;
		next->max = 0;
		next->iops = 0;
	}
	while ((word = strsep(&text, " \t"))) {
		if (!*word)
			continue;
		if (!strcmp(word, "none"))
			none = true;
		else if (take_word(next, word, &named))
			some = true;
		else
			return false;
	}
	if (none == some)
		return false;
	if (some && !next->own && !named.bw) {
		if (!named.iops)
			return false;
		next->bw = 0;
	}
	next->own = some;
	return none || in_range(next);
}

bool take(struct state *next, int file, char *text)
{
	if (file == RESERVATION)
		return take_reservation(next, text);
	return take_number(next, file, text);
}

void expected(const struct state *state, int file, char *text)
{
	unsigned long long promised = state->number[DEFAULT_BW];

	text[0] = '\0';
	if (file == PROMISED) {
		if (state->own)
			promised += state->bw ? state->bw :
				    state->iops * state->number[REQUEST];
		add(text, "%llu\n", promised);
	} else if (file == RESERVATION) {
		const unsigned long long *n = state->number;

		add(text, "%s bw=", device);
		if (state->own && !state->bw)
			add(text, "max");
		else
			add(text, "%llu", state->own ? state->bw : n[DEFAULT_BW]);
		add(text, " burst=%llu latency=%llu",
		    state->own ? state->burst : n[DEFAULT_BURST],
		    state->own ? state->latency : n[DEFAULT_LATENCY]);
		if (state->own && state->weight)
			add(text, " weight=%llu", state->weight);
		if (state->own && state->max)
			add(text, " max=%llu", state->max);
		if (state->own && state->iops)
			add(text, " iops=%llu", state->iops);
		add(text, state->own ? "\n" : " default\n");
	} else {
		add(text, "%llu\n", state->number[file]);
	}
}

