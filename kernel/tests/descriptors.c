// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests descriptors that are no open directory, duplicates, and descriptors that are closed while
 * requests on them are in flight.
 */
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

static struct transport transport;
static struct list names;
static char buf[16384] __attribute__((aligned(8)));

/* Every command must refuse @fd with @error, or with @other. */
static void all_refuse(int fd, int error, int other, const char *what)
{
	struct ringwalk_getdents getdents = request_getdents(fd, buf, sizeof(buf));
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct ringwalk_stat_batch batch = request_stat_batch(fd, names.bytes, names.len, buf, sizeof(buf));
	struct ringwalk_readahead ahead = request_readahead(fd);
	const struct { unsigned int command; enum opcode opcode; void *request; const char *name; } all[] = {
		{ RINGWALK_IOC_GETDENTS, OPCODE_GETDENTS, &getdents, "getdents" },
		{ RINGWALK_IOC_READDIRPLUS, OPCODE_READDIRPLUS, &plus, "readdirplus" },
		{ RINGWALK_IOC_READAHEAD, OPCODE_NONE, &ahead, "readahead" },
		{ RINGWALK_IOC_STAT_BATCH, OPCODE_NONE, &batch, "stat_batch" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		long got;

		if (!transport_has(transport.kind, all[i].opcode))
			continue;
		got = transport_call(&transport, all[i].command, all[i].request);
		CHECK(got == error || got == other, "%s of %s: %ld, not %d", all[i].name, what, got, error);
	}
}

static void not_directories(struct env *env)
{
	int sockets[2], pipes[2], fd;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0 && pipe(pipes) == 0);
	all_refuse(sockets[0], -ENOTDIR, -ENOTDIR, "a socket");
	all_refuse(pipes[0], -ENOTDIR, -ENOTDIR, "a pipe");
	all_refuse(pipes[1], -ENOTDIR, -EBADF, "a pipe's end for writing");
	fd = eventfd(0, 0);
	all_refuse(fd, -ENOTDIR, -ENOTDIR, "an eventfd");
	close(fd);
	fd = open("/dev/null", O_RDONLY);
	all_refuse(fd, -ENOTDIR, -ENOTDIR, "a device");
	close(fd);
	fd = openat(env->fd, "file", O_RDONLY | O_CREAT, 0644);
	all_refuse(fd, -ENOTDIR, -ENOTDIR, "a file");
	close(fd);
	fd = openat(env->fd, "file", O_WRONLY);
	all_refuse(fd, -ENOTDIR, -EBADF, "a file open for writing");
	close(fd);
	fd = openat(env->fd, "file", O_PATH);
	all_refuse(fd, -EBADF, -EBADF, "a file with O_PATH");
	close(fd);
	fd = openat(env->fd, ".", O_PATH | O_DIRECTORY);
	all_refuse(fd, -EBADF, -EBADF, "a folder with O_PATH");
	close(fd);
	all_refuse(fd, -EBADF, -EBADF, "a closed descriptor");
	all_refuse(AT_FDCWD, -EBADF, -EBADF, "AT_FDCWD");
	if (transport.device >= 0)
		all_refuse(transport.device, -ENOTDIR, -ENOTDIR, "the module's own device");
	if (transport.ring.fd >= 0)
		all_refuse(transport.ring.fd, -ENOTDIR, -ENOTDIR, "the ring itself");
	close(sockets[0]);
	close(sockets[1]);
	close(pipes[0]);
	close(pipes[1]);
}

/*
 * A duplicate and a descriptor got from another process are the same open file, and share its
 * position.
 */
static void shared(struct env *env, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY), twin = dup(fd);
	struct list list, part = { };
	pid_t child;

	for (int turn = 0; turn < 1000; turn++) {
		struct ringwalk_getdents request = request_getdents(turn % 2 ? fd : twin, buf, 128);
		long got = transport_call(&transport, RINGWALK_IOC_GETDENTS, &request);

		if (got <= 0)
			break;
		list_append(&part, buf, got);
	}
	CHECK_NULL(list_differs(&part, &names, 0), "duplicates in turn");
	list_free(&part);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		struct transport own;
		struct ringwalk_getdents request = request_getdents(twin, buf, 256);

		/* A ring cannot be used after fork(). */
		transport_open(&own, env->kind, 0);
		CHECK(transport_call(&own, RINGWALK_IOC_GETDENTS, &request) > 0, "in a child process");
		test_child_exit();
	}
	WAIT_CHILD(child);
	/* sys_getdents64 with the same length shows how far that was. */
	MUST((child = open(path, O_RDONLY | O_DIRECTORY)) >= 0);
	for (int i = 0; i < 5; i++) {
		MUST(lseek(child, 0, SEEK_SET) == 0);
		MUST(sys_getdents64(child, buf, 256) > 0);
		/* It ends early if io_uring has work for this task. */
		if (lseek(fd, 0, SEEK_CUR) == lseek(child, 0, SEEK_CUR))
			break;
	}
	CHECK(lseek(fd, 0, SEEK_CUR) == lseek(child, 0, SEEK_CUR), "a child process moves the position of another file");
	CHECK(!request_all_names(&transport, fd, 4096, &list), "the rest");
	list_free(&list);
	close(child);
	close(fd);
	close(twin);
}

