// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up the entries and the bytes below a directory by the patched kernel's operations, all in
 * one thread and one event loop: the counterpart of traverse/, which does the same with tokio.
 *
 *   ringtraverse getdents|statx|statx-async|readdirplus DIR
 *
 * getdents: opens, reads, asks for metadata and closes, each by its operation (OPENAT, GETDENTS,
 * STATX, CLOSE). Entries are asked in the order of their inodes. STATX asks only for the first of
 * the entries that share a block, and waits for the disk in a thread of the kernel. The others are
 * in memory then, and statx(2) answers at once.
 *
 * statx: the same, but STATX asks for every entry, up to 16 of a directory at a time. The kernel
 * answers at once or in one of its threads; with statx-async always in a thread.
 *
 * readdirplus: opens, reads with metadata (READDIRPLUS) and closes.
 *
 * A directory is in one of these states, and has one operation in flight at a time; up to 16 in
 * the state STATTING of statx. Up to 256 directories are in flight, with statx 60:
 *
 *   OPENING -> READING -> (STATTING -> ... -> STATTING ->) READING -> ... -> closed, slot free
 *
 * Prints "E entries, B bytes".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "nodes.h"

enum {
	AT_A_TIME = 256,
	/* One operation a directory, and the closing of another. */
	ENTRIES = 2 * AT_A_TIME,
	/* Marks the completion of a close, which belongs to no slot. */
	CLOSED = AT_A_TIME,
	/* Inodes of 256 bytes in a block of 4 KiB. A wrong guess only costs time. */
	INODES_A_BLOCK = 16,
	/*
	 * With STATX for every entry: directories, and entries of one. Each entry of the
	 * submission queue is used again soon, so that it stays in the processor's cache.
	 */
	AT_A_TIME_STATX = 60,
	ENTRIES_STATX = AT_A_TIME_STATX * (INODES_A_BLOCK + 1),
	/* The most records in a buffer, with names of one byte. */
	RECORDS = BUFFER / 24,
};

#define FLAGS	(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)

struct slot {
	enum { OPENING, READING, STATTING } state;
	struct node *node;
	bool end;
	/*
	 * For GETDENTS: the records without "." and "..", sorted by inode; their number; the index
	 * of the current one; and how many STATX from there on are asked, and answered.
	 */
	unsigned short records[RECORDS];
	size_t at, count, asked, answered;
	/*
	 * The number of the last block of inodes that a STATX brought in; -1 for none.
	 */
	uint64_t block;
	struct statx st[INODES_A_BLOCK];
	_Alignas(8) char buffer[BUFFER];
};

const char *program = "ringtraverse";

static const struct readdirplus_args arguments = { .mask = WANTED };

static struct slot slots[AT_A_TIME];
static int unused[AT_A_TIME];
static int unused_count, in_flight;
static struct io_uring ring;
static unsigned char opcode;
static bool plus, every;
static unsigned char statx_flags;
static uint64_t entries, bytes;

/* Returns an entry to fill in. sent() follows, because filling may clear the user data. */
static struct io_uring_sqe *prepare(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	if (!sqe) {
		int error = io_uring_submit(&ring);

		if (error < 0)
			die_of("io_uring_enter", error);
		sqe = io_uring_get_sqe(&ring);
	}
	return sqe;
}

static void sent(struct io_uring_sqe *sqe, unsigned long slot)
{
	sqe->user_data = slot;
	in_flight++;
}

/* The same for a request of a slot that has several in flight. */
static void sent_part(struct io_uring_sqe *sqe, unsigned long slot, size_t part)
{
	sent(sqe, slot | part << 32);
}

static void close_later(int fd)
{
	struct io_uring_sqe *sqe;

	if (fd < 0)
		return;
	sqe = prepare();
	io_uring_prep_close(sqe, fd);
	sent(sqe, CLOSED);
}

