// SPDX-License-Identifier: GPL-2.0-only
/* Code that the measuring programs share. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common.h"

void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program, what, strerror(errno));
	exit(1);
}

void die_of(const char *what, int error)
{
	errno = -error;
	die(what);
}

void raise_file_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		die("getrlimit");
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("setrlimit");
}

void make_ring(struct io_uring *ring, unsigned int entries)
{
	int error = io_uring_queue_init(entries, ring,
					IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);

	if (error)
		die_of("io_uring_setup", error);
}

unsigned char find_opcode(const char *name)
{
	FILE *list = fopen("/proc/sys/kernel/ringwalk_operations", "re");
	unsigned int number;
	char found[32];

	while (list && fscanf(list, "%31s %u", found, &number) == 2) {
		if (strcmp(found, name))
			continue;
		fclose(list);
		return number;
	}
	fprintf(stderr, "%s: this kernel has no operation %s\n", program, name);
	exit(1);
}

int open_module(void)
{
	struct ringwalk_info info = { .size = sizeof(info) };
	int fd = open("/dev/ringwalk", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("/dev/ringwalk");
	if (ioctl(fd, RINGWALK_IOC_INFO, &info))
		die("RINGWALK_IOC_INFO");
	if (info.magic != RINGWALK_MAGIC || info.version != RINGWALK_VERSION) {
		fprintf(stderr, "%s: /dev/ringwalk: not this module\n", program);
		exit(1);
	}
	return fd;
}

struct completion submit_one(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	struct completion copy;
	int error;

	do
		error = io_uring_submit_and_wait(ring, 1);
	while (error == -EINTR);
	if (error >= 0)
		error = io_uring_peek_cqe(ring, &cqe);
	if (error < 0)
		die_of("io_uring_enter", error);
	copy = (struct completion){ cqe->res, cqe->flags };
	io_uring_cqe_seen(ring, cqe);
	return copy;
}
