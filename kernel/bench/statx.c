// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "statx.h"

enum { FLAGS = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT };

/* A request in flight. */
struct slot {
	const char *name;
	struct statx st;
};

unsigned int statx_depth = 256;

static struct io_uring ring;
static struct slot slots[STATX_DEPTH_MOST];
static unsigned int unused[STATX_DEPTH_MOST];
static unsigned int unused_count;
static unsigned char sqe_flags;

/* The records of a whole directory. */
static char *kept;
static size_t kept_bytes, kept_room;

void statx_start(bool async)
{
	if (!statx_depth)
		return;
	make_ring(&ring, statx_depth);
	sqe_flags = async ? IOSQE_ASYNC : 0;
	for (unsigned int i = 0; i < statx_depth; i++)
		unused[unused_count++] = i;
}

static void by_call(int fd, const char *name, statx_result each, void *context)
{
	struct statx st;

	if (!syscall(SYS_statx, fd, name, FLAGS, WANTED, &st))
		each(context, name, &st);
	else if (errno != ENOENT)
		die(name);
}

static void prepare(int fd, const char *name)
{
	unsigned int number = unused[--unused_count];
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	slots[number].name = name;
	io_uring_prep_statx(sqe, fd, name, FLAGS, WANTED, (void *)&slots[number].st);
	sqe->flags |= sqe_flags;
	sqe->user_data = number;
}

static void completed(const struct io_uring_cqe *cqe, statx_result each, void *context)
{
	const struct slot *slot = &slots[cqe->user_data];

	if (!cqe->res)
		each(context, slot->name, &slot->st);
	else if (cqe->res != -ENOENT)
		die_of(slot->name, cqe->res);
	unused[unused_count++] = cqe->user_data;
}

/*
 * Submits what was prepared and takes what completed. A wake-up for each completion costs more than
 * the completion, so this waits for a quarter of the requests in flight.
 */
static void take_some(statx_result each, void *context)
{
	unsigned int in_flight = statx_depth - unused_count;
	int error = io_uring_submit_and_wait(&ring, in_flight < 8 ? 1 : in_flight / 4);
	struct io_uring_cqe *cqe;
	unsigned int head, seen = 0;

	if (error < 0 && error != -EINTR)
		die_of("io_uring_enter", error);
	io_uring_for_each_cqe(&ring, head, cqe) {
		completed(cqe, each, context);
		seen++;
	}
	io_uring_cq_advance(&ring, seen);
}

static void request(int fd, const char *name, statx_result each, void *context)
{
	if (!statx_depth) {
		by_call(fd, name, each, context);
		return;
	}
	while (!unused_count)
		take_some(each, context);
	prepare(fd, name);
}

static void take_all(statx_result each, void *context)
{
	while (unused_count < statx_depth && statx_depth)
		take_some(each, context);
}

void statx_records(int fd, const char *records, size_t bytes, statx_result each, void *context)
{
	for (size_t at = 0; at < bytes;) {
		const struct dirent_record *record = (const void *)(records + at);

		at += record->reclen;
		if (!is_dot(record->name))
			request(fd, record->name, each, context);
	}
	take_all(each, context);
}

void statx_keep(const char *records, size_t bytes)
{
	if (kept_room < kept_bytes + bytes) {
		kept_room = 2 * (kept_bytes + bytes);
		kept = realloc(kept, kept_room);
		if (!kept)
			die("realloc");
	}
	memcpy(kept + kept_bytes, records, bytes);
	kept_bytes += bytes;
}

static int by_inode(const void *one, const void *other)
{
	const struct dirent_record *a = *(const struct dirent_record *const *)one;
	const struct dirent_record *b = *(const struct dirent_record *const *)other;

	return (a->ino > b->ino) - (a->ino < b->ino);
}

void statx_kept(int fd, statx_result each, void *context)
{
	/* The shortest record has 24 bytes. */
	const struct dirent_record **sorted = malloc(kept_bytes / 24 * sizeof(*sorted) + 1);
	size_t count = 0;

	if (!sorted)
		die("malloc");
	for (size_t at = 0; at < kept_bytes; at += sorted[count++]->reclen)
		sorted[count] = (const void *)(kept + at);
	qsort(sorted, count, sizeof(*sorted), by_inode);
	for (size_t i = 0; i < count; i++)
		if (!is_dot(sorted[i]->name))
			request(fd, sorted[i]->name, each, context);
	take_all(each, context);
	free(sorted);
	kept_bytes = 0;
}
