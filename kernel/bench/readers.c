// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ways to read a directory: the system call, the module by ioctl and by a ring, the patched
 * kernel's operations.
 *
 * All fill the same buffer, and ask for the same fields of every entry. Each call waits for its
 * result. On a ring the module runs the request inline, and the operations try to.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "readers.h"
#include "statx.h"
#include "trees.h"
#include "xattrs.h"

uint32_t buffer_size = BUFFER;
bool with_xattrs;

/* Unused pages cost nothing. */
static _Alignas(8) char buffer[BUFFER_MOST];
static struct io_uring ring;
static unsigned char opcode;
static int module;

static void start_module(void)
{
	module = open_module();
}

static void start_module_ring(void)
{
	int error;

	module = open_module();
	make_ring(&ring, 4);
	/* The device is a registered file of the ring, as callers would have it. */
	error = io_uring_register_files(&ring, &module, 1);
	if (error)
		die_of("IORING_REGISTER_FILES", error);
}

static void start_getdents(void)
{
	make_ring(&ring, 4);
	opcode = find_opcode("GETDENTS");
}

static void start_readdirplus(void)
{
	make_ring(&ring, 4);
	opcode = find_opcode("READDIRPLUS");
}

static struct batch fill_syscall(int fd)
{
	long filled = syscall(SYS_getdents64, fd, buffer, buffer_size);

	if (filled < 0)
		die("getdents64");
	return (struct batch){ buffer, filled, filled == 0 };
}

static struct ringwalk_getdents names_request(int fd)
{
	return (struct ringwalk_getdents){
		.size = sizeof(struct ringwalk_getdents),
		.flags = RINGWALK_F_INLINE,
		.fd = fd,
		.len = buffer_size,
		.buf = (uintptr_t)buffer,
		.off = RINGWALK_OFF_CURRENT,
	};
}

static struct ringwalk_readdirplus plus_request(int fd)
{
	return (struct ringwalk_readdirplus){
		.size = sizeof(struct ringwalk_readdirplus),
		.flags = RINGWALK_F_INLINE | (with_xattrs ? RINGWALK_F_XATTR_ALL : 0),
		.fd = fd,
		.len = buffer_size,
		.buf = (uintptr_t)buffer,
		.off = RINGWALK_OFF_CURRENT,
		.fields.mask = WANTED,
		.fields.xattr_value_max = XATTR_VALUE_BYTES,
		.fields.xattr_entry_max = XATTR_ENTRY_BYTES,
	};
}

static struct batch done(const char *what, int filled, uint32_t flags)
{
	if (filled < 0)
		die_of(what, filled);
	return (struct batch){ buffer, filled, filled == 0 || flags & RINGWALK_RESULT_END };
}

static int by_ioctl(unsigned long command, void *request)
{
	int filled = ioctl(module, command, request);

	return filled < 0 ? -errno : filled;
}

static int by_ring(unsigned int command, void *request)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
	struct ringwalk_sqe payload = { .request = (uintptr_t)request };

	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, 0, NULL, 0, 0);
	sqe->flags = IOSQE_FIXED_FILE;
	sqe->cmd_op = command;
	memcpy(sqe->cmd, &payload, sizeof(payload));
	return submit_one(&ring).res;
}

static struct batch fill_names_ioctl(int fd)
{
	struct ringwalk_getdents request = names_request(fd);
	int filled = by_ioctl(RINGWALK_IOC_GETDENTS, &request);

	return done("RINGWALK_IOC_GETDENTS", filled, request.result_flags);
}

static struct batch fill_names_ring(int fd)
{
	struct ringwalk_getdents request = names_request(fd);
	int filled = by_ring(RINGWALK_IOC_GETDENTS, &request);

	return done("RINGWALK_IOC_GETDENTS on a ring", filled, request.result_flags);
}

static struct batch fill_plus_ioctl(int fd)
{
	struct ringwalk_readdirplus request = plus_request(fd);
	int filled = by_ioctl(RINGWALK_IOC_READDIRPLUS, &request);

	return done("RINGWALK_IOC_READDIRPLUS", filled, request.result_flags);
}

static struct batch fill_plus_ring(int fd)
{
	struct ringwalk_readdirplus request = plus_request(fd);
	int filled = by_ring(RINGWALK_IOC_READDIRPLUS, &request);

	return done("RINGWALK_IOC_READDIRPLUS on a ring", filled, request.result_flags);
}

static struct batch operation(const char *what)
{
	struct completion got = submit_one(&ring);

	return done(what, got.res, got.flags & CQE_DIR_END ? RINGWALK_RESULT_END : 0);
}

static struct batch fill_names_opcode(int fd)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	io_uring_prep_rw(opcode, sqe, fd, buffer, buffer_size, (uint64_t)RINGWALK_OFF_CURRENT);
	return operation("IORING_OP_GETDENTS");
}

static struct batch fill_plus_opcode(int fd)
{
	struct readdirplus_args arguments = {
		.flags = with_xattrs ? READDIRPLUS_XATTR_ALL : 0,
		.mask = WANTED,
		.xattr_value_max = XATTR_VALUE_BYTES,
		.xattr_entry_max = XATTR_ENTRY_BYTES,
	};
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	io_uring_prep_rw(opcode, sqe, fd, buffer, buffer_size, (uint64_t)RINGWALK_OFF_CURRENT);
	sqe->addr3 = (uintptr_t)&arguments;
	return operation("IORING_OP_READDIRPLUS");
}

static void start_nothing(void)
{
}

static void start_statx(void)
{
	start_getdents();
	statx_start(false);
}

static void start_statx_async(void)
{
	start_getdents();
	statx_start(true);
}

const struct reader readers[] = {
	{ "names", "syscall", NAMES, start_nothing, fill_syscall },
	{ "names", "ioctl", NAMES, start_module, fill_names_ioctl },
	{ "names", "ring", NAMES, start_module_ring, fill_names_ring },
	{ "names", "opcode", NAMES, start_getdents, fill_names_opcode },
	{ "stat", "syscall", NAMES, start_nothing, fill_syscall },
	{ "stat", "ioctl", PLUS, start_module, fill_plus_ioctl },
	{ "stat", "ring", PLUS, start_module_ring, fill_plus_ring },
	{ "stat", "opcode", PLUS, start_readdirplus, fill_plus_opcode },
	{ "xattrs", "syscall", NAMES, start_nothing, fill_syscall },
	{ "xattrs", "ioctl", PLUS, start_module, fill_plus_ioctl },
	{ "xattrs", "ring", PLUS, start_module_ring, fill_plus_ring },
	{ "xattrs", "opcode", PLUS, start_readdirplus, fill_plus_opcode },
	{ "stat", "statx", NAMES_STATX, start_statx, fill_names_opcode },
	{ "stat", "statx-async", NAMES_STATX, start_statx_async, fill_names_opcode },
	{ "stat", "statx-sorted", NAMES_STATX_SORTED, start_statx, fill_names_opcode },
	{ "stat", "tree", PLUS, start_trees, NULL },
	{ 0 },
};

const struct reader *find_reader(const char *what, const char *how)
{
	for (const struct reader *each = readers; each->what; each++)
		if (!strcmp(each->what, what) && !strcmp(each->how, how))
			return each;
	return NULL;
}
