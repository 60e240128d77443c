// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "common.h"
#include "readahead.h"

enum {
	/*
	 * Entries a piece. Larger pieces are better sorted; with smaller ones reading begins
	 * earlier. In a directory made in random order the first piece already brings in most
	 * blocks of the inode table.
	 */
	PIECE = 32 * 1024,
	NAMES_MAX = 4 * 1024 * 1024,
};

static enum { NEVER, BY_MODULE, BY_OPCODE } how;
static struct io_uring ring;
static struct opcodes opcodes;
static int module;

static struct ringwalk_readahead request;
/* The cookie at which the opcode continues. */
static int64_t next;
static int directory;
static bool in_flight, at_end;
/* Entries that may be read before the next piece must be complete. */
static uint64_t ready;
/* For the extents of a directory, as many as the module uses. */
static char scratch[512 << 10];

bool readahead_start(const char *word)
{
	make_ring(&ring, 4);
	if (!strcmp(word, "module")) {
		module = open_module();
		how = BY_MODULE;
	} else if (!strcmp(word, "opcode")) {
		opcodes = find_opcodes(&ring);
		how = BY_OPCODE;
	}
	return how != NEVER;
}

static void prepare_module(int64_t off)
{
	struct ringwalk_sqe payload = { .request = (uintptr_t)&request };
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	request = (struct ringwalk_readahead){
		.size = sizeof(struct ringwalk_readahead),
		.fd = directory,
		.max_entries = PIECE,
		.off = off,
		.max_bytes = NAMES_MAX,
		.scratch = (uintptr_t)scratch,
		.scratch_len = sizeof(scratch),
	};
	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, module, NULL, 0, 0);
	sqe->cmd_op = RINGWALK_IOC_READAHEAD;
	memcpy(sqe->cmd, &payload, sizeof(payload));
}

static void prepare_opcode(int64_t off)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	io_uring_prep_rw(opcodes.readahead, sqe, directory, &next, PIECE, off);
}

static void submit(int64_t off)
{
	int error;

	if (how == BY_MODULE)
		prepare_module(off);
	else
		prepare_opcode(off);
	error = io_uring_submit(&ring);
	if (error != 1)
		die_of("READAHEAD", error);
	in_flight = true;
}

/* Waits for the piece in flight, and requests the next one. */
static void take_piece(void)
{
	struct io_uring_cqe *cqe;
	int error;

	do
		error = io_uring_wait_cqe(&ring, &cqe);
	while (error == -EINTR);
	if (error)
		die_of("READAHEAD", error);
	if (cqe->res < 0)
		die_of("READAHEAD", cqe->res);
	if (how == BY_MODULE) {
		ready += request.entries;
		next = request.next;
		at_end = request.result_flags & RINGWALK_RESULT_END;
	} else {
		ready += cqe->res;
		at_end = cqe->flags & CQE_DIR_END;
	}
	io_uring_cqe_seen(&ring, cqe);
	in_flight = false;
	if (!at_end)
		submit(next);
}

void readahead_begin(int fd)
{
	if (how == NEVER)
		return;
	directory = fd;
	ready = 0;
	at_end = false;
	submit(0);
}

void readahead_before_entry(void)
{
	if (how == NEVER)
		return;
	while (!ready && in_flight)
		take_piece();
	/* Names after the end of READAHEAD are looked up without it. */
	if (ready)
		ready--;
}

void readahead_end(void)
{
	while (how != NEVER && in_flight)
		take_piece();
}
