// Reads trees like fts(3): opens a list of paths, then returns one entry at a time.
//
//   fts [-l] [-L] [--source NAME] PATH...
//
// Prints "N entries, B bytes": the number of entries below the paths, and the sum of their sizes.
// With -l, prints each entry instead, also the paths themselves, as "INFO SIZE LEVEL PATH" and NUL.
// With -L, follows links, like FTS_LOGICAL. With --source, reads from that source. The exit status
// is 1 if something could not be read.
//
// Differences from fts(3): a directory comes once, before its entries (there is no FTS_DP); entries
// of different directories come in any order, as several threads read ahead; the working directory
// never changes.

#include <errno.h>
#include <inttypes.h>
#include <ringwalk.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The kind of an entry; the names are the same as in fts_info.
enum tree_info {
	TREE_D = 'D',       // directory
	TREE_F = 'F',       // regular file
	TREE_SL = 'L',      // symbolic link
	TREE_DEFAULT = 'O', // anything else
	TREE_DC = 'C',      // directory that the walk is inside of, reached through a link
	TREE_DNR = 'R',     // directory that cannot be read
	TREE_NS = 'N',      // nothing is known of it
};

struct tree_entry {
	enum tree_info info;
	int error; // errno of TREE_DC, TREE_DNR and TREE_NS
	int level; // 0 for the paths passed to tree_open; -1 with TREE_DC and TREE_DNR
	const char *path;
	const struct ringwalk_metadata *statp; // NULL with an error
};

struct tree {
	struct ringwalk_walk *walk;
	struct ringwalk_batch batch;
	size_t next;       // entry of the batch
	char *path;        // the directory of the batch, a slash, room for names
	size_t directory;  // length of directory and slash
	size_t room;
	struct tree_entry entry;
};

// Makes room in tree->path for this many bytes. Returns false if there is no memory.
static bool make_room(struct tree *tree, size_t bytes)
{
	char *path;

	if (bytes <= tree->room)
		return true;
	path = realloc(tree->path, bytes * 2);
	if (!path)
		return false;
	tree->path = path;
	tree->room = bytes * 2;
	return true;
}

static int tree_close(struct tree *tree)
{
	int closed = ringwalk_close(tree->walk);

	if (tree->batch.id)
		ringwalk_release(&tree->batch);
	free(tree->path);
	free(tree);
	return closed;
}

// Returns NULL if there is no memory or the options cannot be used, with errno and a message.
static struct tree *tree_open(char *const *paths, bool follow, const char *source, char *message,
			      size_t size)
{
	struct ringwalk_options options = {
		.size = sizeof options,
		.roots = paths,
		.fields = RINGWALK_FIELD_TYPE | RINGWALK_FIELD_SIZE,
		.follow = follow ? RINGWALK_FOLLOW_ALWAYS : RINGWALK_FOLLOW_NEVER,
		.source = source,
		.message = message,
		.message_size = size,
	};
	struct tree *tree = calloc(1, sizeof *tree);
	int opened;

	snprintf(message, size, "no memory");
	if (!tree)
		return NULL;
	opened = ringwalk_open(&options, &tree->walk);
	if (opened < 0) {
		free(tree);
		errno = -opened;
		return NULL;
	}
	return tree;
}

// Begins the batch that has been taken: writes the path of its directory. Returns false if there is
// no memory.
static bool begin(struct tree *tree)
{
	size_t length = tree->batch.directory_length;

	tree->next = 0;
	tree->directory = length;
	if (!make_room(tree, length + 1))
		return false;
	if (length > 0) {
		memcpy(tree->path, tree->batch.directory, length);
		if (tree->path[length - 1] != '/')
			tree->path[tree->directory++] = '/';
	}
	return true;
}

static enum tree_info info_of(uint8_t type)
{
	switch (type) {
	case RINGWALK_TYPE_DIRECTORY:
		return TREE_D;
	case RINGWALK_TYPE_REGULAR:
		return TREE_F;
	case RINGWALK_TYPE_SYMLINK:
		return TREE_SL;
	default:
		return TREE_DEFAULT;
	}
}

// The next entry of the batch; NULL with errno if there is no memory.
static struct tree_entry *next_entry(struct tree *tree)
{
	const struct ringwalk_entry *entry = &tree->batch.entries[tree->next];

	if (!make_room(tree, tree->directory + entry->name_length + 1))
		return NULL;
	tree->next++;
	memcpy(tree->path + tree->directory, entry->name, entry->name_length + 1);
	tree->entry = (struct tree_entry){
		.info = entry->stat_error ? TREE_NS : info_of(entry->type),
		.error = entry->stat_error,
		.level = tree->batch.depth,
		.path = tree->path,
		.statp = entry->metadata,
	};
	return &tree->entry;
}

// The error that has been taken; NULL if the entry that it is about says the same.
static struct tree_entry *failure(struct tree *tree)
{
	const struct ringwalk_error *error = tree->batch.error;

	if (error->operation == RINGWALK_STAT)
		return NULL;
	tree->entry = (struct tree_entry){
		.info = error->operation == RINGWALK_LOOP ? TREE_DC : TREE_DNR,
		.error = error->code,
		.level = -1,
		.path = error->path,
	};
	return &tree->entry;
}

// The next entry, valid until the next call; NULL at the end with errno 0, or with another errno.
static struct tree_entry *tree_read(struct tree *tree)
{
	for (;;) {
		struct tree_entry *found;
		int got;

		if (tree->next < tree->batch.entry_count)
			return next_entry(tree);
		if (tree->batch.id)
			ringwalk_release(&tree->batch);
		got = ringwalk_next_batch(tree->walk, &tree->batch, sizeof tree->batch);
		if (got <= 0) {
			errno = -got;
			return NULL;
		}
		if (!begin(tree)) {
			errno = ENOMEM;
			return NULL;
		}
		if (tree->batch.kind == RINGWALK_ERROR && (found = failure(tree)))
			return found;
	}
}

int main(int argc, char **argv)
{
	bool list = false, follow = false;
	const char *source = NULL;
	uint64_t entries = 0, bytes = 0;
	struct tree_entry *entry;
	struct tree *tree;
	char message[256];
	int status = 0;

	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		list |= !strcmp(argv[1], "-l");
		follow |= !strcmp(argv[1], "-L");
		if (!strcmp(argv[1], "--source") && argc > 2) {
			source = argv[2];
			argc--, argv++;
		}
	}
	tree = tree_open(argv + 1, follow, source, message, sizeof message);
	if (!tree) {
		fprintf(stderr, "fts: %s\n", message);
		return 2;
	}
	while ((entry = tree_read(tree))) {
		uint64_t size = entry->statp ? entry->statp->size : 0;

		if (entry->error) {
			fprintf(stderr, "fts: %s: %s\n", entry->path, strerror(entry->error));
			status = 1;
		}
		// Level -1: a directory that has come before.
		if (entry->level > 0) {
			entries++;
			bytes += size;
		}
		if (list)
			printf("%c %" PRIu64 " %d %s%c", entry->info, size, entry->level,
			       entry->path, '\0');
	}
	if (errno) {
		perror("fts");
		status = 1;
	}
	if (!list)
		printf("%" PRIu64 " entries, %" PRIu64 " bytes\n", entries, bytes);
	return tree_close(tree) < 0 ? 2 : status;
}
