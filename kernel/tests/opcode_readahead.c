// SPDX-License-Identifier: GPL-2.0-only
/*
 * IORING_OP_DIR_READAHEAD: counts of entries, positions, limits. The calls after it find everything
 * in memory, and do not read the device.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <linux/fs.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

/* The inodes of this many files lie in many blocks: 16 inodes of 256 bytes in a block of ext4. */
#define COUNT	2000
/* Where a server answers each lookup. */
#define COUNT_FUSE	400
#define FLAG_XATTR	1

/* COUNT or COUNT_FUSE. */
static unsigned int files;

/* Returns cqe.res; sets @end and @next. */
static long ahead(struct transport *transport, int fd, int64_t off, uint32_t most, uint32_t flags, int64_t *next, bool *end)
{
	struct io_uring_sqe *sqe = ring_entry(&transport->ring);
	struct io_uring_cqe cqe;

	MUST(sqe);
	sqe->opcode = transport->first_opcode + OPCODE_READAHEAD;
	sqe->fd = fd;
	sqe->off = off;
	sqe->len = most;
	sqe->addr = (uintptr_t)next;
	sqe->rw_flags = flags;
	MUST(ring_wait(&transport->ring, &cqe) == 0);
	*end = cqe.flags & IORING_CQE_F_DIR_END;
	return cqe.res;
}

/* Requests of a few entries each go through the whole folder. Its position stays. */
static void in_pieces(struct transport *transport, int fd)
{
	const uint32_t sizes[] = { 1, 7, 100, files / 2 + 1, files, files + 100, 0 };
	bool end;

	MUST(lseek(fd, 0, SEEK_SET) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint32_t most = sizes[i] ? sizes[i] : UINT32_MAX, limit = most < 50 && 50 * most < files ? most * 50 : files;
		int64_t next = 0, total = 0;

		do {
			int64_t from = next;
			long got = ahead(transport, fd, from, sizes[i], 0, &next, &end);

			CHECK(got >= 0 && (uint64_t)got <= most, "%ld entries of %u", got, sizes[i]);
			if (got < 0)
				return;
			CHECK(end || (uint64_t)got == most, "%ld entries of %u, not at the end", got, sizes[i]);
			total += got;
		} while (!end && total < limit);
		CHECK(total == limit, "%jd entries, not %u, in pieces of %u", (intmax_t)total, limit, sizes[i]);
		CHECK(lseek(fd, 0, SEEK_CUR) == 0, "the position was moved");
	}
}

/* From the current position on, and without memory for the next position. */
static void from_position(struct transport *transport, int fd, const struct list *list)
{
	bool end;
	long got;

	MUST(lseek(fd, list->at[list->count / 2]->d_off, SEEK_SET) >= 0);
	got = ahead(transport, fd, -1, 0, 0, NULL, &end);
	CHECK(got == (long)(list->count - list->count / 2 - 1) && end, "%ld entries of the second half of %zu", got, list->count);
}

static void refused(struct env *env, struct transport *transport, int fd)
{
	int file = openat(env->fd, "file", O_RDONLY | O_CREAT, 0644);
	int64_t next;
	bool end;

	CHECK(ahead(transport, file, -1, 0, 0, &next, &end) == -ENOTDIR, "a file");
	CHECK(ahead(transport, fd, -1, 0, 2, &next, &end) == -EINVAL, "an unknown flag");
	CHECK(ahead(transport, fd, -2, 0, 0, &next, &end) == -EINVAL, "position -2");
	CHECK(ahead(transport, fd, -1, 1, 0, (int64_t *)8, &end) == -EFAULT, "no place for the next position");
	close(file);
}

/* Returns the sectors read from the device of @path, or -1. */
static long sectors_read(const char *path)
{
	char name[128], text[512];
	unsigned long reads, merged, sectors;
	struct stat st;

	MUST(stat(path, &st) == 0);
	snprintf(name, sizeof(name), "/sys/dev/block/%u:%u/stat", major(st.st_dev), minor(st.st_dev));
	if (read_text(name, text, sizeof(text)) <= 0 || sscanf(text, "%lu %lu %lu", &reads, &merged, &sectors) != 3)
		return -1;
	return sectors;
}

/*
 * Blocks that are only in the journal stay in memory until they are written to their place.
 * Freezing the file system writes them.
 */
static void forget(int fd)
{
	sync();
	if (ioctl(fd, FIFREEZE, 0) == 0)
		MUST(ioctl(fd, FITHAW, 0) == 0);
	MUST(write_text("/proc/sys/vm/drop_caches", "3") == 0);
}

static void stat_all(int fd, const struct list *list)
{
	struct statx_record record;

	for (size_t i = 0; i < list->count; i++)
		MUST(sys_statx(fd, list->at[i]->d_name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &record) == 0);
}

static long list_attributes(const char *path, const struct list *list)
{
	char name[1024];
	long found = 0;

	for (size_t i = 2; i < list->count; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, list->at[i]->d_name);
		found += llistxattr(name, NULL, 0) > 0;
	}
	return found;
}

/*
 * Reads of the device show whether something was in memory. Without the request there must be some,
 * or the test proves nothing.
 */
