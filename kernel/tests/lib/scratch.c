// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/dm-ioctl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/loop.h>

#include "scratch.h"
#include "sys.h"
#include "tree.h"

/* A table for the device mapper: each target's description follows it, as DM_TABLE_LOAD wants. */
struct table {
	struct dm_ioctl head;
	char targets[8192];
	size_t used;
};

static void table_init(struct table *table, const struct scratch *scratch, unsigned int flags)
{
	memset(table, 0, sizeof(*table));
	table->head.version[0] = DM_VERSION_MAJOR;
	table->head.data_size = offsetof(struct table, used);
	table->head.data_start = sizeof(table->head);
	table->head.flags = flags;
	snprintf(table->head.name, sizeof(table->head.name), "%s", scratch->name);
}

static void table_add(struct table *table, uint64_t first, uint64_t sectors, const char *type,
		      const char *format, ...) __attribute__((format(printf, 5, 6)));

static void table_add(struct table *table, uint64_t first, uint64_t sectors, const char *type,
		      const char *format, ...)
{
	struct dm_target_spec *target = (void *)(table->targets + table->used);
	char *parameters = (char *)(target + 1);
	va_list args;

	if (!sectors)
		return;
	MUST(table->used + sizeof(*target) + 128 < sizeof(table->targets));
	target->sector_start = first;
	target->length = sectors;
	snprintf(target->target_type, sizeof(target->target_type), "%s", type);
	va_start(args, format);
	vsnprintf(parameters, 128, format, args);
	va_end(args);
	target->next = ALIGN8(sizeof(*target) + strlen(parameters) + 1);
	table->used += target->next;
	table->head.target_count++;
}

/*
 * Replaces the device's table. The file system is not frozen meanwhile, because that would write
 * its changes. Returns 0 or a negative errno.
 */
static int table_load(struct scratch *scratch, struct table *table)
{
	struct table other;
	int error;

	if (ioctl(scratch->control, DM_TABLE_LOAD, table)) {
		error = errno;
		table_init(&other, scratch, 0);
		ioctl(scratch->control, DM_TABLE_CLEAR, &other);
		return -error;
	}
	table_init(&other, scratch, DM_SUSPEND_FLAG | DM_SKIP_LOCKFS_FLAG);
	MUST(ioctl(scratch->control, DM_DEV_SUSPEND, &other) == 0);
	table_init(&other, scratch, 0);
	MUST(ioctl(scratch->control, DM_DEV_SUSPEND, &other) == 0);
	return 0;
}

static void add_linear(struct table *table, const struct scratch *scratch, uint64_t from,
		       uint64_t to)
{
	table_add(table, from, to - from, "linear", "%s %ju", scratch->lower, (uintmax_t)from);
}

void scratch_works(struct scratch *scratch)
{
	scratch_fails(scratch, NULL, 0);
}

void scratch_fails(struct scratch *scratch, const struct scratch_range *ranges, unsigned int count)
{
	static struct table table;
	uint64_t at = 0, per_block = SCRATCH_BLOCK / 512;

	table_init(&table, scratch, 0);
	for (unsigned int i = 0; i < count; i++) {
		add_linear(&table, scratch, at, ranges[i].first * per_block);
		table_add(&table, ranges[i].first * per_block, ranges[i].count * per_block, "error",
			  "%s", "");
		at = (ranges[i].first + ranges[i].count) * per_block;
	}
	add_linear(&table, scratch, at, scratch->sectors);
	MUST(table_load(scratch, &table) == 0);
}

void scratch_fails_all(struct scratch *scratch)
{
	struct scratch_range all = { .count = scratch->sectors * 512 / SCRATCH_BLOCK };

	scratch_fails(scratch, &all, 1);
}

void scratch_slow(struct scratch *scratch, unsigned int milliseconds)
{
	static struct table table;

	table_init(&table, scratch, 0);
	table_add(&table, 0, scratch->sectors, "delay", "%s 0 %u %s 0 0", scratch->lower,
		  milliseconds, scratch->lower);
	if (table_load(scratch, &table))
		test_skip("the device mapper cannot delay");
}

/*
 * Returns the size of the file system in bytes. Its image may be shorter, if the rest is zero.
 * struct ext4_super_block of the kernel (fs/ext4/ext4.h); the machine is little-endian, too.
 */
static off_t file_system_size(int image)
{
	uint32_t blocks, log_block_size;

	MUST(pread(image, &blocks, sizeof(blocks), 1024 + 4) == sizeof(blocks));
	MUST(pread(image, &log_block_size, sizeof(log_block_size), 1024 + 24) ==
	     sizeof(log_block_size));
	return (off_t)blocks << (10 + log_block_size);
}

