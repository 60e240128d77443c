// SPDX-License-Identifier: GPL-2.0-only
/*
 * A FUSE file system of one folder with invented files. It answers after a delay and counts
 * requests.
 *
 * fuse_readdir [OPTION]... MOUNTPOINT [COMMAND...]
 *
 * Mounts it, runs COMMAND (by the shell if it is one word), unmounts and prints
 *
 *   requests READDIR-REQUESTS entries ENTRIES-IN-THEM a-request ENTRIES/REQUESTS \
 *       all ALL-REQUESTS
 *
 * The exit status is that of COMMAND. Two commands are built in: "list" reads the folder once with
 * a buffer of --buffer bytes (1 MiB) and prints the seconds it took, "check" is a test. Names look
 * like those of a mail server, "0000000017.M000017P2421.host,S=1017,W=...:2,S", filled up to
 * --name-length (84 by default). A page of READDIRPLUS holds 4096 / (152 + 88) = 17 of them, which
 * is the published case: 14 to 18 entries a request of 4 KiB. Kernels before 6.16 ask for a page at
 * a time, however large the buffer of the caller is.
 *
 * For tests of requests that wait for a server:
 *
 *   --dots         the folder lists only ".", for ever
 *   --late         only READDIR from the second entry on takes --delay-us; a LOOKUP takes a tenth
 *                  of it, all else no time
 *   --same         all files have one position, from which the list begins again; only a LOOKUP
 *                  takes --delay-us
 *   --pairs PID    see struct server
 *
 * It implements the protocol of linux/fuse.h itself, so that it can be static. It answers with many
 * threads, so that requests wait concurrently.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/fuse.h>

/* "." and ".." */
#define DOTS		2
#define REQUEST_MAX	(256 << 10)
#define REPLY_MAX	(2 << 20)
#define PASS		0
#define FAIL		1
#define SKIP		77

static struct {
	unsigned int delay_us;
	unsigned int entries;
	unsigned int name_length;
	unsigned int max_pages;
	unsigned int threads;
	/* 0 never, 1 if the kernel chooses, 2 always */
	unsigned int plus;
	bool cache;
	bool dots;
	bool late;
	bool same;
	/*
	 * If this is not 0, files come in pairs with one position, as names with the same hash in
	 * ext4. When the first file of a pair is looked up, this process gets SIGALRM, and the
	 * answer comes late. All other answers come at once.
	 */
	pid_t pairs;
	int fd;
} server = { .entries = 10000, .name_length = 84, .max_pages = 32, .threads = 16, .plus = 2, .fd = -1 };

static struct {
	unsigned long requests;
	unsigned long entries;
	unsigned long all;
	unsigned long largest;
} counted;

static void count(unsigned long *what, unsigned long by)
{
	__atomic_add_fetch(what, by, __ATOMIC_RELAXED);
}

static void stop(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

static void stop(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	fprintf(stderr, ": %s\n", strerror(errno));
	exit(FAIL);
}

/* Writes name number @i with exactly the wanted length to @name, which has NAME_MAX + 1 bytes. */
static size_t make_name(unsigned int i, char *name)
{
	static const char host[] = ".a-mail-host-of-some-length.example.org.and-more-of-it-to-fill-up-what-is-left-";
	size_t len = snprintf(name, NAME_MAX + 1, "%010u.M%06uP2421", i, i % 1000000);

	while (len < server.name_length)
		name[len] = host[len % (sizeof(host) - 1)], len++;
	name[server.name_length] = 0;
	return server.name_length;
}

/* Returns the number of the file with this name, or -1. */
static long find_name(const char *name)
{
	char expected[NAME_MAX + 1];
	unsigned long i = strtoul(name, NULL, 10);

	if (i >= server.entries)
		return -1;
	make_name(i, expected);
	return strcmp(name, expected) ? -1 : (long)i;
}

static void fill_attr(struct fuse_attr *attr, uint64_t node)
{
	memset(attr, 0, sizeof(*attr));
	attr->ino = node;
	attr->mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644;
	attr->nlink = node == FUSE_ROOT_ID ? 2 : 1;
	attr->size = node == FUSE_ROOT_ID ? 4096 : 1000 + node % 5000;
	attr->blocks = (attr->size + 511) / 512;
	attr->blksize = 4096;
	attr->mtime = attr->ctime = attr->atime = 1700000000 + node;
}

static void fill_entry(struct fuse_entry_out *entry, uint64_t node)
{
	memset(entry, 0, sizeof(*entry));
	entry->nodeid = node;
	entry->attr_valid = 3600;
	/* Each request that asks for a pair is to be interrupted, not only the first one. */
	entry->entry_valid = server.pairs ? 0 : 3600;
	fill_attr(&entry->attr, node);
}

static void reply(uint64_t unique, int error, const void *data, size_t len)
{
	struct fuse_out_header header = { .len = sizeof(header) + len, .error = error, .unique = unique };
	struct iovec parts[2] = { { &header, sizeof(header) }, { (void *)data, len } };

	/* ENOENT: the request was interrupted; ENODEV: unmounted. */
	if (writev(server.fd, parts, 2) < 0 && errno != ENOENT && errno != ENODEV)
		stop("answer");
}

static void answer_init(const struct fuse_in_header *in, const struct fuse_init_in *init)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = init->minor < FUSE_KERNEL_MINOR_VERSION ? init->minor : FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = init->max_readahead,
		.flags = FUSE_MAX_PAGES | FUSE_PARALLEL_DIROPS | FUSE_ATOMIC_O_TRUNC,
		.max_write = 128 << 10,
		.max_pages = server.max_pages,
		.time_gran = 1,
		.max_background = 64,
		.congestion_threshold = 48,
	};

	if (server.plus)
		out.flags |= FUSE_DO_READDIRPLUS | (server.plus == 1 ? FUSE_READDIRPLUS_AUTO : 0);
	reply(in->unique, 0, &out, sizeof(out));
}

