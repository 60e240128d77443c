// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sys.h"
#include "test.h"
#include "transport.h"

/* A patched kernel has this file, with the name and the number of an operation in each line. */
#define OPERATIONS_PATH	"/proc/sys/kernel/ringwalk_operations"

static const char *const names[TRANSPORTS] = { "ioctl", "inline", "worker", "async", "opcode", "opcode-async" };

const char *transport_name(enum transport_kind kind)
{
	return names[kind];
}

bool transport_by_name(const char *name, enum transport_kind *kind)
{
	for (*kind = 0; *kind < TRANSPORTS; (*kind)++)
		if (!strcmp(name, names[*kind]))
			return true;
	return false;
}

bool transport_is_opcode(enum transport_kind kind)
{
	return kind == TRANSPORT_OPCODE || kind == TRANSPORT_OPCODE_ASYNC;
}

bool transport_in_task(enum transport_kind kind)
{
	return kind == TRANSPORT_IOCTL || kind == TRANSPORT_INLINE;
}

static const char *const opcode_names[OPCODES] = { "GETDENTS", "READDIRPLUS" };

const char *transport_opcode_name(enum opcode opcode)
{
	return opcode_names[opcode];
}

/*
 * The numbers of the operations that were found; no operation of the patches has number 0. They are
 * read once, because a test may change to a root without /proc.
 */
static struct {
	unsigned int number[OPCODES], count;
} found;

static void find_opcodes(void)
{
	FILE *list = found.count ? NULL : fopen(OPERATIONS_PATH, "re");
	char name[32];
	unsigned int number;

	if (!list)
		return;
	while (fscanf(list, "%31s %u", name, &number) == 2) {
		for (unsigned int i = 0; i < OPCODES; i++) {
			if (strcmp(name, opcode_names[i]))
				continue;
			found.number[i] = number;
			found.count++;
		}
	}
	fclose(list);
}

unsigned int transport_opcodes(void)
{
	find_opcodes();
	return found.count;
}

unsigned int transport_opcode(enum opcode opcode)
{
	find_opcodes();
	return opcode < OPCODES ? found.number[opcode] : 0;
}

bool transport_has(enum transport_kind kind, enum opcode opcode)
{
	return !transport_is_opcode(kind) || transport_opcode(opcode);
}

bool transport_available(enum transport_kind kind)
{
	struct ring ring;

	if (transport_is_opcode(kind))
		return transport_opcodes() > 0;
	if (kind != TRANSPORT_IOCTL) {
		if (ring_open(&ring, 4, 0))
			return false;
		ring_close(&ring);
	}
	return access(DEVICE_PATH, F_OK) == 0;
}

static int kept_device = -1;

void transport_keep_device(void)
{
	if (kept_device < 0)
		kept_device = open(DEVICE_PATH, O_RDWR | O_CLOEXEC);
}

void transport_open(struct transport *transport, enum transport_kind kind, unsigned int entries)
{
	int error;

	memset(transport, 0, sizeof(*transport));
	transport->kind = kind;
	transport->ring.fd = -1;
	transport->device = -1;
	if (!transport_is_opcode(kind)) {
		transport->device = kept_device < 0 ? open(DEVICE_PATH, O_RDWR | O_CLOEXEC) : dup(kept_device);
		if (transport->device < 0)
			test_skip("%s: %s", DEVICE_PATH, strerror(errno));
	}
	if (kind == TRANSPORT_IOCTL)
		return;
	error = ring_open(&transport->ring, entries ? entries : 8, 0);
	if (error)
		test_skip("no io_uring: %s", strerror(-error));
	if (!transport_is_opcode(kind))
		return;
	if (!transport_opcodes())
		test_skip("the kernel has no operations for directories");
	transport->args = calloc(transport->ring.entries, sizeof(*transport->args));
	MUST(transport->args);
}

void transport_close(struct transport *transport)
{
	ring_close(&transport->ring);
	if (transport->device >= 0)
		close(transport->device);
	transport->device = -1;
	free(transport->args);
	transport->args = NULL;
}

static void fill_command(struct transport *transport, struct io_uring_sqe *sqe, unsigned int command, uint64_t request)
{
	struct ringwalk_sqe payload = { .request = request };

	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = transport->device;
	sqe->cmd_op = command;
	memcpy(sqe->cmd, &payload, sizeof(payload));
	if (transport->kind == TRANSPORT_ASYNC)
		sqe->flags |= IOSQE_ASYNC;
}

static struct opcode_readdirplus_args opcode_args(const struct ringwalk_fields *fields)
{
	return (struct opcode_readdirplus_args){
		.mask = fields->mask,
		.stat_flags = fields->stat_flags,
		.xattr_names = fields->xattr_names,
		.xattr_names_len = fields->xattr_names_len,
		.xattr_value_max = fields->xattr_value_max,
		.xattr_entry_max = fields->xattr_entry_max,
	};
}