/* Copies the image to memory; what is zero takes none. */
static int image_in_memory(const char *name)
{
	char path[600], block[4096];
	static const char zeros[sizeof(block)];
	int from, to = memfd_create(name, MFD_CLOEXEC);
	off_t at = 0;
	ssize_t len;

	MUST(to >= 0);
	path_beside_program(path, sizeof(path), name);
	from = open(path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		test_skip("%s: %s (it is made by mke2fs)", path, strerror(errno));
	while ((len = read(from, block, sizeof(block))) > 0) {
		if (memcmp(block, zeros, len))
			MUST(pwrite(to, block, len, at) == len);
		at += len;
	}
	MUST(len == 0 && ftruncate(to, file_system_size(to)) == 0);
	close(from);
	return to;
}

static void open_loop(struct scratch *scratch, const char *image)
{
	struct loop_config config = { .fd = image_in_memory(image), .block_size = 512 };
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	struct stat stat;
	int number;

	if (control < 0)
		test_skip("/dev/loop-control: %s", strerror(errno));
	number = ioctl(control, LOOP_CTL_GET_FREE);
	MUST(number >= 0);
	close(control);
	snprintf(scratch->lower, sizeof(scratch->lower), "/dev/loop%d", number);
	scratch->loop = open(scratch->lower, O_RDWR | O_CLOEXEC);
	MUST(scratch->loop >= 0);
	MUST(ioctl(scratch->loop, LOOP_CONFIGURE, &config) == 0);
	MUST(fstat(config.fd, &stat) == 0);
	scratch->sectors = stat.st_size / 512;
	close(config.fd);
}

static void open_mapper(struct scratch *scratch)
{
	struct table table;

	scratch->control = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);
	if (scratch->control < 0)
		test_skip("/dev/mapper/control: %s", strerror(errno));
	snprintf(scratch->name, sizeof(scratch->name), "%s-%d", test.name, (int)getpid());
	table_init(&table, scratch, 0);
	MUST(ioctl(scratch->control, DM_DEV_CREATE, &table) == 0);
	snprintf(scratch->device, sizeof(scratch->device), "/dev/dm-%u", minor(table.head.dev));
}

void scratch_mount(struct scratch *scratch, const char *options)
{
	/* A time of access would be written, for which ext4 reads blocks of inodes. */
	MUST(mount(scratch->device, scratch->path, "ext4", MS_NOATIME, options) == 0);
}

void scratch_unmount(struct scratch *scratch)
{
	MUST(tree_unmount(scratch->path));
}

void scratch_open(struct scratch *scratch, const struct env *env, const char *image,
		  const char *options)
{
	close(tree_folder(env->path, "scratch", scratch->path));
	open_loop(scratch, image);
	open_mapper(scratch);
	scratch_works(scratch);
	scratch_mount(scratch, options);
}

void scratch_close(struct scratch *scratch)
{
	struct table table;

	scratch_unmount(scratch);
	table_init(&table, scratch, 0);
	MUST(ioctl(scratch->control, DM_DEV_REMOVE, &table) == 0);
	MUST(ioctl(scratch->loop, LOOP_CLR_FD, 0) == 0);
	close(scratch->control);
	close(scratch->loop);
	rmdir(scratch->path);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct scratch_range *left = a, *right = b;

	return left->first < right->first ? -1 : left->first > right->first;
}

/* The first field of the device's statistics: Documentation/block/stat.rst of the kernel. */
unsigned long scratch_reads(const struct scratch *scratch)
{
	unsigned long value;
	char path[600];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/block/%s/stat", strrchr(scratch->device, '/') + 1);
	file = fopen(path, "re");
	MUST(file);
	MUST(fscanf(file, "%lu", &value) == 1);
	fclose(file);
	return value;
}

void scratch_wait(const struct scratch *scratch, unsigned int milliseconds)
{
	unsigned long before, reads = scratch_reads(scratch);

	/* Not the number of those in flight: a read that is delayed is not counted in it yet. */
	do {
		before = reads;
		usleep(milliseconds * 1000);
		reads = scratch_reads(scratch);
	} while (reads != before);
}

unsigned int scratch_ranges(int fd, struct scratch_range *ranges, unsigned int most)
{
	struct fiemap *map = calloc(1, sizeof(*map) + most * sizeof(map->fm_extents[0]));
	unsigned int count;

	MUST(map);
	map->fm_length = FIEMAP_MAX_OFFSET;
	map->fm_extent_count = most;
	MUST(ioctl(fd, FS_IOC_FIEMAP, map) == 0);
	count = map->fm_mapped_extents;
	for (unsigned int i = 0; i < count; i++) {
		ranges[i].first = map->fm_extents[i].fe_physical / SCRATCH_BLOCK;
		ranges[i].count = map->fm_extents[i].fe_length / SCRATCH_BLOCK;
	}
	free(map);
	qsort(ranges, count, sizeof(*ranges), compare_ranges);
	return count;
}
