// A rotating disk for nbdkit: it serves the content of a file at the speed of one head.
//
//   nbdkit --threads 64 ./spindle.so file=IMAGE [disks=N] [slower=N]
//
// A disk serves one read at a time. The next one is the waiting read that the head reaches
// first, as on a disk with a command queue. The cost of a read:
//
//   seek            nothing if it begins where the last one ended (the disk reads on into
//                   its own buffer); else 0.5 ms + 6.56 ms x sqrt(distance / size), which
//                   is 4 ms for the average of two random places (the mean of the square
//                   root of their distance is 8/15) and 7.06 ms from end to end, and half
//                   a turn at 7200 a minute, 4.17 ms. A short way forward needs no seek:
//                   the data between pass under the head at the rate of transfer.
//   transfer        150 MB/s
//
// With `disks` the image is spread over that many disks in pieces of 512 KiB (mdadm's
// RAID 0). One disk after the other serves a read across a boundary. The image fills the
// disks, however small it is: distances are shares of their size. Serving takes no model
// time: a read begins when the head is free, even if its thread wakes up later.
//
// `slower` multiplies all times. It is for guests with emulated processors, which are slower
// by about the same factor.

#define NBDKIT_API_VERSION 2
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <nbdkit-plugin.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

// Nanoseconds, bytes a nanosecond.
static const double SETTLE = 0.5e6, STROKE = 3.5e6 * 15 / 8;
static const double HALF_TURN = 60e9 / 7200 / 2;
static const double RATE = 0.150;

#define CHUNK (512 * 1024)
#define MOST_DISKS 64

// A read that waits, on its thread's stack.
struct request {
	uint64_t offset, length;
	int64_t arrival;
	bool chosen;
	pthread_cond_t turn;
	struct request *next;
};

// All of a disk is guarded by `lock`. `head` is a place on this disk.
struct disk {
	pthread_mutex_t lock;
	struct request *waiting;
	bool busy;
	uint64_t head;
	int64_t free_at;
};

static char *path;
static int image = -1;
// Of the image, and of what lies on one disk.
static uint64_t size, disk_size;
static unsigned disk_count = 1, slower = 1;
static struct disk disks[MOST_DISKS];

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void sleep_until(int64_t end)
{
	struct timespec time = { end / 1000000000LL, end % 1000000000LL };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

static double way_to(const struct disk *disk, uint64_t offset)
{
	uint64_t head = disk->head;
	uint64_t distance = offset > head ? offset - head : head - offset;
	double sought;

	if (distance == 0)
		return 0;
	sought = SETTLE + STROKE * sqrt((double)distance / disk_size) + HALF_TURN;
	return offset > head ? fmin(distance / RATE, sought) : sought;
}

// Gives the free head to the read it reaches first, if one waits.
static void choose(struct disk *disk)
{
	struct request **best = NULL, *chosen;

	for (struct request **each = &disk->waiting; *each; each = &(*each)->next)
		if (!best || way_to(disk, (*each)->offset) < way_to(disk, (*best)->offset))
			best = each;
	if (!best)
		return;
	chosen = *best;
	*best = chosen->next;
	chosen->chosen = true;
	disk->busy = true;
	pthread_cond_signal(&chosen->turn);
}

static void spend_time_at(struct disk *disk, uint64_t offset, uint64_t length)
{
	struct request own = { .offset = offset, .length = length, .arrival = now() };
	int64_t end;

	pthread_cond_init(&own.turn, NULL);
	pthread_mutex_lock(&disk->lock);
	own.next = disk->waiting;
	disk->waiting = &own;
	if (!disk->busy)
		choose(disk);
	while (!own.chosen)
		pthread_cond_wait(&own.turn, &disk->lock);
	end = own.arrival > disk->free_at ? own.arrival : disk->free_at;
	end += (int64_t)(slower * (way_to(disk, offset) + length / RATE));
	disk->free_at = end;
	disk->head = offset + length;
	pthread_mutex_unlock(&disk->lock);
	sleep_until(end);
	pthread_mutex_lock(&disk->lock);
	disk->busy = false;
	choose(disk);
	pthread_mutex_unlock(&disk->lock);
	pthread_cond_destroy(&own.turn);
}

static void spend_time(uint64_t offset, uint64_t length)
{
	if (disk_count == 1) {
		spend_time_at(&disks[0], offset, length);
		return;
	}
	while (length) {
		uint64_t chunk = offset / CHUNK, within = offset % CHUNK;
		uint64_t part = length < CHUNK - within ? length : CHUNK - within;

		spend_time_at(&disks[chunk % disk_count], chunk / disk_count * CHUNK + within, part);
		offset += part;
		length -= part;
	}
}

static int spindle_config(const char *key, const char *value)
{
	if (!strcmp(key, "disks")) {
		if (nbdkit_parse_unsigned("disks", value, &disk_count))
			return -1;
		if (disk_count >= 1 && disk_count <= MOST_DISKS)
			return 0;
		nbdkit_error("disks=%s: not from 1 to %d", value, MOST_DISKS);
		return -1;
	}
	if (!strcmp(key, "slower")) {
		if (nbdkit_parse_unsigned("slower", value, &slower))
			return -1;
		if (slower >= 1 && slower <= 1000)
			return 0;
		nbdkit_error("slower=%s: not from 1 to 1000", value);
		return -1;
	}
	if (strcmp(key, "file")) {
		nbdkit_error("unknown parameter: %s", key);
		return -1;
	}
	free(path);
	path = nbdkit_realpath(value);
	return path ? 0 : -1;
}

static int spindle_get_ready(void)
{
	struct stat status;

	if (!path) {
		nbdkit_error("file=IMAGE is missing");
		return -1;
	}
	image = open(path, O_RDONLY | O_CLOEXEC);
	if (image < 0 || fstat(image, &status)) {
		nbdkit_error("%s: %m", path);
		return -1;
	}
	size = status.st_size;
	disk_size = size / disk_count;
	for (unsigned i = 0; i < disk_count; i++)
		pthread_mutex_init(&disks[i].lock, NULL);
	return 0;
}

static void spindle_unload(void)
{
	if (image >= 0)
		close(image);
	free(path);
}

static void *spindle_open(int readonly)
{
	(void)readonly;
	return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t spindle_get_size(void *handle)
{
	(void)handle;
	return size;
}

static int spindle_can_multi_conn(void *handle)
{
	(void)handle;
	return 1;
}

static int spindle_pread(void *handle, void *buffer, uint32_t length, uint64_t offset,
			 uint32_t flags)
{
	char *rest = buffer;

	(void)handle;
	(void)flags;
	spend_time(offset, length);
	while (length) {
		ssize_t got = pread(image, rest, length, offset);

		if (got <= 0) {
			if (got < 0 && errno == EINTR)
				continue;
			nbdkit_error("%s: %s", path, got ? strerror(errno) : "has become shorter");
			return -1;
		}
		rest += got;
		offset += got;
		length -= got;
	}
	return 0;
}

static struct nbdkit_plugin plugin = {
	.name = "spindle",
	.config = spindle_config,
	.config_help = "file=<IMAGE>  (required) What is on the disk.\n"
		       "disks=<N>     Disks that share it, 1 to 64 (1).\n"
		       "slower=<N>    Everything takes so many times as long, 1 to 1000 (1).",
	.get_ready = spindle_get_ready,
	.unload = spindle_unload,
	.open = spindle_open,
	.get_size = spindle_get_size,
	.can_multi_conn = spindle_can_multi_conn,
	.pread = spindle_pread,
};

NBDKIT_REGISTER_PLUGIN(plugin)
