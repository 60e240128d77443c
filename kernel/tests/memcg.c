// SPDX-License-Identifier: GPL-2.0-only
/*
 * In a control group with little memory requests succeed, fail with ENOMEM, or their process is
 * killed. No memory stays charged.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define ROOT "/sys/fs/cgroup"
#define IN_FLIGHT 64

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

static void in_group(struct env *env, const char *path, const char *limit)
{
	pid_t child;
	int status;
	double until;

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
	/* io_uring ends after the process. */
	for (until = now() + 10; rmdir(group) && now() < until;)
		usleep(10000);
	CHECK(access(group, F_OK), "the group with %s bytes cannot be removed", limit);
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