/*
 * The descriptor is closed when the request may have begun or not: it is served, or refused with
 * EBADF.
 */
static void closed_in_flight(struct env *env, const char *path)
{
	enum { IN_FLIGHT = 8 };
	static char out[IN_FLIGHT][4096] __attribute__((aligned(8)));

	if (env->kind == TRANSPORT_IOCTL)
		return;
	for (int round = 0; round < (env->full ? 100 : 24); round++) {
		struct ringwalk_readdirplus requests[IN_FLIGHT];
		int fd = open(path, O_RDONLY | O_DIRECTORY);
		struct io_uring_cqe cqe;

		MUST(fd >= 0);
		for (int i = 0; i < IN_FLIGHT; i++) {
			requests[i] = request_readdirplus(fd, out[i], sizeof(out[i]));
			MUST(transport_queue(&transport, RINGWALK_IOC_READDIRPLUS, &requests[i], i));
		}
		CHECK(ring_submit(&transport.ring, 0) == IN_FLIGHT, "submission");
		close(fd);
		/* Another file may have its number by then. */
		if (round % 3 == 0)
			fd = open(round % 2 ? path : "/dev/null", O_RDONLY);
		for (int i = 0; i < IN_FLIGHT; i++) {
			MUST(ring_wait(&transport.ring, &cqe) == 0);
			CHECK(cqe.res >= 0 || cqe.res == -EBADF || (round % 3 == 0 && cqe.res == -ENOTDIR), "request %ju: %d",
			      (uintmax_t)cqe.user_data, cqe.res);
		}
		if (round % 3 == 0)
			close(fd);
	}
}

/* Counts the names of an answer of GETDENTS or READDIRPLUS. */
static void count_names(unsigned int *seen, const char *at, long len, bool plus, const struct ringwalk_fields *fields)
{
	const char *end = at + len;

	while (at < end) {
		const struct dirent_record *dirent = (const void *)at;
		struct record record;
		long found;

		if (plus && record_parse(at, end - at, fields, &record))
			test_stop(__FILE__, __LINE__, "a malformed record");
		found = list_find(&names, plus ? record.name : dirent->d_name);
		CHECK(found >= 0, "%s is not there", plus ? record.name : dirent->d_name);
		if (found >= 0)
			seen[found]++;
		at = plus ? record.next : at + dirent->d_reclen;
	}
}

/*
 * Many requests on one open file with the current position: each gets the next piece, and no entry
 * comes twice.
 */
static void pieces(const char *path, bool plus)
{
	enum { IN_FLIGHT = 16 };
	static char out[IN_FLIGHT][1024] __attribute__((aligned(8)));
	unsigned int command = plus ? RINGWALK_IOC_READDIRPLUS : RINGWALK_IOC_GETDENTS;
	union {
		struct ringwalk_getdents getdents;
		struct ringwalk_readdirplus plus;
	} requests[IN_FLIGHT];
	unsigned int *seen = calloc(names.count, sizeof(*seen)), ended = 0;
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct io_uring_cqe cqe;

	for (int i = 0; i < IN_FLIGHT; i++) {
		if (plus)
			requests[i].plus = request_readdirplus(fd, out[i], sizeof(out[i]));
		else
			requests[i].getdents = request_getdents(fd, out[i], 128);
		MUST(transport_queue(&transport, command, &requests[i], i));
	}
	while (ended < IN_FLIGHT) {
		MUST(ring_wait(&transport.ring, &cqe) == 0);
		CHECK(cqe.res >= 0, "request: %d", cqe.res);
		if (cqe.res <= 0) {
			ended++;
			continue;
		}
		count_names(seen, out[cqe.user_data], cqe.res, plus, &requests[cqe.user_data].plus.fields);
		MUST(transport_queue(&transport, command, &requests[cqe.user_data], cqe.user_data));
	}
	for (size_t i = 0; i < names.count; i++)
		CHECK(seen[i] == 1, "%s was seen %u times", names.at[i]->d_name, seen[i]);
	free(seen);
	close(fd);
}

static void run(struct env *env)
{
	char path[512];
	int fd = tree_folder(env->path, "folder", path);

	transport_open(&transport, env->kind, 32);
	tree_files(fd, "name", env->fs == FS_FUSE ? 50 : 200);
	list_read(&names, fd);
	not_directories(env);
	shared(env, path);
	if (transport_has(env->kind, OPCODE_READDIRPLUS))
		closed_in_flight(env, path);
	for (int round = 0; env->kind != TRANSPORT_IOCTL && round < (env->full ? 20 : 4) && !test_failures(); round++)
		pieces(path, round % 2 && transport_has(env->kind, OPCODE_READDIRPLUS));
	transport_close(&transport);
	close(fd);
}

const struct test test = {
	.name = "descriptors",
	.each_fs = true,
	.kinds = BY_ALL,
	.run = run,
};
