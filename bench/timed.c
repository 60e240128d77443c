// Runs one program and writes its times and its peak memory.
//
//   timed PROGRAM [ARGUMENT...]
//
// writes one line to descriptor 3:
//
//   wall-nanoseconds user-microseconds system-microseconds peak-RSS-KiB wait-status
//
// The runner cannot do this itself. On exec the kernel includes the peak of the old
// memory in the peak of the new program (setmax_mm_hiwater_rss in fs/exec.c), so a
// child of Python shows at least Python's peak, some 15 MiB. This program is linked
// statically, and passes on less than 1 MiB. It also reads the wall clock closer to
// the program.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	struct timespec start, end;
	struct rusage used;
	int status, error;
	pid_t child;

	if (argc < 2) {
		fprintf(stderr, "usage: timed PROGRAM [ARGUMENT...] 3>FIGURES\n");
		return 2;
	}
	if (fcntl(3, F_SETFD, FD_CLOEXEC)) {
		fprintf(stderr, "timed: descriptor 3: %s\n", strerror(errno));
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	error = posix_spawn(&child, argv[1], NULL, NULL, argv + 1, environ);
	if (error) {
		fprintf(stderr, "timed: %s: %s\n", argv[1], strerror(error));
		return 2;
	}
	while (wait4(child, &status, 0, &used) < 0)
		if (errno != EINTR)
			return 2;
	clock_gettime(CLOCK_MONOTONIC, &end);
	dprintf(3, "%lld %lld %lld %ld %d\n",
		(end.tv_sec - start.tv_sec) * 1000000000LL + end.tv_nsec - start.tv_nsec,
		used.ru_utime.tv_sec * 1000000LL + used.ru_utime.tv_usec,
		used.ru_stime.tv_sec * 1000000LL + used.ru_stime.tv_usec,
		used.ru_maxrss, status);
	return 0;
}