/*
 * Returns the position of entry number @i. Reading from there begins with the first entry that has
 * it.
 */
static uint64_t position(uint64_t i)
{
	if (server.same && i > DOTS)
		return DOTS;
	return server.pairs && i >= DOTS ? i - (i - DOTS) % 2 : i;
}

/*
 * Adds entry number @i of the folder, dots included, to the reply. Returns its length, or 0 if it
 * does not fit.
 */
static size_t add_entry(char *to, size_t left, uint64_t i, bool plus)
{
	struct fuse_entry_out *entry = (void *)to;
	struct fuse_dirent *dirent = (void *)(to + (plus ? sizeof(*entry) : 0));
	char name[NAME_MAX + 1];
	size_t name_len, len;

	name_len = server.dots ? (size_t)snprintf(name, sizeof(name), ".") :
		   i < DOTS ? (size_t)snprintf(name, sizeof(name), "%s", i ? ".." : ".") : make_name(i - DOTS, name);
	len = FUSE_DIRENT_ALIGN((char *)dirent->name - to + name_len);
	if (len > left)
		return 0;
	memset(to, 0, len);
	/*
	 * A node id of 0 means no information about the entry, as libfuse's servers do for the
	 * dots.
	 */
	if (plus && i >= DOTS && !server.dots)
		fill_entry(entry, i);
	dirent->ino = i < DOTS ? FUSE_ROOT_ID : i;
	dirent->off = position(i + 1);
	dirent->namelen = name_len;
	dirent->type = (i < DOTS ? S_IFDIR : S_IFREG) >> 12;
	memcpy(dirent->name, name, name_len);
	return len;
}

static void answer_readdir(const struct fuse_in_header *in, const struct fuse_read_in *read, char *out)
{
	size_t size = read->size < REPLY_MAX ? read->size : REPLY_MAX, used = 0, len;
	uint64_t i = read->offset;

	for (; server.dots || i < server.entries + DOTS; i++, used += len) {
		len = add_entry(out + used, size - used, i, in->opcode == FUSE_READDIRPLUS);
		if (!len)
			break;
	}
	reply(in->unique, 0, out, used);
	/* The request at the end has no entries, and does not count. */
	if (!used)
		return;
	count(&counted.requests, 1);
	count(&counted.entries, i - read->offset);
	if (i - read->offset > __atomic_load_n(&counted.largest, __ATOMIC_RELAXED))
		__atomic_store_n(&counted.largest, i - read->offset, __ATOMIC_RELAXED);
}

