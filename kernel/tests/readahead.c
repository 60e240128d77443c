// SPDX-License-Identifier: GPL-2.0-only
/*
 * READAHEAD brings inodes in, so that statx(2) of them reads nothing from the disk; in pieces,
 * within its limits, and without moving the directory's position.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/disks.h"
#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

static struct transport transport;
static struct list names;
static unsigned int files;

/* Returns the bytes that statx of every name reads from disks. */
static uint64_t stat_all(int fd)
{
	uint64_t before = disks_bytes_read();

	for (size_t i = 0; i < names.count; i++) {
		struct statx_record stat;

		CHECK(sys_statx(fd, names.at[i]->d_name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &stat) == 0, "%s",
		      names.at[i]->d_name);
	}
	return disks_bytes_read() - before;
}

/* The same for the values of an attribute that is too long for the inode. */
static uint64_t get_all_xattrs(const char *path)
{
	uint64_t before = disks_bytes_read();
	char file[700], value[4096];

	for (size_t i = 0; i < names.count; i += 5) {
		snprintf(file, sizeof(file), "%s/%s", path, names.at[i]->d_name);
		lgetxattr(file, "user.long", value, sizeof(value));
	}
	return disks_bytes_read() - before;
}

/*
 * Reads the whole folder ahead, at most @max_entries and @max_bytes a request. Returns the number
 * of requests.
 */
static unsigned int read_ahead(int fd, uint32_t flags, uint32_t max_entries, uint32_t max_bytes)
{
	struct ringwalk_readahead request = request_readahead(fd);
	unsigned int requests = 0;
	uint64_t entries = 0;

	request.flags = flags;
	request.off = 0;
	request.max_entries = max_entries;
	request.max_bytes = max_bytes;
	do {
		long got = transport_call(&transport, RINGWALK_IOC_READAHEAD, &request);

		CHECK(got == 0, "max_entries %u, max_bytes %u: %ld", max_entries, max_bytes, got);
		if (got)
			return requests;
		CHECK(!max_entries || request.entries <= max_entries, "%u entries, more than %u", request.entries, max_entries);
		entries += request.entries;
		request.off = request.next;
		if (++requests > 3 * files)
			break;
	} while (!(request.result_flags & RINGWALK_RESULT_END));
	/* With "." and ".." or without. */
	CHECK(entries + 2 >= names.count && entries <= names.count, "%ju entries of %zu", (uintmax_t)entries, names.count);
	return requests;
}

static void limits(int fd)
{
	unsigned int requests;

	MUST(lseek(fd, names.at[9]->d_off, SEEK_SET) >= 0);
	CHECK(read_ahead(fd, 0, 0, 0) <= 2, "without limits more than one request is needed");
	requests = read_ahead(fd, 0, 100, 0);
	CHECK(requests >= files / 100 && requests <= files / 100 + 3, "%u requests for %u names", requests, files);
	requests = read_ahead(fd, 0, 0, 4096);
	CHECK(requests > files / 256, "%u requests of 4096 bytes", requests);
	read_ahead(fd, 0, UINT32_MAX, 65536);
	CHECK(lseek(fd, 0, SEEK_CUR) == (off_t)names.at[9]->d_off, "the position moved");
}

static void where_to_go_on(int fd)
{
	struct ringwalk_readahead request = request_readahead(fd);

	for (size_t i = 0; i < names.count; i += files / 10) {
		request.off = i ? (int64_t)names.at[i - 1]->d_off : 0;
		request.max_entries = 1;
		CHECK(transport_call(&transport, RINGWALK_IOC_READAHEAD, &request) == 0, "at %zu", i);
		CHECK(request.next == (int64_t)names.at[i]->d_off || request.entries == 0 || names.at[i]->d_name[0] == '.',
		      "after %s: %jd, not %jd", names.at[i]->d_name, (intmax_t)request.next, (intmax_t)names.at[i]->d_off);
	}
	/* From the current position, which stays. */
	MUST(lseek(fd, names.at[20]->d_off, SEEK_SET) >= 0);
	request.off = RINGWALK_OFF_CURRENT;
	request.max_entries = 0;
	CHECK(transport_call(&transport, RINGWALK_IOC_READAHEAD, &request) == 0, "from the current position");
	CHECK(request.entries <= names.count - 21 && request.entries + 2 >= names.count - 21, "%u entries from the 22nd on",
	      request.entries);
	CHECK(request.result_flags & RINGWALK_RESULT_END, "no end");
	CHECK(lseek(fd, 0, SEEK_CUR) == (off_t)names.at[20]->d_off, "the position moved");
	request.off = request.next;
	CHECK(transport_call(&transport, RINGWALK_IOC_READAHEAD, &request) == 0 && !request.entries &&
	      request.result_flags & RINGWALK_RESULT_END, "after the end: %u entries", request.entries);
}

