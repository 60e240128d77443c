// Walks a tree like nftw(3): calls a function for each entry.
//
//   nftw [-l] [-d] [-L] [-x] [-j WORKERS] [-s NAME] [-q NAME] PATH
//
// Prints "N entries, B bytes". With -l each entry instead, as "FLAG SIZE LEVEL BASE PATH" and NUL.
//
//   -d  directories after what is in them (FTW_DEPTH)
//   -L  links are followed (without FTW_PHYS)
//   -x  stays on the device of PATH (FTW_MOUNT)
//   -j  workers that call the function, one by default; more come in any order
//   -s  does not go into directories of that name (FTW_SKIP_SUBTREE)
//   -q  stops at the first entry of that name (FTW_STOP)
//
// Differences from nftw(3): the function gets the open directory, and the working directory does
// not change (there is no FTW_CHDIR); a directory that cannot be read comes as FTW_D, and again as
// FTW_DNR when reading fails; a directory that several links lead to comes for each of them.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <ringwalk.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

// As nftw's, and with a descriptor: of the directory that path + ftw->base is relative to, or -1
// where the entry itself is not at hand any more (FTW_DP, FTW_DNR).
typedef int (*visit_function)(const char *path, const struct stat *stat, int flag,
			      const struct FTW *ftw, int directory);

struct tree {
	visit_function function;
	bool depth_first;
	// FTW_DEPTH: the directories that the walk is inside of, by their levels. There is one
	// worker.
	struct stat *inside;
	size_t levels;
};

static void to_stat(const struct ringwalk_metadata *from, struct stat *to)
{
	memset(to, 0, sizeof *to);
	if (!from)
		return;
	to->st_dev = from->device;
	to->st_ino = from->inode;
	to->st_mode = from->mode;
	to->st_nlink = from->nlink;
	to->st_uid = from->uid;
	to->st_gid = from->gid;
	to->st_rdev = from->represented_device;
	to->st_size = from->size;
	to->st_blksize = from->block_size;
	to->st_blocks = from->blocks;
	to->st_atim.tv_sec = from->access_time.seconds;
	to->st_atim.tv_nsec = from->access_time.nanoseconds;
	to->st_mtim.tv_sec = from->modification_time.seconds;
	to->st_mtim.tv_nsec = from->modification_time.nanoseconds;
	to->st_ctim.tv_sec = from->change_time.seconds;
	to->st_ctim.tv_nsec = from->change_time.nanoseconds;
}

// Where the last component of a path begins.
static int base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 - path : 0;
}

static int flag_of(const struct ringwalk_entry *entry)
{
	if (entry->stat_error)
		return FTW_NS;
	switch (entry->type) {
	case RINGWALK_TYPE_DIRECTORY:
		return FTW_D;
	case RINGWALK_TYPE_SYMLINK:
		return FTW_SL;
	default:
		return FTW_F;
	}
}

// Keeps what is known of a directory until it is left.
static int go_inside(struct tree *tree, size_t level, const struct stat *stat)
{
	if (level >= tree->levels) {
		size_t levels = level * 2 + 64;
		struct stat *inside = realloc(tree->inside, levels * sizeof *inside);

		if (!inside)
			return -ENOMEM;
		tree->inside = inside;
		tree->levels = levels;
	}
	tree->inside[level] = *stat;
	return 0;
}

static int visit_entry(struct tree *tree, const struct ringwalk_batch *batch,
		       struct ringwalk_visit *visit, size_t index)
{
	const struct ringwalk_entry *entry = &batch->entries[index];
	ssize_t length = ringwalk_path(batch, index, NULL, 0);
	struct FTW ftw = {.level = batch->depth};
	struct stat stat;
	int directory, answer;
	char *path;

	to_stat(entry->metadata, &stat);
	if (tree->depth_first && entry->type == RINGWALK_TYPE_DIRECTORY)
		return go_inside(tree, batch->depth, &stat);
	answer = ringwalk_visit_descriptor(visit, &directory);
	if (answer < 0)
		return answer;
	path = malloc(length + 1);
	if (!path)
		return -ENOMEM;
	ringwalk_path(batch, index, path, length + 1);
	ftw.base = batch->directory ? length - (int)entry->name_length : base_of(path);
	answer = tree->function(path, &stat, flag_of(entry), &ftw, directory);
	free(path);
	return answer;
}

// What nftw's function answers, as an answer of the walk's callback.
static int answer_of(int answer)
{
	switch (answer) {
	case FTW_CONTINUE:
		return RINGWALK_CONTINUE;
	case FTW_SKIP_SIBLINGS:
		return RINGWALK_PRUNE;
	case FTW_STOP:
		return RINGWALK_STOP;
	default:
		return answer < 0 ? answer : -EINVAL;
	}
}

