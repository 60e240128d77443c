// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests cause what getdents64(2) causes: fanotify's events, among them those that a listener may
 * deny, inotify's events, and the folder's time of access.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/sys.h"
#include "lib/test.h"
#include "lib/tree.h"

static char buf[65536] __attribute__((aligned(8)));
static struct transport transport;

enum work { SYSTEM_CALL, GETDENTS, READDIRPLUS, WORKS };
static const char *const work_names[] = { "getdents64", "getdents", "readdirplus" };

/* Reads the folder from its beginning, by one request. */
static long make(enum work work, int fd)
{
	struct ringwalk_getdents dents = request_getdents(fd, buf, sizeof(buf));
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));

	MUST(lseek(fd, 0, SEEK_SET) == 0);
	switch (work) {
	case SYSTEM_CALL:
		return sys_getdents64(fd, buf, sizeof(buf));
	case GETDENTS:
		return transport_call(&transport, RINGWALK_IOC_GETDENTS, &dents);
	default:
		return transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus);
	}
}

/* Waits for one event; false if there is none. */
static bool wait_readable(int fd)
{
	struct pollfd event = { .fd = fd, .events = POLLIN };

	return poll(&event, 1, 200) == 1;
}

/* Answers requests for permission until its group is closed. */
struct listener {
	int group;
	uint32_t answer;
	/* requests for permission to read the folder, and to open something */
	unsigned int reads;
	unsigned int opens;
	bool end;
};

static void *listen_to(void *arg)
{
	struct listener *listener = arg;
	struct fanotify_event_metadata event;

	while (!__atomic_load_n(&listener->end, __ATOMIC_RELAXED)) {
		struct fanotify_response response = { .response = listener->answer };

		if (!wait_readable(listener->group))
			continue;
		if (read(listener->group, &event, sizeof(event)) != sizeof(event))
			continue;
		response.fd = event.fd;
		if (event.mask & FAN_ACCESS_PERM)
			listener->reads++;
		if (event.mask & FAN_OPEN_PERM)
			listener->opens++;
		MUST(write(listener->group, &response, sizeof(response)) == sizeof(response));
		close(event.fd);
	}
	return NULL;
}

static void mark(const struct listener *listener, const char *path, uint64_t events)
{
	MUST(fanotify_mark(listener->group, FAN_MARK_ADD, events | FAN_ONDIR | FAN_EVENT_ON_CHILD, AT_FDCWD, path) == 0);
}

/*
 * A listener that can deny the system call can deny the request, and sees no opening of files.
 * READAHEAD opens the folder again.
 */
static void permission(const char *path, uint32_t answer)
{
	struct listener listener = { .answer = answer };
	struct ringwalk_readahead ahead;
	pthread_t thread;
	int fd;

	listener.group = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY | O_LARGEFILE);
	MUST(listener.group >= 0);
	/* Since 6.12 only files that are opened under a mark ask for permission. */
	mark(&listener, path, FAN_ACCESS_PERM);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(fd >= 0);
	mark(&listener, path, FAN_OPEN_PERM);
	ahead = request_readahead(fd);
	MUST(pthread_create(&thread, NULL, listen_to, &listener) == 0);
	for (enum work work = SYSTEM_CALL; work < WORKS; work++) {
		unsigned int before = listener.reads;
		long got = make(work, fd);

		if (answer == FAN_DENY)
			CHECK(got == -EPERM, "%s of a denied folder: %ld", work_names[work], got);
		else
			CHECK(got > 0, "%s: %ld", work_names[work], got);
		CHECK(listener.reads > before, "%s asks for no permission", work_names[work]);
	}
	CHECK(listener.opens == 0, "%u files were opened", listener.opens);
	if (!transport_is_opcode(transport.kind)) {
		long got;

		ahead.off = 0;
		got = transport_call(&transport, RINGWALK_IOC_READAHEAD, &ahead);
		CHECK(got == (answer == FAN_DENY ? -EPERM : 0), "readahead: %ld", got);
		CHECK(listener.opens == 1, "readahead opened %u files", listener.opens);
	}
	__atomic_store_n(&listener.end, true, __ATOMIC_RELAXED);
	MUST(pthread_join(thread, NULL) == 0);
	close(listener.group);
	close(fd);
}

