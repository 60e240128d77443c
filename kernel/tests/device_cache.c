// SPDX-License-Identifier: GPL-2.0-only
/*
 * READAHEAD brings no blocks into the cache of the device that its caller names.
 *
 * It once took the blocks of a directory from memory that the caller lent in two fields, which are
 * reserved now. A second thread could put other numbers there. Then readers of the device, such as
 * dump, saw an old block of a file.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <linux/fiemap.h>

#include "lib/disks.h"
#include "lib/request.h"
#include "lib/scratch.h"
#include "lib/sys.h"
#include "lib/test.h"
#include "lib/tree.h"

#define FILES	1200
#define OLD	'o'
#define NEW	'n'

static struct fiemap_extent lent[1024];
/* Where the block of the file is on the device, in bytes. */
static uint64_t place;
static volatile bool stop;

static void write_file(int fd, char content)
{
	char block[SCRATCH_BLOCK];

	memset(block, content, sizeof(block));
	MUST(pwrite(fd, block, sizeof(block), 0) == sizeof(block) && fsync(fd) == 0);
}

/* Returns the first byte of the block as a reader of the device sees it. */
static char read_device(const struct scratch *scratch)
{
	int fd = open(scratch->device, O_RDONLY | O_CLOEXEC);
	char block[SCRATCH_BLOCK];

	MUST(fd >= 0);
	MUST(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) == 0);
	MUST(pread(fd, block, sizeof(block), place) == sizeof(block));
	close(fd);
	return block[0];
}

static void *change_extent(void *unused)
{
	volatile struct fiemap_extent *extent = &lent[0];

	while (!stop) {
		extent->fe_flags = 0;
		extent->fe_length = SCRATCH_BLOCK;
		extent->fe_physical = place;
	}
	return unused;
}

/* Makes many requests while another thread changes the memory. */
static void lend(struct transport *transport, int dir)
{
	struct ringwalk_readahead request = request_readahead(dir);
	unsigned int accepted = 0;
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, change_extent, NULL) == 0);
	for (int i = 0; i < 2000; i++) {
		request.off = 0;
		request.max_entries = 1;
		request.reserved1 = sizeof(lent);
		request.reserved2 = (uintptr_t)lent;
		accepted += transport_call(transport, RINGWALK_IOC_READAHEAD, &request) != -EINVAL;
	}
	CHECK(!accepted, "the old fields were accepted");
	stop = true;
	pthread_join(thread, NULL);
}

static void run(struct env *env)
{
	struct transport transport;
	struct scratch_range range;
	struct scratch scratch;
	int dir, file;
	char path[512];

	scratch_open(&scratch, env, SCRATCH_PLAIN, NULL);
	transport_open(&transport, env->kind, 0);
	dir = tree_folder(scratch.path, "folder", path);
	tree_files(dir, "a-long-name-so-that-the-folder-has-many-blocks-which-once-were-read-ahead", FILES);
	file = openat(dir, "secret", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	MUST(file >= 0);
	write_file(file, OLD);
	MUST(scratch_ranges(file, &range, 1) == 1);
	place = range.first * SCRATCH_BLOCK;
	disks_drop_caches(dir);

	lend(&transport, dir);
	write_file(file, NEW);
	CHECK(read_device(&scratch) == NEW, "a reader of the device sees an old block");

	close(file);
	close(dir);
	transport_close(&transport);
	scratch_close(&scratch);
}

const struct test test = {
	.name = "device_cache",
	.kinds = BY_MODULE,
	.one_kind = true,
	.run = run,
};
