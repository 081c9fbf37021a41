// SPDX-License-Identifier: GPL-2.0
/*
 * put STRING FILE: write STRING with one write(2) and print the name of the errno, or OK.
 *
 * Shells buffer, add a newline and hide the errno; a test of a control file wants neither.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t len;
	ssize_t n;
	int fd;

	if (argc != 3) {
		fprintf(stderr, "usage: put STRING FILE\n");
		return 2;
	}

	len = strlen(argv[1]);
	fd = open(argv[2], O_WRONLY);
	n = fd < 0 ? -1 : write(fd, argv[1], len);
	if (n < 0)
		puts(strerrorname_np(errno));
	else if ((size_t)n < len)
		printf("SHORT %zd\n", n);
	else
		puts("OK");

	return n < 0 || (size_t)n < len;
}
