// SPDX-License-Identifier: GPL-2.0
/*
 * writes SEED COUNT IOSCHED CGROUP MAJ:MIN TRACE: random writes to the tunables
 * in the directory IOSCHED and to io.htbs in CGROUP, for a disk and a group
 * that no other process configures.  TRACE is ftrace's pipe with the events of
 * whatever is configured.
 *
 * The texts are valid ones, mutated, or noise.  What each has to do is known
 * here, from the ABI's words: it is refused and nothing has changed, nor has the
 * scheduler applied anything, or it is accepted and what is read then is
 * what was written, in the form that the ABI promises.  Ends with 1 and says
 * what was written at the first that does not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writes.h"

#define ALL_EVERY	64	/* writes after which all files are read */

const char *device;

static struct state state;
static const char *iosched, *cgroup;
static unsigned long writes, accepted;
static int trace;

static void path_of(int file, char *path)
{
	const char *name = file == PROMISED ? "promised_bw" :
			   file == RESERVATION ? "io.htbs" :
			   number_files[file].name;

	snprintf(path, TEXT_MAX, "%s/%s",
		 file == RESERVATION ? cgroup : iosched, name);
}

static void show(const char *what, const char *text, size_t len)
{
	printf("%s: '", what);
	for (; len; len--, text++)
		printf(*text >= ' ' && *text <= '~' ? "%c" : "\\x%02x",
		       (unsigned char)*text);
	printf("'\n");
}

static bool check(int file)
{
	char path[TEXT_MAX], want[TEXT_MAX], got[TEXT_MAX];
	int fd;
	ssize_t n;

	path_of(file, path);
	expected(&state, file, want);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, got, sizeof(got) - 1);
	close(fd);
	got[n < 0 ? 0 : n] = '\0';
	if (n >= 0 && !strcmp(got, want))
		return true;
	printf("%s: error %d\n", path, n < 0 ? errno : 0);
	show("read", got, strlen(got));
	show("expected", want, strlen(want));
	return false;
}

/* Has the scheduler applied a change since the last call? */
static bool applied(void)
{
	char events[4096];
	bool any = false;

	while (read(trace, events, sizeof(events)) > 0)
		any = true;
	return any;
}

/* A capacity may refuse what is good; if it has to is for the admission's tests. */
static bool right_errno(const struct state *next, int file, bool good, int err)
{
	bool capacity = state.number[CAPACITY] || next->number[CAPACITY];

	if (!good)
		return err == EINVAL || (file == RESERVATION && err == ENODEV);
	return !err || (err == ENOSPC && capacity);
}

static bool try(int file)
{
	char path[TEXT_MAX], text[TEXT_MAX], copy[TEXT_MAX];
	size_t len = make(file, text);
	struct state next = state;
	bool good, changed;
	int fd, err;

	if (!len)
		return true;
	path_of(file, path);
	memcpy(copy, text, len);
	copy[len] = '\0';
	good = take(&next, file, copy);

	fd = open(path, O_WRONLY);
	err = fd >= 0 && write(fd, text, len) == (ssize_t)len ? 0 : errno;
	close(fd);
	writes++;
	if (!right_errno(&next, file, good, err)) {
		printf("%s: error %d, which is wrong\n", path, err);
		show("written", text, len);
		return false;
	}
	changed = applied();
	if (err && changed) {
		printf("%s: refused, and yet something was configured\n", path);
		show("written", text, len);
		return false;
	}
	if (!err) {
		accepted++;
		state = next;
	}
	if (check(file) && check(PROMISED))
		return true;
	show("written", text, len);
	return false;
}

static bool check_all(void)
{
	int file;

	for (file = 0; file < FILES; file++)
		if (!check(file))
			return false;
	return true;
}

/* A state that is known. */
static bool begin(void)
{
	static const unsigned long long first[NUMBERS] = {
		10000, 1000, 100, 1048576, 1048576, 1000000, 0, 4096,
	};
	char path[TEXT_MAX], text[TEXT_MAX];
	int file, fd;

	memcpy(state.number, first, sizeof(first));
	for (file = 0; file < FILES; file++) {
		if (file == PROMISED)
			continue;
		path_of(file, path);
		if (file == RESERVATION)
			snprintf(text, sizeof(text), "%s none", device);
		else
			expected(&state, file, text);
		fd = open(path, O_WRONLY);
		if (fd < 0 || write(fd, text, strlen(text)) < 0) {
			printf("%s: error %d\n", path, errno);
			return false;
		}
		close(fd);
	}
	if (!applied()) {
		printf("the trace has no events\n");
		return false;
	}
	return check_all();
}

int main(int argc, char **argv)
{
	unsigned long count;

	if (argc != 7) {
		fprintf(stderr, "usage: writes SEED COUNT IOSCHED CGROUP MAJ:MIN TRACE\n");
		return 2;
	}
	random_begin(strtoull(argv[1], NULL, 10));
	count = strtoul(argv[2], NULL, 10);
	iosched = argv[3];
	cgroup = argv[4];
	device = argv[5];
	trace = open(argv[6], O_RDONLY | O_NONBLOCK);
	if (trace < 0) {
		perror(argv[6]);
		return 2;
	}
	if (!begin())
		return 1;

	while (writes < count) {
		int file = one_in(2) ? RESERVATION : (int)rnd(NUMBERS);

		if (!try(file) || (writes % ALL_EVERY == 0 && !check_all())) {
			printf("write %lu of seed %s\n", writes, argv[1]);
			return 1;
		}
	}
	printf("%lu writes, %lu accepted\n", writes, accepted);
	return !check_all();
}
