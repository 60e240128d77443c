// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sys.h"
#include "test.h"
#include "transport.h"

/* IORING_OP_SENDMSG_ZC, the last operation of the oldest kernel that the tests run on. */
#define LAST_OPCODE_6_1	48

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

#define TRIAL_LEN	8192

/*
 * Returns true if @opcode reads a directory as getdents64(2) does.
 *
 * Any other operation up to Linux 7.3 refuses this entry when it is submitted, and does nothing:
 *
 *   addr is set     FTRUNCATE, LISTEN, WAITID, FIXED_FD_INSTALL, RECV_ZC
 *   len is set      FUTEX_WAIT, FUTEX_WAKE, BIND
 *   off is set      FUTEX_WAITV, EPOLL_WAIT, PIPE
 *   len over 1024   READV_FIXED, WRITEV_FIXED: more segments than any vector has
 *   no buffer group READ_MULTISHOT
 *   64-byte entry   NOP128, URING_CMD128
 *
 * All other operations are those of Linux 6.1, which are not tried.
 */
static bool reads_directories(struct ring *ring, unsigned int opcode)
{
	static char expected[TRIAL_LEN] __attribute__((aligned(8))), got[TRIAL_LEN] __attribute__((aligned(8)));
	int plain = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), tried = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct io_uring_cqe cqe = { .res = -EBADF };
	struct io_uring_sqe *sqe = ring_entry(ring);
	long bytes = sys_getdents64(plain, expected, sizeof(expected));

	if (sqe && bytes > 0) {
		sqe->opcode = opcode;
		sqe->fd = tried;
		sqe->addr = (uintptr_t)got;
		sqe->len = sizeof(got);
		sqe->off = -1;
		ring_wait(ring, &cqe);
	}
	close(plain);
	close(tried);
	return bytes > 0 && cqe.res == bytes && !memcmp(expected, got, bytes);
}

/*
 * The operations that were found. The kernel stays the same; a later look would need the right to
 * read the root folder.
 */
static struct {
	unsigned int first, count;
} found;

/*
 * Looks for the operations: they are the last ones of the kernel, and the first of them reads
 * directories as getdents64(2) does.
 */
static void find_opcodes(struct ring *ring)
{
	struct {
		struct io_uring_probe probe;
		struct io_uring_probe_op ops[256];
	} probe = { };

	if (found.count || ring_register(ring, IORING_REGISTER_PROBE, &probe, 256) < 0)
		return;
	for (unsigned int count = OPCODES; count; count--) {
		unsigned int first = probe.probe.last_op + 1 - count;

		/* The entry that is tried says nothing about operations that 6.1 has. */
		if (first <= LAST_OPCODE_6_1 || !(probe.ops[first].flags & IO_URING_OP_SUPPORTED) ||
		    !reads_directories(ring, first))
			continue;
		found.first = first;
		found.count = count;
		return;
	}
}

unsigned int transport_opcodes(void)
{
	struct ring ring;

	if (found.count || ring_open(&ring, 4, 0))
		return found.count;
	find_opcodes(&ring);
	ring_close(&ring);
	return found.count;
}

bool transport_has(enum transport_kind kind, enum opcode opcode)
{
	return !transport_is_opcode(kind) || opcode < transport_opcodes();
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
	find_opcodes(&transport->ring);
	if (!found.count)
		test_skip("the kernel has no operations for directories");
	transport->first_opcode = found.first;
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
		test_stop(__FILE__, __LINE__, "the kernel lacks operation %u, and the test does not say that it needs it", opcode);
	if (transport->kind == TRANSPORT_OPCODE_ASYNC)
		sqe->flags |= IOSQE_ASYNC;
	sqe->opcode = transport->first_opcode + opcode;
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