static void answer(const struct fuse_in_header *in, const void *arg, char *out)
{
	struct fuse_entry_out entry;
	struct fuse_attr_out attr = { .attr_valid = 3600 };
	struct fuse_open_out open = { .open_flags = server.cache ? FOPEN_CACHE_DIR | FOPEN_KEEP_CACHE : 0 };
	struct fuse_statfs_out statfs = { .st = { .bsize = 4096, .namelen = NAME_MAX } };
	long found;

	switch (in->opcode) {
	case FUSE_LOOKUP:
		found = find_name(arg);
		if (found < 0) {
			reply(in->unique, -ENOENT, NULL, 0);
			return;
		}
		fill_entry(&entry, found + DOTS);
		reply(in->unique, 0, &entry, sizeof(entry));
		return;
	case FUSE_GETATTR:
		fill_attr(&attr.attr, in->nodeid);
		reply(in->unique, 0, &attr, sizeof(attr));
		return;
	case FUSE_OPENDIR:
		reply(in->unique, 0, &open, sizeof(open));
		return;
	case FUSE_READDIR:
	case FUSE_READDIRPLUS:
		answer_readdir(in, arg, out);
		return;
	case FUSE_STATFS:
		reply(in->unique, 0, &statfs, sizeof(statfs));
		return;
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
	case FUSE_DESTROY:
		reply(in->unique, 0, NULL, 0);
		return;
	default:
		reply(in->unique, -ENOSYS, NULL, 0);
	}
}

static void wait_delay(const struct fuse_in_header *in, const void *arg)
{
	unsigned int delay_us = server.delay_us;

	if (server.late && in->opcode == FUSE_LOOKUP)
		delay_us /= 10;
	else if (server.late && (in->opcode != FUSE_READDIR || !((const struct fuse_read_in *)arg)->offset))
		return;
	if (server.same && in->opcode != FUSE_LOOKUP)
		return;
	if (server.pairs) {
		if (in->opcode != FUSE_LOOKUP || find_name(arg) % 2)
			return;
		kill(server.pairs, SIGALRM);
	}
	if (delay_us)
		nanosleep(&(struct timespec){ delay_us / 1000000, delay_us % 1000000 * 1000 }, NULL);
}

static void *serve(void *unused)
{
	char *request = malloc(REQUEST_MAX), *out = malloc(REPLY_MAX);
	const struct fuse_in_header *in = (void *)request;

	(void)unused;
	if (!request || !out)
		stop("memory");
	for (;;) {
		ssize_t len = read(server.fd, request, REQUEST_MAX);

		if (len < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
			continue;
		if (len < 0 && errno == ENODEV)
			break;
		if (len < (ssize_t)sizeof(*in))
			stop("request");
		if (in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET || in->opcode == FUSE_INTERRUPT)
			continue;
		if (in->opcode == FUSE_INIT) {
			answer_init(in, (void *)(in + 1));
			continue;
		}
		count(&counted.all, 1);
		wait_delay(in, in + 1);
		answer(in, in + 1, out);
	}
	free(request);
	free(out);
	return NULL;
}

/*
 * Reads the folder with buffers of @len bytes, and checks that every file comes once, in order.
 * Returns the number of entries, or -1.
 */
static long read_folder(const char *path, size_t len)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	char *buf = malloc(len), name[NAME_MAX + 1];
	long got, expected = -DOTS;

	if (fd < 0 || !buf)
		stop("%s", path);
	while ((got = syscall(SYS_getdents64, fd, buf, len)) > 0) {
		for (long at = 0; at < got; at += *(uint16_t *)(buf + at + 16), expected++) {
			const char *is = buf + at + 19;

			if (expected < 0)
				continue;
			make_name(expected, name);
			if (strcmp(is, name)) {
				fprintf(stderr, "entry %ld is %s, not %s\n", expected, is, name);
				return -1;
			}
		}
	}
	if (got < 0)
		stop("getdents64 of %s", path);
	free(buf);
	close(fd);
	return expected;
}

/*
 * A test: every buffer gets all entries, with and without the kernel's cache of the folder, and few
 * requests fill a large buffer. Their number depends on the kernel, so the caller passes
 * --at-least.
 */
static int check(const char *path, unsigned long at_least)
{
	/* The first reading fills the cache, if there is one. */
	static const size_t lens[] = { 1 << 20, 4 << 10, 128 << 10, 32 << 10, 300, 100000, 4097 };
	unsigned long before, entries;

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		for (int again = 0; again < 2; again++) {
			before = counted.requests;
			entries = counted.entries;
			if (read_folder(path, lens[i]) != (long)server.entries)
				return FAIL;
			before = counted.requests - before;
			entries = counted.entries - entries;
			printf("buffer %zu: %lu requests, %.1f entries a request\n", lens[i], before,
			       before ? (double)entries / before : 0);
			/* After a complete reading the kernel has it in cache. */
			if (server.cache && again && before) {
				fprintf(stderr, "the cache was not used\n");
				return FAIL;
			}
		}
	}
	if (counted.largest < at_least) {
		fprintf(stderr, "at most %lu entries a request, not %lu\n", counted.largest, at_least);
		return FAIL;
	}
	return PASS;
}