static int visit_entries(struct tree *tree, const struct ringwalk_batch *batch,
			 struct ringwalk_visit *visit)
{
	for (size_t i = 0; i < batch->entry_count; i++) {
		int answer = visit_entry(tree, batch, visit, i);

		if (answer == FTW_SKIP_SUBTREE)
			answer = ringwalk_visit_prune(visit, i);
		if (answer)
			return answer_of(answer);
	}
	return RINGWALK_CONTINUE;
}

static int visit_error(struct tree *tree, const struct ringwalk_error *error)
{
	struct FTW ftw = {.base = base_of(error->path), .level = -1};
	struct stat stat;

	// An entry without metadata is visited with its batch, and nftw never reports loops.
	if (error->operation == RINGWALK_STAT || error->operation == RINGWALK_LOOP)
		return RINGWALK_CONTINUE;
	to_stat(NULL, &stat);
	return answer_of(tree->function(error->path, &stat, FTW_DNR, &ftw, -1));
}

static int visit(const struct ringwalk_batch *batch, struct ringwalk_visit *visit, void *data)
{
	struct tree *tree = data;
	struct FTW ftw = {.level = batch->depth};

	switch (batch->kind) {
	case RINGWALK_ENTRIES:
		return visit_entries(tree, batch, visit);
	case RINGWALK_ERROR:
		return visit_error(tree, batch->error);
	case RINGWALK_LEAVE:
		ftw.base = base_of(batch->directory);
		return answer_of(tree->function(batch->directory, &tree->inside[batch->depth],
						FTW_DP, &ftw, -1));
	default:
		return RINGWALK_CONTINUE;
	}
}

// Walks a tree. Returns 0, also if the function has answered FTW_STOP, or -errno.
static int walk_tree(char *path, visit_function function, unsigned workers, int flags)
{
	struct tree tree = {.function = function, .depth_first = flags & FTW_DEPTH};
	struct ringwalk_options options = {
		.size = sizeof options,
		.roots = (char *[]){path, NULL},
		.fields = 0x7ff, // the fields of stat(2)
		.follow = flags & FTW_PHYS ? RINGWALK_FOLLOW_NEVER : RINGWALK_FOLLOW_ALWAYS,
		.stay = flags & FTW_MOUNT ? RINGWALK_STAY_DEVICE : RINGWALK_STAY_ANYWHERE,
		.workers = workers,
		.order = RINGWALK_ORDER_LISTED,
		.flags = (workers == 1 ? RINGWALK_FLAG_PREORDER : 0) |
			 (flags & FTW_DEPTH ? RINGWALK_FLAG_LEAVES : 0),
	};
	struct ringwalk_walk *walk;
	int result = ringwalk_open(&options, &walk);

	if (result < 0)
		return result;
	result = ringwalk_run(walk, visit, &tree);
	ringwalk_close(walk);
	free(tree.inside);
	return result;
}

static atomic_uint_fast64_t entries, bytes;
static bool list;
static const char *skip = "", *quit = "";

static int tell(const char *path, const struct stat *stat, int flag, const struct FTW *ftw,
		int directory)
{
	struct stat now;

	if (list)
		printf("%d %lld %d %d %s%c", flag, (long long)stat->st_size, ftw->level, ftw->base,
		       path, '\0');
	// What the descriptor is for: the entry is at hand without its path.
	if (directory != -1 && flag != FTW_NS &&
	    fstatat(directory, directory == AT_FDCWD ? path : path + ftw->base, &now,
		    AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (flag != FTW_DNR) {
		atomic_fetch_add(&entries, 1);
		atomic_fetch_add(&bytes, stat->st_size);
	}
	if (!strcmp(path + ftw->base, quit))
		return FTW_STOP;
	return strcmp(path + ftw->base, skip) ? FTW_CONTINUE : FTW_SKIP_SUBTREE;
}

int main(int argc, char **argv)
{
	int flags = FTW_PHYS, result;
	unsigned workers = 1;

	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		char option = argv[1][1];
		const char *value = strchr("jsq", option) ? argv[2] : NULL;

		list |= option == 'l';
		flags |= option == 'd' ? FTW_DEPTH : option == 'x' ? FTW_MOUNT : 0;
		flags &= option == 'L' ? ~FTW_PHYS : ~0;
		if (!value)
			continue;
		if (option == 'j')
			workers = strtoul(value, NULL, 10);
		else if (option == 's')
			skip = value;
		else
			quit = value;
		argc--, argv++;
	}
	result = walk_tree(argv[1], tell, workers, flags);
	if (!list)
		printf("%" PRIuFAST64 " entries, %" PRIuFAST64 " bytes\n", entries, bytes);
	if (result < 0)
		fprintf(stderr, "nftw: %s: %s\n", argv[1], strerror(-result));
	return result < 0;
}