static void spares_reads(struct transport *transport, int fd, const char *path, const struct list *list)
{
	long before, without, request, after;
	int64_t next;
	bool end;

	if (sectors_read(path) < 0)
		return;
	forget(fd);
	before = sectors_read(path);
	stat_all(fd, list);
	without = sectors_read(path) - before;
	CHECK(without > 0, "no reads after the caches were dropped");

	forget(fd);
	before = sectors_read(path);
	CHECK(ahead(transport, fd, 0, 0, FLAG_XATTR, &next, &end) == (long)list->count - 2 && end, "entries brought in");
	request = sectors_read(path) - before;
	stat_all(fd, list);
	list_attributes(path, list);
	after = sectors_read(path) - before - request;
	CHECK(request > 0, "the request read nothing");
	CHECK(after == 0, "%ld sectors read by stat and listxattr after a request that read %ld; %ld without", after, request, without);
}

#define REQUEST	1

/* Returns cqe.res of a request that is cancelled after @us microseconds; sets @next. */
static int cancelled_after(struct transport *transport, int fd, unsigned int us, int64_t *next)
{
	struct io_uring_sqe *sqe = ring_entry(&transport->ring);
	struct io_uring_cqe cqe;

	MUST(sqe);
	sqe->opcode = transport->first_opcode + OPCODE_READAHEAD;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)next;
	sqe->user_data = REQUEST;
	MUST(ring_submit(&transport->ring, 0) == 1);
	usleep(us);
	MUST(ring_cancel_and_wait(&transport->ring, REQUEST, &cqe, NULL) == 0);
	return cqe.res;
}

/*
 * A running request ends when it is cancelled, not when it is done, and returns what it has done.
 * That is spread over the folder, so the next one begins where it began. A request that is
 * cancelled while it still reads names has done the first of them, and the next one begins behind
 * these. Cached data would be too fast for this test.
 */
static void cancelled(struct transport *transport, int fd)
{
	unsigned int stopped = 0;
	int64_t next, after;
	bool end;

	/* The first delays are for a fast machine, the last ones for a debug kernel without KVM. */
	for (unsigned int us = 500; us < 2000000 && stopped < 3; us += us / 3) {
		int res;

		MUST(write_text("/proc/sys/vm/drop_caches", "2") == 0);
		next = -1;
		res = cancelled_after(transport, fd, us, &next);
		CHECK(res > 0 || res == -ECANCELED, "%d", res);
		if (res <= 0 || res >= (int)files)
			continue;
		if (next != 0) {
			int left = ahead(transport, fd, next, 0, 0, &after, &end);

			CHECK(left == (int)files - res && end, "%d entries and then %d of %u", res, left, files);
			continue;
		}
		stopped++;
	}
	CHECK(stopped > 0, "none of the requests was stopped");
	CHECK(ahead(transport, fd, 0, 0, 0, &next, &end) == (int)files && end, "the one after them");
}

/* A request takes memory as the names come: a small folder needs little. */
static void in_small_group(struct env *env)
{
	char group[128], file[160], path[512];
	int fd = tree_folder(env->path, "small", path), status;
	pid_t child;

	tree_files(fd, "file-", 20);
	snprintf(group, sizeof(group), "/sys/fs/cgroup/ringwalk-ahead.%d", (int)getpid());
	if (write_text("/sys/fs/cgroup/cgroup.subtree_control", "+memory"))
		test_skip("no control groups of memory");
	MUST(mkdir(group, 0755) == 0);
	snprintf(file, sizeof(file), "%s/memory.max", group);
	MUST(write_text(file, "3M") == 0);
	snprintf(file, sizeof(file), "%s/memory.swap.max", group);
	write_text(file, "0");
	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		struct transport transport;
		int64_t next;
		bool end;
		long got;

		snprintf(file, sizeof(file), "%s/cgroup.procs", group);
		MUST(write_text(file, "0") == 0);
		transport_open(&transport, env->kind, 0);
		got = ahead(&transport, fd, 0, 0, 0, &next, &end);
		CHECK(got == 20 && end, "%ld entries", got);
		test_child_exit();
	}
	MUST(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_PASS, "status 0x%x of a process with 3 MiB", status);
	/* io_uring ends after the process. */
	for (double until = now() + 10; rmdir(group) && now() < until;)
		usleep(10000);
	close(fd);
}

static void run(struct env *env)
{
	struct transport transport;
	struct list list;
	char path[512];
	int fd = tree_folder(env->path, "folder", path);
	/* Too long for the inode, so that it is in a block of its own. */
	static const char value[1500];

	transport_open(&transport, env->kind, 0);
	files = env->fs == FS_FUSE ? COUNT_FUSE : COUNT;
	tree_files(fd, "file-", files);
	for (unsigned int i = 0; i < files; i += 50) {
		char name[32];

		snprintf(name, sizeof(name), "file-%06u", i);
		if (!tree_xattr(path, name, "user.long", value, sizeof(value)))
			break;
	}
	list_read(&list, fd);
	in_pieces(&transport, fd);
	from_position(&transport, fd, &list);
	refused(env, &transport, fd);
	if (env->fs != FS_TMPFS)
		cancelled(&transport, fd);
	spares_reads(&transport, fd, path, &list);
	in_small_group(env);
	list_free(&list);
	close(fd);
	transport_close(&transport);
}

const struct test test = {
	.name = "opcode_readahead",
	.each_fs = true,
	.kinds = BY_OPCODE,
	.needs = OPCODE_READAHEAD,
	.one_kind = true,
	.run = run,
};
