// SPDX-License-Identifier: GPL-2.0-only
/*
 * In a control group with little memory requests succeed, fail with ENOMEM, or their process is
 * killed. No memory stays charged. The names of attributes are charged while a request runs.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/faults.h"
#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define ROOT "/sys/fs/cgroup"
#define IN_FLIGHT 64
/* Requests whose memory is looked at; every ring has as many threads. */
#define WAITING 2
#define NAMES_LEN (60 << 10)
/* btrfs looks for thousands of names in each entry: 20 s are too short on a debug kernel. */
#define FAULT_MS 100000
#define SUM_SECONDS 3

static char group[128];

static int write_group(const char *file, const char *text)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", group, file);
	return write_text(path, text);
}

static void make_group(const char *limit)
{
	snprintf(group, sizeof(group), ROOT "/ringwalk-test.%d", (int)getpid());
	if (write_text(ROOT "/cgroup.subtree_control", "+memory"))
		test_skip("no control groups of memory");
	if (mkdir(group, 0755))
		test_skip("%s: %s", group, strerror(errno));
	MUST(write_group("memory.max", limit) == 0);
	write_group("memory.swap.max", "0");
}

static void remove_group(const char *limit)
{
	double until;

	/* io_uring ends after the process. */
	for (until = now() + 10; rmdir(group) && now() < until;)
		usleep(10000);
	CHECK(access(group, F_OK), "the group with %s bytes cannot be removed", limit);
}

/* Large outputs, many at a time: each takes kernel memory while it runs. */
static void requests(struct env *env, const char *path)
{
	static struct ringwalk_readdirplus request[IN_FLIGHT];
	struct transport transport;
	struct io_uring_cqe cqe;
	int fd;

	MUST(write_group("cgroup.procs", "0") == 0);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	transport_open(&transport, env->kind, IN_FLIGHT);
	for (int round = 0; round < 1; round++) {
		for (int i = 0; i < IN_FLIGHT; i++) {
			char *out = mmap(NULL, RINGWALK_BUFFER_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			long got;

			if (out == MAP_FAILED)
				return;
			request[i] = request_readdirplus(fd, out, RINGWALK_BUFFER_MAX);
			request[i].off = 0;
			request[i].flags = RINGWALK_F_XATTR_ALL;
			request_xattrs(&request[i].fields, NULL, 0, 4096, 8192);
			if (env->kind != TRANSPORT_IOCTL) {
				MUST(transport_queue(&transport, RINGWALK_IOC_READDIRPLUS, &request[i], i));
				continue;
			}
			got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request[i]);
			CHECK(got > 0 || got == -ENOMEM || got == -EFAULT, "%ld", got);
		}
		for (int i = 0; i < IN_FLIGHT && env->kind != TRANSPORT_IOCTL; i++) {
			MUST(ring_wait(&transport.ring, &cqe) == 0);
			/* EFAULT: no memory for the caller's own page. */
			CHECK(cqe.res > 0 || cqe.res == -ENOMEM || cqe.res == -EFAULT || cqe.res == -EINTR, "%d", cqe.res);
		}
		for (int i = 0; i < IN_FLIGHT; i++)
			munmap((void *)(uintptr_t)request[i].buf, RINGWALK_BUFFER_MAX);
	}
	transport_close(&transport);
}

/* The kernel memory that is charged to the group. */
static long kernel_memory(void)
{
	static char stat[8192];
	char path[200];
	const char *line;

	snprintf(path, sizeof(path), "%s/memory.stat", group);
	MUST(read_text(path, stat, sizeof(stat)) > 0);
	line = strstr(stat, "\nkernel ");
	MUST(line);
	return atol(line + strlen("\nkernel "));
}

/*
 * Returns what is charged while requests with names of this length wait for a page of theirs. The
 * kernel sums up small changes every two seconds. So this looks until @least bytes are charged, for
 * SUM_SECONDS at most.
 */
