/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ways of making a request. A test has the same result over each of them.
 *
 *   ioctl         /dev/ringwalk by ioctl(2)
 *   inline        IORING_OP_URING_CMD with RINGWALK_F_INLINE: runs in the task that submits
 *   worker        IORING_OP_URING_CMD without it: the first attempt declines, and a thread of
 *                 io-wq runs the request
 *   async         IORING_OP_URING_CMD with IOSQE_ASYNC: goes to io-wq at once
 *   opcode        the operations of the patched kernel
 *   opcode-async  these with IOSQE_ASYNC
 */
#ifndef RINGWALK_TRANSPORT_H
#define RINGWALK_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/ringwalk.h>

#include "ring.h"

enum transport_kind {
	TRANSPORT_IOCTL,
	TRANSPORT_INLINE,
	TRANSPORT_WORKER,
	TRANSPORT_ASYNC,
	TRANSPORT_OPCODE,
	TRANSPORT_OPCODE_ASYNC,
	TRANSPORTS
};

/* Sets of transports, for struct test. */
#define BY_RING		(1u << TRANSPORT_INLINE | 1u << TRANSPORT_WORKER | 1u << TRANSPORT_ASYNC)
#define BY_MODULE	(1u << TRANSPORT_IOCTL | BY_RING)
#define BY_OPCODE	(1u << TRANSPORT_OPCODE | 1u << TRANSPORT_OPCODE_ASYNC)
#define BY_ALL		(BY_MODULE | BY_OPCODE)

#define DEVICE_PATH	"/dev/ringwalk"

/* The operations of the patched kernel. A kernel with some of the patches has some of them. */
enum opcode {
	OPCODE_GETDENTS,
	OPCODE_READDIRPLUS,
	OPCODES,
	/* Of commands that only the module has. */
	OPCODE_NONE = OPCODES
};

/* Of the patched kernel: in cqe.flags, and in the flags of READDIRPLUS. */
#define IORING_CQE_F_DIR_END	(1U << 8)
#define OPCODE_XATTR_ALL	(1U << 0)

/* The argument of READDIRPLUS in addr3: struct readdirplus_args of the series. */
struct opcode_readdirplus_args {
	uint32_t flags;
	uint32_t max_entries;
	uint32_t mask;
	uint32_t stat_flags;
	uint64_t xattr_names;
	uint32_t xattr_names_len;
	uint32_t xattr_value_max;
	uint32_t xattr_entry_max;
	uint32_t reserved;
};

_Static_assert(sizeof(struct opcode_readdirplus_args) == 40, "READDIRPLUS_ARGS_SIZE_VER0");

/**
 * struct transport - a way of making requests. For one thread.
 * @kind: which way
 * @device: /dev/ringwalk, or -1 with the opcodes
 * @ring: a ring, unless @kind is TRANSPORT_IOCTL
 * @args: for the opcodes, one for each submission entry
 */
struct transport {
	enum transport_kind kind;
	int device;
	struct ring ring;
	struct opcode_readdirplus_args *args;
};

const char *transport_name(enum transport_kind kind);
bool transport_by_name(const char *name, enum transport_kind *kind);
/* Returns true if this kernel has this transport. For the operations, one of them is enough. */
bool transport_available(enum transport_kind kind);
/* Returns how many operations for directories this kernel has. */
unsigned int transport_opcodes(void);
/* Returns the number of an operation in this kernel, or 0 if it lacks that. */
unsigned int transport_opcode(enum opcode opcode);
const char *transport_opcode_name(enum opcode opcode);
/* Returns true if requests are operations of io_uring, and not commands of the module. */
bool transport_is_opcode(enum transport_kind kind);
/* Returns true if every request runs in the task that makes it. */
bool transport_in_task(enum transport_kind kind);
/* Returns true unless the request is an operation that this kernel lacks. */
bool transport_has(enum transport_kind kind, enum opcode opcode);

/*
 * Opens the device for every later transport_open(), which then needs neither a path nor rights.
 * Call it before a test changes its root, its ids or its namespaces. Make rings after that, because
 * they belong to the process that makes them.
 */
void transport_keep_device(void);

/*
 * Ends the test as skipped if the kernel lacks this transport. @entries is the size of the ring; 0
 * for a small one.
 */
void transport_open(struct transport *transport, enum transport_kind kind, unsigned int entries);
void transport_close(struct transport *transport);

/*
 * Makes the request and waits. Returns the result of the command, or a negative errno. Sets or
 * clears RINGWALK_F_INLINE for the transport. With the opcodes, the fields marked "out" are filled
 * from the completion.
 */
long transport_call(struct transport *transport, unsigned int command, void *request);
/* The same for any address, which is passed unchanged. For the module only. */
long transport_call_raw(struct transport *transport, unsigned int command, uint64_t request);

/* Fills a submission entry (not for ioctl). */
void transport_fill(struct transport *transport, struct io_uring_sqe *sqe, unsigned int command, void *request);
/* With the opcodes, fills the fields marked "out" from the completion. */
void transport_finish(struct transport *transport, unsigned int command, void *request, const struct io_uring_cqe *cqe);
/* Queues a request without submitting it; false if the ring is full. Not for ioctl. */
bool transport_queue(struct transport *transport, unsigned int command, void *request, uint64_t user_data);

#endif