/* READTREE opens the folders below as openat(2) does, so a listener can deny that. */
static void permission_below(struct env *env, uint32_t answer)
{
	static char out[8192] __attribute__((aligned(8)));
	const struct ringwalk_group *above = (const void *)out, *group;
	struct listener listener = { .answer = answer };
	struct ringwalk_readtree request;
	char path[512], below[520];
	pthread_t thread;
	int fd, other;
	long got;

	fd = tree_folder(env->path, answer == FAN_DENY ? "denied" : "allowed", path);
	other = tree_folder(path, "below", below);
	tree_files(other, "file", 3);
	close(other);
	listener.group = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY | O_LARGEFILE);
	MUST(listener.group >= 0);
	mark(&listener, below, FAN_OPEN_PERM);
	MUST(pthread_create(&thread, NULL, listen_to, &listener) == 0);
	request = request_readtree(fd, out, sizeof(out));
	request.off = 0;
	got = transport_call(&transport, RINGWALK_IOC_READTREE, &request);
	CHECK(listener.opens == 1, "readtree asks %u times to open the folder below", listener.opens);
	CHECK(got > 0 && request.groups == 2, "%ld bytes of %u groups", got, request.groups);
	if (got > 0 && request.groups == 2) {
		group = (const void *)(out + above->reclen);
		CHECK(group->error == (answer == FAN_DENY ? -EPERM : 0), "the folder below: %d", group->error);
		CHECK(group->entries == (answer == FAN_DENY ? 0 : 5), "the folder below: %u entries", group->entries);
	}
	__atomic_store_n(&listener.end, true, __ATOMIC_RELAXED);
	MUST(pthread_join(thread, NULL) == 0);
	close(listener.group);
	close(fd);
}

/* Returns all bits of the events that are there. */
static uint64_t fanotify_events(int group)
{
	struct fanotify_event_metadata event;
	uint64_t mask = 0;

	while (read(group, &event, sizeof(event)) == sizeof(event)) {
		mask |= event.mask;
		if (event.fd >= 0)
			close(event.fd);
	}
	return mask;
}

static uint32_t inotify_events(int group)
{
	char text[4096] __attribute__((aligned(8)));
	uint32_t mask = 0;
	ssize_t got;

	while ((got = read(group, text, sizeof(text))) > 0)
		for (ssize_t at = 0; at < got; at += sizeof(struct inotify_event) + ((struct inotify_event *)(text + at))->len)
			mask |= ((struct inotify_event *)(text + at))->mask;
	return mask;
}

static void events(int fd, const char *path)
{
	int fa = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY | O_LARGEFILE);
	int in = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	uint64_t fa_truth = 0;
	uint32_t in_truth = 0;

	MUST(fa >= 0 && in >= 0);
	MUST(fanotify_mark(fa, FAN_MARK_ADD, FAN_ACCESS | FAN_OPEN | FAN_CLOSE | FAN_MODIFY | FAN_ONDIR | FAN_EVENT_ON_CHILD, fd,
			   NULL) == 0);
	MUST(inotify_add_watch(in, path, IN_ALL_EVENTS) >= 0);
	for (enum work work = SYSTEM_CALL; work < WORKS; work++) {
		uint64_t fa_mask;
		uint32_t in_mask;

		CHECK(make(work, fd) > 0, "%s", work_names[work]);
		fa_mask = fanotify_events(fa);
		in_mask = inotify_events(in);
		if (work == SYSTEM_CALL) {
			MUST(fa_mask & FAN_ACCESS && in_mask & IN_ACCESS);
			fa_truth = fa_mask;
			in_truth = in_mask;
		}
		CHECK(fa_mask == fa_truth, "%s: fanotify events 0x%jx, not 0x%jx", work_names[work], (uintmax_t)fa_mask,
		      (uintmax_t)fa_truth);
		CHECK(in_mask == in_truth, "%s: inotify events 0x%x, not 0x%x", work_names[work], in_mask, in_truth);
	}
	close(fa);
	close(in);
}

/*
 * READAHEAD opens the folder again. It is closed before the next request of a submission, or a task
 * could have more files open than its limit allows. Linux before 6.6 closes it only when the task
 * returns from its system call.
 */