static void fill_readdirplus(struct transport *transport, struct io_uring_sqe *sqe, const struct ringwalk_readdirplus *request)
{
	struct opcode_readdirplus_args *args = &transport->args[ring_index(&transport->ring, sqe)];

	*args = opcode_args(&request->fields);
	args->flags = request->flags & RINGWALK_F_XATTR_ALL ? OPCODE_XATTR_ALL : 0;
	args->max_entries = request->max_entries;
	sqe->fd = request->fd;
	sqe->addr = request->buf;
	sqe->len = request->len;
	sqe->off = request->off;
	sqe->addr3 = (uintptr_t)args;
}

static enum opcode opcode_of(unsigned int command)
{
	switch (command) {
	case RINGWALK_IOC_GETDENTS:
		return OPCODE_GETDENTS;
	case RINGWALK_IOC_READDIRPLUS:
		return OPCODE_READDIRPLUS;
	}
	test_stop(__FILE__, __LINE__, "command 0x%x has no opcode", command);
}

static void fill_opcode(struct transport *transport, struct io_uring_sqe *sqe, unsigned int command, void *request)
{
	enum opcode opcode = opcode_of(command);
	struct ringwalk_getdents *dents = request;

	if (!transport_has(transport->kind, opcode))
		test_stop(__FILE__, __LINE__, "the kernel lacks %s, and the test does not say that it needs it", opcode_names[opcode]);
	if (transport->kind == TRANSPORT_OPCODE_ASYNC)
		sqe->flags |= IOSQE_ASYNC;
	sqe->opcode = transport_opcode(opcode);
	switch (opcode) {
	case OPCODE_READDIRPLUS:
		fill_readdirplus(transport, sqe, request);
		return;
	default:
		sqe->fd = dents->fd;
		sqe->addr = dents->buf;
		sqe->len = dents->len;
		sqe->off = dents->off;
	}
}

/* Every request begins with its size and its flags. */
static void set_inline(struct transport *transport, void *request)
{
	struct ringwalk_getdents *any = request;

	if (transport->kind == TRANSPORT_INLINE)
		any->flags |= RINGWALK_F_INLINE;
	else
		any->flags &= ~RINGWALK_F_INLINE;
}

void transport_fill(struct transport *transport, struct io_uring_sqe *sqe, unsigned int command, void *request)
{
	if (transport_is_opcode(transport->kind)) {
		fill_opcode(transport, sqe, command, request);
		return;
	}
	if (command != RINGWALK_IOC_INFO)
		set_inline(transport, request);
	fill_command(transport, sqe, command, (uintptr_t)request);
}

bool transport_queue(struct transport *transport, unsigned int command, void *request, uint64_t user_data)
{
	struct io_uring_sqe *sqe = ring_entry(&transport->ring);

	if (!sqe)
		return false;
	transport_fill(transport, sqe, command, request);
	sqe->user_data = user_data;
	return true;
}

/* The opcode does not return the number of its records. */
static uint32_t count_records(const struct ringwalk_readdirplus *request, int bytes)
{
	const char *at = (const char *)(uintptr_t)request->buf, *end = at + bytes;
	uint32_t count = 0;

	while (at < end) {
		uint32_t reclen = ((const struct ringwalk_entry *)at)->reclen;

		if (reclen < sizeof(struct ringwalk_entry) || reclen > end - at)
			return UINT32_MAX;
		at += reclen;
		count++;
	}
	return count;
}

void transport_finish(struct transport *transport, unsigned int command, void *request, const struct io_uring_cqe *cqe)
{
	uint32_t flags = cqe->flags & IORING_CQE_F_DIR_END ? RINGWALK_RESULT_END : 0;

	if (!transport_is_opcode(transport->kind) || cqe->res < 0)
		return;
	switch (command) {
	case RINGWALK_IOC_GETDENTS:
		((struct ringwalk_getdents *)request)->result_flags = flags;
		return;
	case RINGWALK_IOC_READDIRPLUS:
		((struct ringwalk_readdirplus *)request)->result_flags = flags;
		((struct ringwalk_readdirplus *)request)->entries = count_records(request, cqe->res);
		return;
	}
}

static long submit_and_wait(struct transport *transport, struct io_uring_cqe *cqe)
{
	int error = ring_wait(&transport->ring, cqe);

	if (error)
		test_stop(__FILE__, __LINE__, "io_uring_enter: %s", strerror(-error));
	return cqe->res;
}

long transport_call(struct transport *transport, unsigned int command, void *request)
{
	struct io_uring_cqe cqe;
	long result;

	if (transport->kind == TRANSPORT_IOCTL)
		return transport_call_raw(transport, command, (uintptr_t)request);
	MUST(transport_queue(transport, command, request, 1));
	result = submit_and_wait(transport, &cqe);
	transport_finish(transport, command, request, &cqe);
	return result;
}

long transport_call_raw(struct transport *transport, unsigned int command, uint64_t request)
{
	struct io_uring_sqe *sqe;
	struct io_uring_cqe cqe;
	int ret;

	if (transport->kind == TRANSPORT_IOCTL) {
		ret = ioctl(transport->device, command, request);
		return ret < 0 ? -errno : ret;
	}
	sqe = ring_entry(&transport->ring);
	MUST(sqe);
	fill_command(transport, sqe, command, request);
	return submit_and_wait(transport, &cqe);
}
