// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "sys.h"
#include "test.h"

size_t dirent_record_len(size_t name_len)
{
	return ALIGN8(offsetof(struct dirent_record, d_name) + name_len + 1);
}

long sys_getdents64(int fd, void *buf, size_t len)
{
	long ret = syscall(__NR_getdents64, fd, buf, len);

	return ret < 0 ? -errno : ret;
}

int sys_statx(int fd, const char *name, int flags, uint32_t mask, struct statx_record *record)
{
	memset(record, 0, sizeof(*record));
	return syscall(__NR_statx, fd, name, flags, mask, record) ? -errno : 0;
}

long read_text(const char *path, char *buf, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, buf, len - 1);
	if (got < 0)
		got = -errno;
	else
		buf[got] = 0;
	close(fd);
	return got;
}

int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		ret = -errno;
	close(fd);
	return ret;
}

void path_beside_program(char *path, size_t len, const char *name)
{
	ssize_t used = readlink("/proc/self/exe", path, len - 1);
	char *base;

	MUST(used > 0);
	path[used] = '\0';
	base = strrchr(path, '/') + 1;
	MUST(strlen(name) < len - (base - path));
	strcpy(base, name);
}

static void on_alarm(int number)
{
	(void)number;
}

static void set_alarm(long microseconds, long interval)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval timer = { .it_value.tv_usec = microseconds,
				   .it_interval.tv_usec = interval };

	MUST(sigaction(SIGALRM, &action, NULL) == 0);
	MUST(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

void alarm_after(long microseconds)
{
	set_alarm(microseconds, 0);
}

void alarm_every(long microseconds)
{
	set_alarm(microseconds, microseconds);
}

bool linux_before(unsigned int major, unsigned int minor)
{
	unsigned int here[2];
	struct utsname name;

	MUST(uname(&name) == 0 && sscanf(name.release, "%u.%u", &here[0], &here[1]) == 2);
	return here[0] < major || (here[0] == major && here[1] < minor);
}

double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state ? *state : 1;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 2685821657736338717ull;
}

uint64_t random_below(uint64_t *state, uint64_t limit)
{
	return (random_next(state) >> 16) % limit;
}

static size_t guarded_pages(size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (len + page - 1) / page * page;
}

void *guard_alloc(size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE), pages = guarded_pages(len);
	char *base = mmap(NULL, pages + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(base != MAP_FAILED);
	if (pages)
		MUST(mprotect(base + page, pages, PROT_READ | PROT_WRITE) == 0);
	return base + page + pages - len;
}

void guard_free(void *memory, size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE), pages = guarded_pages(len);

	munmap((char *)memory + len - pages - page, pages + 2 * page);
}

unsigned int io_workers(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	unsigned int n = 0;

	MUST(tasks);
	while ((task = readdir(tasks)) != NULL) {
		char path[320], name[64];

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
		if (task->d_name[0] != '.' && read_text(path, name, sizeof(name)) > 0 &&
		    !strncmp(name, "iou-wrk", 7))
			n++;
	}
	closedir(tasks);
	return n;
}
