// SPDX-License-Identifier: GPL-2.0
/*
 * visit write|read DISK OFFSET DIRECTORY COUNT
 *
 * From each of the cgroups 1 to COUNT below DIRECTORY write a block to the disk, where no other's
 * is, or read it back and compare it with what was written. The blocks begin at OFFSET, in bytes.
 * I/O of several cgroups is outstanding at a time.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCK		4096
#define UNDER_WAY	64

struct visit {
	struct iocb iocb;
	unsigned int group;
	unsigned int *block;
};

static struct visit visits[UNDER_WAY];
static struct visit *unused[UNDER_WAY];
static unsigned int nr_unused;
static aio_context_t context;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* What word number i of the group's block is. */
static unsigned int word(unsigned int group, unsigned int i)
{
	return group * 2654435761u + i;
}

static void enter(const char *directory, unsigned int group)
{
	char procs[4096];
	int fd;

	snprintf(procs, sizeof(procs), "%s/%u/cgroup.procs", directory, group);
	fd = open(procs, O_WRONLY);
	if (fd < 0 || write(fd, "0", 1) != 1)
		die(procs);
	close(fd);
}

static void submit(struct visit *visit, int disk, int opcode, long long offset)
{
	struct iocb *iocb = &visit->iocb;
	unsigned int i;

	for (i = 0; i < BLOCK / sizeof(int); i++)
		visit->block[i] = opcode == IOCB_CMD_PWRITE ? word(visit->group, i) : 0;
	memset(iocb, 0, sizeof(*iocb));
	iocb->aio_data = (uintptr_t)visit;
	iocb->aio_lio_opcode = opcode;
	iocb->aio_fildes = disk;
	iocb->aio_buf = (uintptr_t)visit->block;
	iocb->aio_nbytes = BLOCK;
	iocb->aio_offset = offset;
	if (syscall(SYS_io_submit, context, 1, &iocb) != 1)
		die("io_submit");
}

/* The block is the group's, if it was written or read. */
static void judge(const struct visit *visit, long long result)
{
	unsigned int i;

	if (result != BLOCK) {
		fprintf(stderr, "group %u: %lld instead of %d bytes\n", visit->group, result,
			BLOCK);
		exit(1);
	}
	for (i = 0; i < BLOCK / sizeof(int); i++) {
		if (visit->block[i] == word(visit->group, i))
			continue;
		fprintf(stderr, "group %u: word %u is %#x, not %#x\n", visit->group, i,
			visit->block[i], word(visit->group, i));
		exit(1);
	}
}

/* Wait for at least one. */
static void reap(void)
{
	struct io_event events[UNDER_WAY];
	long i, count = syscall(SYS_io_getevents, context, 1, UNDER_WAY, events, NULL);

	if (count < 1)
		die("io_getevents");
	for (i = 0; i < count; i++) {
		struct visit *visit = (struct visit *)(uintptr_t)events[i].data;

		judge(visit, events[i].res);
		unused[nr_unused++] = visit;
	}
}

int main(int argc, char **argv)
{
	unsigned int count, group, i;
	long long offset;
	int disk, opcode;

	if (argc != 6) {
		fprintf(stderr, "usage: visit write|read DISK OFFSET DIRECTORY COUNT\n");
		return 2;
	}
	opcode = strcmp(argv[1], "write") ? IOCB_CMD_PREAD : IOCB_CMD_PWRITE;
	offset = atoll(argv[3]);
	count = atoi(argv[5]);
	disk = open(argv[2], O_RDWR | O_DIRECT);
	if (disk < 0)
		die(argv[2]);
	if (syscall(SYS_io_setup, UNDER_WAY, &context))
		die("io_setup");
	for (i = 0; i < UNDER_WAY; i++) {
		visits[i].block = aligned_alloc(BLOCK, BLOCK);
		if (!visits[i].block)
			die("buffer");
		unused[nr_unused++] = &visits[i];
	}

	for (group = 1; group <= count; group++) {
		struct visit *visit;

		if (!nr_unused)
			reap();
		visit = unused[--nr_unused];
		visit->group = group;
		enter(argv[4], group);
		submit(visit, disk, opcode, offset + (long long)group * BLOCK);
	}
	while (nr_unused < UNDER_WAY)
		reap();
	return 0;
}