/*
 * A signal comes at any time of a request, while names are read or after that. Requests that go on
 * with @done bring in every entry once.
 */
static void interrupted(struct env *env, int fd)
{
	double until = now() + (env->full ? 2 : 0.5), too_long = until + 60;
	unsigned int pieces = 0, rounds = 0;

	for (; now() < until; rounds++) {
		struct ringwalk_readahead request = request_readahead(fd);
		unsigned int entries = 0, twice = 0;
		long got;

		request.off = 0;
		do {
			uint32_t done = request.done;

			alarm_after(1 + random_below(&env->seed, 2000));
			got = transport_call(&transport, RINGWALK_IOC_READAHEAD, &request);
			CHECK(got == 0 || got == -EINTR, "%ld", got);
			if (got)
				continue;
			entries += request.entries;
			pieces++;
			if (request.done)
				continue;
			request.off = request.next;
			/* Its names were cut short, so those that were done come once more. */
			if (done && !(request.result_flags & RINGWALK_RESULT_END))
				twice += done;
		} while (now() < too_long && (got == -EINTR || (!got && !(request.result_flags & RINGWALK_RESULT_END))));
		CHECK(entries >= files && entries <= files + twice, "%u entries of %u were brought in, %u may be twice", entries, files,
		      twice);
	}
	alarm_after(0);
	CHECK(pieces > rounds, "no signal of %u rounds has ended a request", rounds);
}

/*
 * Signals that come faster than the names are read do not keep a request from its work: each gets
 * further, also one that goes on after another.
 */
static void always_interrupted(int fd)
{
	unsigned int cut = 0;

	alarm_every(500);
	for (unsigned int i = 0; i < 300 && cut < 5; i++) {
		struct ringwalk_readahead request = request_readahead(fd);
		long got;

		request.off = 0;
		request.done = 1;
		got = transport_call(&transport, RINGWALK_IOC_READAHEAD, &request);
		CHECK(got == 0, "after another request: %ld", got);
		if (got || request.done || request.result_flags & RINGWALK_RESULT_END)
			continue;
		/* None if only "." and ".." were read. */
		CHECK(request.entries <= 1 && request.next != 0, "%u entries, then from %jd on", request.entries, (intmax_t)request.next);
		cut++;
	}
	alarm_after(0);
	CHECK(cut > 0, "no signal has cut names short");
}

/* Without READAHEAD the disk is read, with it not. The counters of the disks show it. */
static void caches(struct env *env, int fd, const char *path)
{
	uint64_t cold, warm, cold_xattrs, warm_xattrs;

	/* A FUSE server has its own caches. */
	if (env->fs == FS_TMPFS || env->fs == FS_FUSE)
		return;
	disks_drop_caches(fd);
	cold = stat_all(fd);
	cold_xattrs = get_all_xattrs(path);
	/* btrfs keeps its blocks until its transactions end. */
	CHECK(cold || env->fs == FS_BTRFS, "statx without caches reads nothing from a disk");
	if (!cold)
		return;
	disks_drop_caches(fd);
	read_ahead(fd, 0, 0, 0);
	warm = stat_all(fd);
	CHECK(warm <= cold / 20, "statx reads %ju bytes after it, %ju without", (uintmax_t)warm, (uintmax_t)cold);
	if (!cold_xattrs)
		return;
	disks_drop_caches(fd);
	read_ahead(fd, RINGWALK_F_XATTR_BLOCKS, 0, 0);
	warm = stat_all(fd);
	warm_xattrs = get_all_xattrs(path);
	CHECK(warm + warm_xattrs <= (cold + cold_xattrs) / 20, "%ju bytes are read after it, attributes included; %ju without",
	      (uintmax_t)(warm + warm_xattrs), (uintmax_t)(cold + cold_xattrs));
}

