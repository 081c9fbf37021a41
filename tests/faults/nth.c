// SPDX-License-Identifier: GPL-2.0
/*
 * nth N [in CGROUP] write STRING FILE | read FILE | mkdir DIRECTORY | insmod FILE
 *
 * Have the Nth allocation of one system call fail, by /proc/thread-self/fail-nth
 * (Documentation/fault-injection). Prints "injected" or, if the call makes fewer than N
 * allocations, "done", and the name of the call's errno or OK.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *buffer;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void put(const char *file, const char *string)
{
	int fd = open(file, O_WRONLY);

	if (fd < 0 || write(fd, string, strlen(string)) < 0)
		die(file);
	close(fd);
}

static int open_target(const char *command, const char *file)
{
	int flags = strcmp(command, "write") ? O_RDONLY : O_WRONLY;
	int fd;

	if (!strncmp(file, "/dev/", 5))
		flags |= O_DIRECT;
	fd = open(file, flags);
	if (fd < 0)
		die(file);
	return fd;
}

/* The system call, and nothing else. */
static long call(const char *command, int fd, const char *text)
{
	switch (*command) {
	case 'w':
		return write(fd, text, strlen(text));
	case 'r':
		return read(fd, buffer, 4096);
	case 'm':
		return mkdir(text, 0755);
	default:
		return syscall(SYS_finit_module, fd, "", 0);
	}
}

int main(int argc, char **argv)
{
	char procs[4096], left[32] = "";
	const char *command, *text;
	int nth, fd = -1, err;
	long result;

	if (argc > 4 && !strcmp(argv[2], "in")) {
		snprintf(procs, sizeof(procs), "%s/cgroup.procs", argv[3]);
		put(procs, "0");
		argv[3] = argv[1];
		argv += 2;
		argc -= 2;
	}
	if (argc < 4 || (argc < 5 && !strcmp(argv[2], "write"))) {
		fprintf(stderr, "usage: nth N [in CGROUP] write|read|mkdir|insmod ARGUMENT...\n");
		return 2;
	}

	command = argv[2];
	text = argv[3];
	if (strcmp(command, "mkdir"))
		fd = open_target(command, argv[argc - 1]);
	/* Aligned for direct I/O, and there before a fault may fail. */
	buffer = aligned_alloc(4096, 4096);
	if (!buffer)
		die("buffer");
	memset(buffer, 1, 4096);
	nth = open("/proc/thread-self/fail-nth", O_RDWR);
	if (nth < 0 || write(nth, argv[1], strlen(argv[1])) < 0)
		die("fail-nth");
	result = call(command, fd, text);
	err = errno;
	if (pread(nth, left, sizeof(left) - 1, 0) < 0 || pwrite(nth, "0", 1, 0) < 0)
		die("fail-nth");
	printf("%s %s\n", atoi(left) ? "done" : "injected",
	       result < 0 ? strerrorname_np(err) : "OK");
	return 0;
}
