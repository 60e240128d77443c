/*
 * A FUSE file system whose server takes its time, like a server behind a network.
 *
 *     slow_server POINT DIRECTORIES FILES DELAY MOST
 *
 * Mounts it at POINT, which needs root. The root has DIRECTORIES directories of FILES files each;
 * with 0 directories it has the files itself. Each LOOKUP takes DELAY microseconds. The server
 * works on at most MOST of them at a time (0: on all), and others wait for their turn. All other
 * requests are answered at once.
 *
 * Prints "ready" when it is mounted. When standard input ends, it unmounts and prints
 *
 *     lookups=N most=N
 *
 * the number of lookups, and the largest number that waited for an answer at one time.
 *
 * The kernel forgets each name at once, so that every walk asks again.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/stat.h>

#include "fuse_session.h"

/* More requests than threads of any test. */
#define QUEUE 65536
#define NAME_LENGTH 9

static unsigned long directories, files, most;
static long delay_ns;

/* Answers that are due later. Each takes as long, so they are due in the order of their coming. */
struct waiting {
	uint64_t unique;
	int64_t due;
	int error;
	struct fuse_entry_out entry;
};

static struct waiting queue[QUEUE];
static unsigned long head, tail, lookups, most_seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;

/* The root is node 1. Directories follow, then the files of one directory after the other. */
static int is_directory(uint64_t node)
{
	return node <= directories + 1;
}

static unsigned long children(uint64_t node)
{
	return node == 1 && directories ? directories : files;
}

static uint64_t child(uint64_t node, unsigned long index)
{
	if (node == 1 && directories)
		return 2 + index;
	return 2 + directories + (directories ? node - 2 : 0) * files + index;
}

/* Names are a letter and eight digits: the index in the directory. */
static void name_of(uint64_t node, unsigned long index, char name[NAME_LENGTH + 1])
{
	snprintf(name, NAME_LENGTH + 1, "%c%08lu", node == 1 && directories ? 'd' : 'f',
		 index % 100000000);
}

static struct fuse_attr attributes(uint64_t node)
{
	struct fuse_attr attr = {
		.ino = node,
		.size = is_directory(node) ? 4096 : node % 1000,
		.blocks = 8,
		.mode = is_directory(node) ? S_IFDIR | 0755 : S_IFREG | 0644,
		.nlink = is_directory(node) ? 2 : 1,
		.blksize = 4096,
	};

	return attr;
}

static void look_up(const struct fuse_in_header *request, const char *name)
{
	unsigned long index = strtoul(name + (*name != 0), NULL, 10);
	char expected[NAME_LENGTH + 1];
	struct waiting *waiting;
	int64_t begin = now_ns();

	name_of(request->nodeid, index, expected);
	pthread_mutex_lock(&lock);
	if (tail - head == QUEUE) {
		fprintf(stderr, "slow_server: too many requests at a time\n");
		abort();
	}
	waiting = &queue[tail % QUEUE];
	*waiting = (struct waiting){.unique = request->unique};
	if (!is_directory(request->nodeid) || index >= children(request->nodeid) ||
	    strcmp(name, expected) != 0)
		waiting->error = ENOENT;
	waiting->entry.nodeid = child(request->nodeid, index);
	waiting->entry.attr = attributes(waiting->entry.nodeid);
	/* The attributes stay known, so that one lookup answers one statx(2). */
	waiting->entry.attr_valid = 3600;
	/* The request begins when the one that is MOST before it is done. */
	if (most && tail - head >= most && queue[(tail - most) % QUEUE].due > begin)
		begin = queue[(tail - most) % QUEUE].due;
	waiting->due = begin + delay_ns;
	tail++;
	lookups++;
	if (tail - head > most_seen)
		most_seen = tail - head;
	pthread_cond_signal(&arrived);
	pthread_mutex_unlock(&lock);
}

/* Answers each lookup when it is due. */
static void *answer_lookups(void *unused)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		struct waiting next;

		while (head == tail)
			pthread_cond_wait(&arrived, &lock);
		next = queue[head % QUEUE];
		pthread_mutex_unlock(&lock);
		wait_until(next.due);
		pthread_mutex_lock(&lock);
		head++;
		pthread_mutex_unlock(&lock);
		answer(next.unique, next.error, &next.entry, sizeof(next.entry));
		pthread_mutex_lock(&lock);
	}
	return unused;
}

static void read_directory(const struct fuse_in_header *request, const struct fuse_read_in *in)
{
	static const size_t record =
		FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + NAME_LENGTH);
	size_t room = in->size < REQUEST_SIZE ? in->size : REQUEST_SIZE;
	char *out = calloc(1, room + 1), *end = out;
	unsigned long index;

	if (!out)
		return answer(request->unique, ENOMEM, NULL, 0);
	for (index = in->offset; index < children(request->nodeid); index++) {
		struct fuse_dirent *entry = (struct fuse_dirent *)end;
		char name[NAME_LENGTH + 1];

		if ((size_t)(end - out) + record > room)
			break;
		name_of(request->nodeid, index, name);
		entry->ino = child(request->nodeid, index);
		entry->off = index + 1;
		entry->namelen = NAME_LENGTH;
		entry->type = is_directory(entry->ino) ? S_IFDIR >> 12 : S_IFREG >> 12;
		memcpy(entry->name, name, NAME_LENGTH);
		end += record;
	}
	answer(request->unique, 0, out, end - out);
	free(out);
}

static void serve_file(const struct fuse_in_header *request, const void *body)
{
	struct fuse_attr_out attr = {.attr_valid = 3600, .attr = attributes(request->nodeid)};

	if (request->opcode == FUSE_LOOKUP)
		look_up(request, body);
	else if (request->opcode == FUSE_READDIR)
		read_directory(request, body);
	else
		answer(request->unique, 0, &attr, sizeof(attr));
}

int main(int count, char **arguments)
{
	if (count != 6) {
		fprintf(stderr, "usage: slow_server POINT DIRECTORIES FILES DELAY MOST\n");
		return 2;
	}
	directories = strtoul(arguments[2], NULL, 10);
	files = strtoul(arguments[3], NULL, 10);
	delay_ns = strtol(arguments[4], NULL, 10) * 1000;
	most = strtoul(arguments[5], NULL, 10);
	mount_at(arguments[1], "slow");
	start_thread(answer_lookups);
	serve_until_end(arguments[1]);
	pthread_mutex_lock(&lock);
	printf("lookups=%lu most=%lu\n", lookups, most_seen);
	return 0;
}
