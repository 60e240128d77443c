/*
 * A session of FUSE: what the servers of the tests and of the bench share.
 *
 * libfuse 3.14 does not ask for FUSE_PARALLEL_DIROPS, and the kernel then sends the lookups in one
 * directory one after the other. So these servers speak the protocol themselves (linux/fuse.h).
 *
 * A server defines serve_file(), mounts, starts READERS threads in read_requests() and further ones
 * of its own, and serves until standard input ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_SIZE (1 << 17)
#define READERS 2
/* The exit status where the file system cannot be mounted. */
#define REFUSED 77

static int device;

/* Answers LOOKUP, GETATTR or READDIR, at once or later. */
static void serve_file(const struct fuse_in_header *request, const void *body);

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void wait_until(int64_t due)
{
	struct timespec time = {due / 1000000000, due % 1000000000};

	while (due > now_ns() &&
	       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
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
	if (writev(device, parts, 2) < 0 && errno != ENOENT && errno != ENODEV)
		perror("FUSE: answer");
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
	struct fuse_open_out opened = {.fh = 1};
	struct fuse_statfs_out statfs = {.st = {.bsize = 4096, .namelen = 255}};

	switch (request->opcode) {
	case FUSE_INIT:
		return begin_session(request, body);
	case FUSE_LOOKUP:
	case FUSE_GETATTR:
	case FUSE_READDIR:
		return serve_file(request, body);
	case FUSE_OPENDIR:
		return answer(request->unique, 0, &opened, sizeof(opened));
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
		ssize_t size = buffer ? read(device, buffer, REQUEST_SIZE) : -1;

		if (size > 0)
			serve((const struct fuse_in_header *)buffer);
		else if (size == 0 || (errno != EINTR && errno != ENOENT && errno != EAGAIN))
			return unused;
	}
}

static void start_thread(void *(*work)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL) != 0) {
		fprintf(stderr, "FUSE: no thread\n");
		exit(1);
	}
}

/* Mounts the file system, which needs root. The program ends where that is refused. */
static void mount_at(const char *point, const char *source)
{
	char options[128];

	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 device);
	if (device < 0 || mount(source, point, "fuse", MS_NOSUID | MS_NODEV, options) != 0) {
		perror("FUSE: mount");
		exit(REFUSED);
	}
}

/* Prints "ready", serves until standard input ends, and unmounts. */
static void serve_until_end(const char *point)
{
	char byte;

	for (int reader = 0; reader < READERS; reader++)
		start_thread(read_requests);
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	umount2(point, MNT_DETACH);
}