static void open_next(void)
{
	struct node *node;

	while (unused_count && (node = pop_node())) {
		int number = unused[--unused_count];
		struct io_uring_sqe *sqe = prepare();
		struct slot *slot = &slots[number];

		slot->node = node;
		slot->state = OPENING;
		slot->block = UINT64_MAX;
		slot->end = false;
		io_uring_prep_openat(sqe, parent_fd(node), node->name,
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
		sent(sqe, number);
	}
}

static void read_on(struct slot *slot)
{
	struct io_uring_sqe *sqe = prepare();

	slot->state = READING;
	io_uring_prep_rw(opcode, sqe, slot->node->fd, slot->buffer, BUFFER, (uint64_t)RINGWALK_OFF_CURRENT);
	if (plus)
		sqe->addr3 = (uintptr_t)&arguments;
	sent(sqe, slot - slots);
}

static void finish(struct slot *slot)
{
	close_later(drop_node(slot->node));
	unused[unused_count++] = slot - slots;
}

static void count(struct slot *slot, const char *name, uint64_t size, unsigned int mode)
{
	entries++;
	bytes += size;
	if ((mode & MODE_TYPE) == MODE_DIR)
		push_node(slot->node, name);
}

static void count_entries(struct slot *slot, size_t filled)
{
	for (size_t at = 0; at < filled;) {
		const struct ringwalk_entry *entry = (const void *)(slot->buffer + at);

		at += entry->reclen;
		if (is_dot(entry_name(entry)) || entry->error == -ENOENT)
			continue;
		if (entry->error)
			die_of(entry_name(entry), entry->error);
		count(slot, entry_name(entry), entry_stat(entry)->size, entry_stat(entry)->mode);
	}
}

static const struct dirent_record *record_at(const char *buffer, size_t at)
{
	return (const void *)(buffer + at);
}

static int by_inode(const void *one, const void *other, void *buffer)
{
	const struct dirent_record *a = record_at(buffer, *(const unsigned short *)one);
	const struct dirent_record *b = record_at(buffer, *(const unsigned short *)other);

	return (a->ino > b->ino) - (a->ino < b->ino);
}

static void sort_entries(struct slot *slot, size_t filled)
{
	for (size_t at = 0; at < filled; at += record_at(slot->buffer, at)->reclen)
		if (!is_dot(record_at(slot->buffer, at)->name))
			slot->records[slot->count++] = at;
	qsort_r(slot->records, slot->count, sizeof(slot->records[0]), by_inode, slot->buffer);
}

static const struct dirent_record *record_of(const struct slot *slot, size_t number)
{
	return record_at(slot->buffer, slot->records[number]);
}

static const struct dirent_record *current(const struct slot *slot)
{
	return record_of(slot, slot->at);
}

static uint64_t block_of(const struct dirent_record *record)
{
	return (record->ino - 1) / INODES_A_BLOCK;
}

static void count_stat(struct slot *slot, size_t part, int result)
{
	const struct dirent_record *record = record_of(slot, slot->at + part);

	if (result < 0 && result != -ENOENT)
		die_of(record->name, result);
	if (!result)
		count(slot, record->name, slot->st[part].stx_size, slot->st[part].stx_mode);
}

static void was_stat(struct slot *slot, int result)
{
	count_stat(slot, 0, result);
	slot->at++;
}

static void request_stat(struct slot *slot, size_t part, unsigned char flags)
{
	const char *name = record_of(slot, slot->at + part)->name;
	struct io_uring_sqe *sqe = prepare();

	io_uring_prep_statx(sqe, slot->node->fd, name, FLAGS, WANTED, (void *)&slot->st[part]);
	sqe->flags |= flags;
	sent_part(sqe, slot - slots, part);
}

/*
 * Reads the metadata of the next entries that are in memory, and requests the first one that is
 * not. After the last entry it reads on.
 */
static void stat_next(struct slot *slot)
{
	while (slot->at < slot->count && block_of(current(slot)) == slot->block)
		was_stat(slot, statx(slot->node->fd, current(slot)->name, FLAGS, WANTED, slot->st) ? -errno : 0);
	if (slot->at == slot->count) {
		if (slot->end)
			finish(slot);
		else
			read_on(slot);
		return;
	}
	slot->state = STATTING;
	if (every) {
		while (slot->asked < INODES_A_BLOCK && slot->at + slot->asked < slot->count)
			request_stat(slot, slot->asked++, statx_flags);
		return;
	}
	slot->block = block_of(current(slot));
	/* It always needs a thread, so it need not try inline. */
	request_stat(slot, 0, IOSQE_ASYNC);
}

/* With STATX for every entry: goes on after the last one in flight. */
static void was_stat_of_many(struct slot *slot, size_t part, int result)
{
	count_stat(slot, part, result);
	if (++slot->answered < slot->asked)
		return;
	slot->at += slot->asked;
	slot->asked = slot->answered = 0;
	stat_next(slot);
}

static void opened(struct slot *slot, int result)
{
	if (result < 0)
		die_of(slot->node->name, result);
	slot->node->fd = result;
	close_later(drop_node(slot->node->parent));
	read_on(slot);
}

static void was_read(struct slot *slot, int result, unsigned int flags)
{
	if (result < 0)
		die_of(slot->node->name, result);
	slot->at = slot->count = 0;
	slot->end = !result || flags & CQE_DIR_END;
	if (plus)
		count_entries(slot, result);
	else
		sort_entries(slot, result);
	stat_next(slot);
}

static void completed(const struct io_uring_cqe *cqe)
{
	struct slot *slot = &slots[(uint32_t)cqe->user_data];

	in_flight--;
	if (cqe->user_data == CLOSED)
		return;
	switch (slot->state) {
	case OPENING:
		opened(slot, cqe->res);
		break;
	case READING:
		was_read(slot, cqe->res, cqe->flags);
		break;
	case STATTING:
		if (every) {
			was_stat_of_many(slot, cqe->user_data >> 32, cqe->res);
			break;
		}
		was_stat(slot, cqe->res);
		stat_next(slot);
		break;
	}
}

/*
 * A wake-up for each completion costs more than the completion, so this waits for a quarter of the
 * operations in flight. They all complete without help from this thread, so it never waits for
 * itself.
 */
static unsigned int enough(void)
{
	return in_flight < 8 ? 1 : in_flight / 4;
}

static void walk(const char *root)
{
	push_node(NULL, root);
	open_next();
	while (in_flight) {
		struct io_uring_cqe *cqe;
		unsigned int head, seen = 0;
		int error = io_uring_submit_and_wait(&ring, enough());

		if (error < 0 && error != -EINTR)
			die_of("io_uring_enter", error);
		io_uring_for_each_cqe(&ring, head, cqe) {
			completed(cqe);
			seen++;
		}
		io_uring_cq_advance(&ring, seen);
		open_next();
	}
}

static bool choose(const char *way)
{
	plus = !strcmp(way, "readdirplus");
	every = !strncmp(way, "statx", 5);
	statx_flags = strcmp(way, "statx-async") ? 0 : IOSQE_ASYNC;
	return plus || !strcmp(way, "getdents") || !strcmp(way, "statx") || statx_flags;
}

int main(int argc, char **argv)
{
	if (argc != 3 || !choose(argv[1])) {
		fprintf(stderr, "usage: ringtraverse getdents|statx|statx-async|readdirplus DIR\n");
		return 2;
	}
	raise_file_limit();
	make_ring(&ring, every ? ENTRIES_STATX : ENTRIES);
	opcode = find_opcode(plus ? "READDIRPLUS" : "GETDENTS");
	for (int i = 0; i < (every ? AT_A_TIME_STATX : AT_A_TIME); i++)
		unused[unused_count++] = i;
	walk(argv[2]);
	printf("%llu entries, %llu bytes\n", (unsigned long long)entries, (unsigned long long)bytes);
	return 0;
}