static long charged(struct env *env, const char *path, const char *names, uint32_t len, long least)
{
	struct ringwalk_readdirplus request[WAITING];
	struct transport transport;
	struct io_uring_cqe cqe;
	struct faults faults;
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	double until;
	long memory;

	MUST(fd >= 0);
	transport_open(&transport, env->kind, WAITING);
	faults_open(&faults, WAITING * FAULTS_PAGE);
	for (int i = 0; i < WAITING; i++) {
		request[i] = request_readdirplus(fd, faults.memory + i * FAULTS_PAGE, FAULTS_PAGE);
		request[i].off = 0;
		request_xattrs(&request[i].fields, names, len, 100, 200);
		MUST(transport_queue(&transport, RINGWALK_IOC_READDIRPLUS, &request[i], i));
	}
	MUST(ring_submit(&transport.ring, 0) == WAITING);
	for (int i = 0; i < WAITING; i++)
		MUST(faults_wait(&faults, FAULT_MS));
	until = now() + SUM_SECONDS;
	do {
		usleep(100000);
		memory = kernel_memory();
	} while (memory < least && now() < until);
	for (int i = 0; i < WAITING; i++)
		MUST(faults_give(&faults, faults.memory + i * FAULTS_PAGE) == 0);
	for (int i = 0; i < WAITING; i++) {
		MUST(ring_wait(&transport.ring, &cqe) == 0);
		CHECK(cqe.res > 0, "%d", cqe.res);
	}
	transport_close(&transport);
	faults_close(&faults);
	close(fd);
	return memory;
}

/* Many names make no difference but for their memory. */
static void names_are_charged(struct env *env, const char *path)
{
	static char names[NAMES_LEN];
	long few, least, many;
	int status;
	pid_t child;

	for (size_t at = 0; at + 12 <= sizeof(names); at += 12)
		memcpy(names + at, "user.sevens", 12);
	make_group("max");
	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		MUST(write_group("cgroup.procs", "0") == 0);
		/* No amount is enough, so this looks after the whole time. */
		few = charged(env, path, names, 12, LONG_MAX);
		least = few + WAITING * NAMES_LEN * 3 / 4;
		many = charged(env, path, names, sizeof(names), least);
		CHECK(many >= least, "%ld bytes are charged with few names, %ld with many", few, many);
		test_child_exit();
	}
	MUST(waitpid(child, &status, 0) == child);
	remove_group("max");
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIP)
		test_skip("no userfaultfd");
	CHECK(status == 0, "status 0x%x", status);
}

static void in_group(struct env *env, const char *path, const char *limit)
{
	pid_t child;
	int status;

	make_group(limit);
	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		requests(env, path);
		test_child_exit();
	}
	MUST(waitpid(child, &status, 0) == child);
	CHECK((WIFEXITED(status) && WEXITSTATUS(status) == EXIT_PASS) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL),
	      "with %s bytes: status 0x%x", limit, status);
	remove_group(limit);
}

static void run(struct env *env)
{
	static const char *const limits[] = { "64M", "8M", "1M" };
	struct transport transport;
	struct list list;
	char path[512], console[64] = "";
	int fd = tree_folder(env->path, "folder", path);

	tree_files(fd, "file", 300);
	list_read(&list, fd);
	/* Keep the long reports of each kill in the log, because a serial console is slow. */
	read_text("/proc/sys/kernel/printk", console, sizeof(console));
	write_text("/proc/sys/kernel/printk", "1");
	write_text("/proc/sys/vm/oom_dump_tasks", "0");
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		in_group(env, path, limits[i]);
	write_text("/proc/sys/kernel/printk", console);
	/* By one transport of each kind whose requests wait together. */
	if (env->kind == TRANSPORT_WORKER || env->kind == TRANSPORT_OPCODE)
		names_are_charged(env, path);
	transport_open(&transport, env->kind, 0);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	request_check_names(&transport, fd, 4096, &list, 0, "afterwards");
	transport_close(&transport);
	close(fd);
}

const struct test test = {
	.name = "memcg",
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
