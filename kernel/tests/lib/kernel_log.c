// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <fcntl.h>
#include <unistd.h>

#include "kernel_log.h"
#include "test.h"

/*
 * Longer than any record that a read gives: PRINTK_MESSAGE_MAX of Linux 6.12, 2 KiB, and
 * CONSOLE_EXT_LOG_MAX of 6.1, 8 KiB. A buffer that is too short would be EINVAL.
 */
#define RECORD_MAX	(16 << 10)

static const char *const faults[] = {
	"BUG:", "WARNING:", "Oops", "KASAN", "KCSAN", "UBSAN", "INFO: task",
	"INFO: trying to register non-static key", "general protection", "refcount_t",
	"stack segment", "kernel panic", "bad page",
};

/*
 * True if @record has lockdep as a word of its own. Names of functions contain it, and a stack
 * trace is logged for each process that is killed at the memory limit of its group.
 */
static bool names_lockdep(const char *record)
{
	static const char word[] = "lockdep";

	for (const char *at = record; (at = strstr(at, word)); at++) {
		unsigned char before = at > record ? at[-1] : ' ', after = at[sizeof(word) - 1];

		if (before != '_' && after != '_' && !isalnum(before) && !isalnum(after))
			return true;
	}
	return false;
}

static bool is_fault(const char *record)
{
	const char *possible = strstr(record, "possible ");

	/* As lockdep says: "possible circular locking dependency detected". */
	if (possible && strstr(possible, " detected"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		if (strstr(record, faults[i]))
			return true;
	return names_lockdep(record);
}

int kernel_log_faults(int fd)
{
	static char record[RECORD_MAX + 1];
	int found = 0;

	if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	for (;;) {
		ssize_t got = read(fd, record, RECORD_MAX);

		if (got < 0 && errno == EAGAIN)
			return found;
		/* The next read goes on behind records that were overwritten. */
		if (got < 0 && errno == EPIPE) {
			puts("lines of the kernel's log were lost");
			found = 1;
			continue;
		}
		if (got <= 0)
			return got ? -errno : -EIO;
		record[got] = '\0';
		if (!is_fault(record))
			continue;
		if (!found)
			printf("the kernel's log: %s", record);
		found = 1;
	}
}