/* Removed names are skipped. */
static void vanishing(int fd)
{
	struct ringwalk_readahead request = request_readahead(fd);

	for (int i = 0; i < 5; i++) {
		char name[32];

		snprintf(name, sizeof(name), "vanishes-%d", i);
		MUST(mknodat(fd, name, S_IFREG | 0600, 0) == 0);
		request.off = 0;
		CHECK(transport_call(&transport, RINGWALK_IOC_READAHEAD, &request) == 0, "with %s", name);
		MUST(unlinkat(fd, name, 0) == 0);
	}
}

/* Returns the bytes that reading the names takes from disks. */
static uint64_t list_all(int fd)
{
	uint64_t before = disks_bytes_read();
	struct list list;

	list_read(&list, fd);
	list_free(&list);
	return disks_bytes_read() - before;
}

/*
 * The operation, from the beginning, brings in all blocks of the directory, even for one entry,
 * because ext4 reads the blocks of consecutive names in random order. A request from another
 * position does not. The module never does.
 */
static void own_blocks(struct env *env)
{
	/* Of twelve files with nearly 200 bytes of name in each of the two. */
	int rounds = env->full ? 200 : 60;
	struct ringwalk_readahead request;
	char path[512], name[200];
	uint64_t cold, ahead, warm;
	int fd, other;

	if (env->fs != FS_EXT || !transport_is_opcode(env->kind))
		return;
	/* Two folders grow in turn, so that their blocks are interleaved. */
	fd = tree_folder(env->path, "many-blocks", path);
	other = tree_folder(env->path, "other-blocks", path);
	for (int i = 0; i < rounds; i++) {
		snprintf(name, sizeof(name), "%d-a-file-whose-name-is-long-enough-that-a-block-of-the-directory-has-few-of-them-"
					     "and-all-are-many-blocks-without-taking-long-to-be-made-", i);
		tree_files(fd, name, 12);
		tree_files(other, name, 12);
	}
	close(other);
	disks_drop_caches(fd);
	cold = list_all(fd);
	MUST(cold > 30 * 4096);

	disks_drop_caches(fd);
	request = request_readahead(fd);
	request.off = 0;
	request.max_entries = 1;
	ahead = disks_bytes_read();
	CHECK(transport_call(&transport, RINGWALK_IOC_READAHEAD, &request) == 0, "of one entry");
	warm = list_all(fd);
	ahead = disks_bytes_read() - ahead - warm;
	CHECK(warm <= cold / 20, "names are %ju bytes to read after it, %ju without", (uintmax_t)warm, (uintmax_t)cold);
	CHECK(ahead <= 2 * cold, "%ju bytes are read for a directory of %ju", (uintmax_t)ahead, (uintmax_t)cold);

	disks_drop_caches(fd);
	request.off = request.next;
	CHECK(transport_call(&transport, RINGWALK_IOC_READAHEAD, &request) == 0, "of the second entry");
	warm = list_all(fd);
	CHECK(warm > cold / 2, "names are %ju bytes to read after a request from elsewhere, %ju without", (uintmax_t)warm,
	      (uintmax_t)cold);
	close(fd);
}

static void run(struct env *env)
{
	char path[512], value[900];
	int fd = tree_folder(env->path, "folder", path);

	transport_open(&transport, env->kind, 0);
	/* Each lookup asks the server there. */
	files = env->fs == FS_FUSE ? 60 : 700;
	tree_files(fd, "file", files);
	memset(value, 'x', sizeof(value));
	list_read(&names, fd);
	for (size_t i = 0; i < names.count; i += 5)
		if (names.at[i]->d_name[0] != '.' &&
		    !tree_xattr(path, names.at[i]->d_name, "user.long", value, sizeof(value)))
			break;
	limits(fd);
	where_to_go_on(fd);
	vanishing(fd);
	/* An operation, and a thread of io-wq, is not ended by a signal of the task. */
	if (env->fs != FS_FUSE && transport_in_task(env->kind)) {
		interrupted(env, fd);
		always_interrupted(fd);
	}
	caches(env, fd, path);
	own_blocks(env);
	transport_close(&transport);
	close(fd);
}

const struct test test = {
	.name = "readahead",
	.each_fs = true,
	.kinds = BY_MODULE,
	.run = run,
};
