// SPDX-License-Identifier: GPL-2.0-only
/* Code that the measuring programs share. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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

/*
 * Returns whether @opcode reads a directory as getdents64(2) does. Other operations up to Linux 7.3
 * refuse this entry and do nothing, as reads_directories() of ../tests/lib/transport.c says.
 */
static bool reads_directories(struct io_uring *ring, unsigned char opcode)
{
	static char expected[BUFFER], got[BUFFER];
	int plain = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int tried = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long bytes = syscall(SYS_getdents64, plain, expected, sizeof(expected));
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	if (bytes <= 0)
		die("/");
	io_uring_prep_rw(opcode, sqe, tried, got, sizeof(got), -1);
	close(plain);
	bytes = submit_one(ring).res == bytes ? bytes : 0;
	close(tried);
	return bytes && !memcmp(expected, got, bytes);
}

struct opcodes find_opcodes(struct io_uring *ring)
{
	struct io_uring_probe *probe;
	struct opcodes found;

	probe = io_uring_get_probe_ring(ring);
	if (!probe)
		die("IORING_REGISTER_PROBE");
	found.readahead = probe->last_op;
	found.readtree = probe->last_op - 1;
	found.readdirplus = probe->last_op - 2;
	found.getdents = probe->last_op - 3;
	io_uring_free_probe(probe);
	/* The entry says nothing about operations that Linux 6.1 has, up to number 48. */
	if (found.getdents <= 48 || !reads_directories(ring, found.getdents)) {
		fprintf(stderr, "%s: no directory operations in this kernel\n", program);
		exit(1);
	}
	return found;
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
