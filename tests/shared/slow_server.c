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
 * libfuse 3.14 does not ask for FUSE_PARALLEL_DIROPS, and the kernel then sends the lookups in one
 * directory one after the other. So this server speaks the protocol itself (linux/fuse.h). The
 * kernel forgets each name at once, so that every walk asks again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_SIZE (1 << 17)
#define READERS 2
/* More requests than threads of any test. */
#define QUEUE 65536
#define NAME_LENGTH 9

static int server;
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

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

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

static void answer(uint64_t unique, int error, const void *body, size_t size)
{
	struct fuse_out_header header = {
		.len = sizeof(header) + (error ? 0 : size),
		.error = -error,
		.unique = unique,
	};
	struct iovec parts[2] = {
		{&header, sizeof(header)},
		{(void *)body, error ? 0 : size},
	};

	/* It fails with ENOENT if the request was interrupted: nobody waits for it any more. */
	if (writev(server, parts, 2) < 0 && errno != ENOENT && errno != ENODEV)
		perror("slow_server: answer");
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
		struct timespec due;

		while (head == tail)
			pthread_cond_wait(&arrived, &lock);
		next = queue[head % QUEUE];
		pthread_mutex_unlock(&lock);
		due.tv_sec = next.due / 1000000000;
		due.tv_nsec = next.due % 1000000000;
		while (next.due > now_ns() &&
		       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
			;
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

static void begin_session(const struct fuse_in_header *request, const struct fuse_init_in *in)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = in->max_readahead,
		.flags = in->flags & (FUSE_PARALLEL_DIROPS | FUSE_BIG_WRITES),
		.max_background = 512,
		.congestion_threshold = 512,
		.max_write = 1 << 16,
		.time_gran = 1,
	};

	answer(request->unique, 0, &out, sizeof(out));
}

static void serve(const struct fuse_in_header *request)
{
	const void *body = request + 1;
	struct fuse_attr_out attr = {.attr_valid = 3600, .attr = attributes(request->nodeid)};
	struct fuse_open_out opened = {.fh = 1};
	struct fuse_statfs_out statfs = {.st = {.bsize = 4096, .namelen = 255}};

	switch (request->opcode) {
	case FUSE_INIT:
		return begin_session(request, body);
	case FUSE_LOOKUP:
		return look_up(request, body);
	case FUSE_GETATTR:
		return answer(request->unique, 0, &attr, sizeof(attr));
	case FUSE_OPENDIR:
		return answer(request->unique, 0, &opened, sizeof(opened));
	case FUSE_READDIR:
		return read_directory(request, body);
	case FUSE_STATFS:
		return answer(request->unique, 0, &statfs, sizeof(statfs));
	case FUSE_RELEASEDIR:
		return answer(request->unique, 0, NULL, 0);
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		return answer(request->unique, ENOSYS, NULL, 0);
	}
}

static void *read_requests(void *unused)
{
	char *buffer = malloc(REQUEST_SIZE);

	for (;;) {
		ssize_t size = buffer ? read(server, buffer, REQUEST_SIZE) : -1;

		if (size > 0)
			serve((const struct fuse_in_header *)buffer);
		else if (size == 0 || (errno != EINTR && errno != ENOENT && errno != EAGAIN))
			return unused;
	}
}

int main(int count, char **arguments)
{
	char options[128], byte;
	pthread_t thread;

	if (count != 6) {
		fprintf(stderr, "usage: slow_server POINT DIRECTORIES FILES DELAY MOST\n");
		return 2;
	}
	directories = strtoul(arguments[2], NULL, 10);
	files = strtoul(arguments[3], NULL, 10);
	delay_ns = strtol(arguments[4], NULL, 10) * 1000;
	most = strtoul(arguments[5], NULL, 10);
	server = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 server);
	if (server < 0 || mount("slow", arguments[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0) {
		perror("slow_server: mount");
		return 77;
	}
	for (int started = 0; started <= READERS; started++) {
		if (pthread_create(&thread, NULL, started ? read_requests : answer_lookups, NULL)) {
			fprintf(stderr, "slow_server: no thread\n");
			return 1;
		}
	}
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	umount2(arguments[1], MNT_DETACH);
	pthread_mutex_lock(&lock);
	printf("lookups=%lu most=%lu\n", lookups, most_seen);
	return 0;
}