static int list(const char *path, size_t len)
{
	struct timespec from, to;
	long got;

	clock_gettime(CLOCK_MONOTONIC, &from);
	got = read_folder(path, len);
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("seconds %.6f\n", to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9);
	return got == (long)server.entries ? PASS : FAIL;
}

static int run(char **command)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		stop("fork");
	if (!pid) {
		/* The file system ends with the server, even if the command runs on. */
		close(server.fd);
		if (command[1])
			execvp(command[0], command);
		else
			execl("/bin/sh", "sh", "-c", command[0], (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			stop("wait");
	return WIFEXITED(status) ? WEXITSTATUS(status) : FAIL;
}

static void mount_it(const char *path)
{
	char options[128];

	server.fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (server.fd < 0) {
		printf("skipped: /dev/fuse: %s\n", strerror(errno));
		exit(SKIP);
	}
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%d,group_id=%d,default_permissions,allow_other", server.fd,
		 getuid(), getgid());
	if (mount("fuse_readdir", path, "fuse.readdir", MS_NOSUID | MS_NODEV, options) < 0)
		stop("mount at %s", path);
}

static void usage(void) __attribute__((noreturn));

static void usage(void)
{
	fprintf(stderr, "usage: fuse_readdir [--delay-us N] [--entries N] [--name-length 30..255] [--plus never|auto|always] [--cache]\n"
			"                    [--max-pages N] [--threads N] [--buffer BYTES] [--at-least ENTRIES]\n"
			"                    [--dots|--late|--same|--pairs PID] MOUNTPOINT list|check|COMMAND...\n");
	exit(2);
}

static unsigned int number(const char *text, unsigned long least, unsigned long most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || end == text || n < least || n > most)
		usage();
	return n;
}

static unsigned int plus_of(const char *text)
{
	static const char *const words[] = { "never", "auto", "always" };

	for (unsigned int i = 0; i < 3; i++)
		if (!strcmp(text, words[i]))
			return i;
	usage();
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "delay-us", required_argument, NULL, 'd' },	{ "entries", required_argument, NULL, 'e' },
		{ "name-length", required_argument, NULL, 'n' }, { "plus", required_argument, NULL, 'p' },
		{ "cache", no_argument, NULL, 'c' },		{ "max-pages", required_argument, NULL, 'm' },
		{ "threads", required_argument, NULL, 't' },	{ "at-least", required_argument, NULL, 'a' },
		{ "buffer", required_argument, NULL, 'b' },	{ "pairs", required_argument, NULL, 'P' },
		{ "dots", no_argument, NULL, 'D' },		{ "late", no_argument, NULL, 'l' },
		{ "same", no_argument, NULL, 's' },
		{ }
	};
	unsigned long at_least = 0;
	size_t buffer = 1 << 20;
	pthread_t *threads;
	int c, status;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) >= 0) {
		switch (c) {
		case 'd': server.delay_us = number(optarg, 0, 10000000); break;
		case 'e': server.entries = number(optarg, 0, 100000000); break;
		case 'n': server.name_length = number(optarg, 30, NAME_MAX); break;
		case 'p': server.plus = plus_of(optarg); break;
		case 'c': server.cache = true; break;
		case 'D': server.dots = true; break;
		case 'l': server.late = true; break;
		case 's': server.same = true; break;
		case 'P': server.pairs = number(optarg, 1, INT_MAX); break;
		case 'm': server.max_pages = number(optarg, 1, 256); break;
		case 't': server.threads = number(optarg, 1, 256); break;
		case 'b': buffer = number(optarg, 300, 1 << 30); break;
		case 'a': at_least = number(optarg, 0, 1000000); break;
		default: usage();
		}
	}
	if (argc - optind < 2)
		usage();
	mount_it(argv[optind]);
	threads = calloc(server.threads, sizeof(*threads));
	for (unsigned int i = 0; i < server.threads; i++)
		if (!threads || pthread_create(&threads[i], NULL, serve, NULL))
			stop("threads");
	if (!strcmp(argv[optind + 1], "check"))
		status = check(argv[optind], at_least);
	else if (!strcmp(argv[optind + 1], "list"))
		status = list(argv[optind], buffer);
	else
		status = run(argv + optind + 1);
	/* The command may have unmounted it. */
	if (umount2(argv[optind], MNT_DETACH) < 0 && errno != EINVAL)
		stop("unmount");
	for (unsigned int i = 0; i < server.threads; i++)
		pthread_join(threads[i], NULL);
	printf("requests %lu entries %lu a-request %.1f all %lu\n", counted.requests, counted.entries,
	       counted.requests ? (double)counted.entries / counted.requests : 0, counted.all);
	return status;
}
