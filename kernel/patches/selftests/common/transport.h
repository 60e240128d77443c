/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ways of making a request. A test has the same result over each of them.
 *
 *   inline   the submitting task tries first, and hands over to a thread what would have to wait
 *   async    with IOSQE_ASYNC: a thread of io-wq runs the request
 */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "prep.h"
#include "ring.h"

enum transport_kind {
	TRANSPORT_INLINE,
	TRANSPORT_ASYNC,
	TRANSPORTS
};

/* Sets of transports, for struct test. */
#define BY_ALL		(1u << TRANSPORT_INLINE | 1u << TRANSPORT_ASYNC)

/* In the offset of a request: from the current position of the directory. */
#define OFF_CURRENT	(-1LL)

/**
 * struct transport - a way of making requests. For one thread.
 * @kind: which way
 * @ring: a ring
 * @readdirplus
 * @args: the arguments of READDIRPLUS, for each submission entry
 * @end
 */
struct transport {
	enum transport_kind kind;
	struct ring ring;
/* @readdirplus */
	struct readdirplus_args *args;
/* @end */
};

/**
 * struct getdents_request - a request for names.
 * @result_flags: flags of the completion
 */
struct getdents_request {
	int fd;
	uint32_t len;
	uint64_t buf;
	int64_t off;
	uint32_t result_flags;
};

/* @readdirplus */
/**
 * struct readdirplus_request - a request for names, metadata and extended attributes.
 * @flags: READDIRPLUS_ flags
 * @max_entries: most entries; 0 for as many as fit
 * @entries: records that were returned
 * @result_flags: flags of the completion
 * @fields: what is asked for; its own flags and max_entries are not used
 */
struct readdirplus_request {
	int fd;
	uint32_t len;
	uint64_t buf;
	int64_t off;
	uint32_t flags;
	uint32_t max_entries;
	uint32_t entries;
	uint32_t result_flags;
	struct readdirplus_args fields;
};

/* @end */
const char *transport_name(enum transport_kind kind);
/* Returns true if this kernel has the operation. */
bool transport_has(enum transport_kind kind, unsigned int opcode);

/* Opens a ring of @entries; 0 for a small one. Skips the test if the kernel has none. */
void transport_open(struct transport *transport, enum transport_kind kind, unsigned int entries);
void transport_close(struct transport *transport);

/* Makes the request and waits. Returns the result, or a negative errno. */
long transport_call(struct transport *transport, unsigned int opcode, void *request);
/* Fills a submission entry. */
void transport_fill(struct transport *transport, struct io_uring_sqe *sqe, unsigned int opcode,
		    void *request);
/* Fills the fields of the request that say something about its result. */
void transport_finish(struct transport *transport, unsigned int opcode, void *request,
		      const struct io_uring_cqe *cqe);
/* Queues a request without submitting it; false if the ring is full. */
bool transport_queue(struct transport *transport, unsigned int opcode, void *request,
		     uint64_t user_data);

#endif
