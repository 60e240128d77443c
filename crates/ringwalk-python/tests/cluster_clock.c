/* Preloaded, it moves the clock of a process by $RINGWALK_TEST_CLOCK seconds. faketime also changes
 * how long a process sleeps, and Python then fails to sleep at all. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static int (*original)(clockid_t, struct timespec *);
	const char *seconds = getenv("RINGWALK_TEST_CLOCK");

	if (!original)
		original = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int status = original(clock, now);
	if (!status && clock == CLOCK_REALTIME && seconds)
		now->tv_sec += atol(seconds);
	return status;
}