static void closed_at_once(int fd, const char *path)
{
	enum { REQUESTS = 8 };
	struct ringwalk_readahead ahead = request_readahead(fd);
	int in = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char text[4096] __attribute__((aligned(8)));
	const struct inotify_event *event = (const void *)text;
	struct io_uring_cqe cqe;
	unsigned int opened = 0;

	MUST(in >= 0 && inotify_add_watch(in, path, IN_OPEN | IN_CLOSE) >= 0);
	ahead.off = 0;
	for (int i = 0; i < REQUESTS; i++)
		MUST(transport_queue(&transport, RINGWALK_IOC_READAHEAD, &ahead, i));
	MUST(ring_submit(&transport.ring, REQUESTS) == REQUESTS);
	for (int i = 0; i < REQUESTS; i++)
		MUST(ring_take(&transport.ring, &cqe) && cqe.res == 0);
	/* Equal events that follow each other are one. */
	for (ssize_t left = read(in, text, sizeof(text)); left > 0; left -= sizeof(*event), event++) {
		MUST(event->len == 0);
		opened += !!(event->mask & IN_OPEN);
	}
	CHECK(opened == REQUESTS, "the folder was closed after %u of %u requests", opened, REQUESTS);
	close(in);
}

static struct timespec atime(int fd)
{
	struct stat stat;

	MUST(fstat(fd, &stat) == 0);
	return stat.st_atim;
}

/* Sets an old time of access. Returns true if the request renews it. */
static bool renews(enum work work, int fd)
{
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_nsec = UTIME_OMIT } };

	MUST(futimens(fd, old) == 0);
	CHECK(make(work, fd) > 0, "%s", work_names[work]);
	return atime(fd).tv_sec != 1000;
}

static void compare_times(int fd, const char *what)
{
	bool truth = renews(SYSTEM_CALL, fd);

	for (enum work work = GETDENTS; work < WORKS; work++)
		CHECK(renews(work, fd) == truth, "%s, %s: the time of access is %srenewed", work_names[work], what, truth ? "not " : "");
}

/* The mount's options and the descriptor's flag apply. */
static void times(struct env *env)
{
	char path[512];
	int fd, quiet;

	tree_own_mounts();
	transport_open(&transport, env->kind, 0);
	fd = tree_folder(env->path, "times", path);
	tree_files(fd, "file", 3);
	compare_times(fd, "as mounted");
	quiet = open(path, O_RDONLY | O_DIRECTORY | O_NOATIME);
	MUST(quiet >= 0);
	compare_times(quiet, "O_NOATIME");
	close(quiet);
	close(fd);
	MUST(mount(path, path, NULL, MS_BIND, NULL) == 0);
	for (int i = 0; i < 3; i++) {
		static const unsigned long flags[] = { MS_NOATIME, MS_NODIRATIME, MS_STRICTATIME };
		static const char *const flag_names[] = { "noatime", "nodiratime", "strictatime" };

		MUST(mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | flags[i], NULL) == 0);
		fd = open(path, O_RDONLY | O_DIRECTORY);
		MUST(fd >= 0);
		compare_times(fd, flag_names[i]);
		close(fd);
	}
	MUST(umount2(path, MNT_DETACH) == 0);
	transport_close(&transport);
}

static void run(struct env *env)
{
	char path[512];
	int fd = tree_folder(env->path, "folder", path), group;

	group = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);
	if (group < 0)
		test_skip("fanotify: %s", strerror(errno));
	close(group);
	tree_files(fd, "file", 10);
	transport_open(&transport, env->kind, 0);
	permission(path, FAN_ALLOW);
	permission(path, FAN_DENY);
	/* Names of FUSE are validated each time they are used, so READTREE leaves the folders. */
	if (env->fs != FS_FUSE && !transport_is_opcode(env->kind)) {
		permission_below(env, FAN_ALLOW);
		permission_below(env, FAN_DENY);
	}
	events(fd, path);
	if (env->kind == TRANSPORT_INLINE && !linux_before(6, 6))
		closed_at_once(fd, path);
	transport_close(&transport);
	IN_CHILD(times, env);
	close(fd);
}

const struct test test = {
	.name = "notifications",
	.each_fs = true,
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
