// SPDX-License-Identifier: GPL-2.0-only
/*
 * A folder whose server gives all files one position, and takes long for each lookup. READDIRPLUS
 * cannot set the position back to the middle of them. It once completed all lookups before it ended
 * by a signal or a cancel. The rest comes without metadata now.
 */
#include <fcntl.h>
#include <unistd.h>

#include "lib/fuse.h"
#include "lib/records.h"
#include "lib/request.h"
#include "lib/sys.h"
#include "lib/test.h"

#define LOOKUP	0.4
/* Seconds until the end of the request is asked for, and until it must have come. */
#define BEFORE	(LOOKUP / 2)
#define SOON	(12 * LOOKUP)

enum { REQUEST = 1 };

static const char *const options[] = { "--same", "--delay-us", "400000", "--plus", "never", "--entries", "100", NULL };
static char buf[1 << 14] __attribute__((aligned(8)));

static void run(struct env *env)
{
	unsigned int finished = 0, unfinished = 0;
	struct ringwalk_readdirplus request;
	struct record record = { .next = buf };
	struct transport transport;
	struct io_uring_cqe cqe;
	struct fuse fuse;
	double began;
	long got;
	int fd;

	fuse_open(&fuse, env, options);
	fd = open(fuse.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(fd >= 0);
	transport_open(&transport, env->kind, 0);
	request = request_readdirplus(fd, buf, sizeof(buf));
	/* That of all files. */
	request.off = 2;
	began = now() + BEFORE;
	if (transport_in_task(env->kind)) {
		alarm_after(BEFORE * 1000000);
		got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request);
	} else {
		MUST(transport_queue(&transport, RINGWALK_IOC_READDIRPLUS, &request, REQUEST));
		MUST(ring_submit(&transport.ring, 0) == 1);
		usleep(BEFORE * 1000000);
		MUST(ring_cancel_and_wait(&transport.ring, REQUEST, &cqe, NULL) == 0);
		transport_finish(&transport, RINGWALK_IOC_READDIRPLUS, &request, &cqe);
		got = cqe.res;
	}
	CHECK(now() - began < SOON, "ended %.1f s after it should", now() - began);
	CHECK(got > 0, "%ld", got);
	while (record.next < buf + got) {
		MUST(!record_parse(record.next, buf + got - record.next, &request.fields, &record));
		CHECK(record.stat ? !record.entry->error : record.entry->error == -EINTR, "%s: %d", record.name, record.entry->error);
		if (record.stat)
			finished++;
		else
			unfinished++;
	}
	CHECK(finished > 0 && unfinished > 0, "%u entries with metadata, %u without", finished, unfinished);
	transport_close(&transport);
	close(fd);
	fuse_close(&fuse);
}

const struct test test = {
	.name = "one_position",
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
