// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests whose memory is handled by userfaultfd(2): a request waits in the copy until the page is
 * given. SIGKILL ends a task whose request waits there.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/userfaultfd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define LEN	(64 << 10)

/* Memory in which the first access to a page waits until a reader of @fault_fd gives the page. */
struct faulting {
	int fault_fd;
	char *memory;
	unsigned int pages;
};

static void faulting_open(struct faulting *faulting)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	faulting->pages = 0;
	/* Without UFFD_USER_MODE_ONLY: the kernel makes the accesses. poll() needs O_NONBLOCK. */
	faulting->fault_fd = syscall(__NR_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (faulting->fault_fd < 0)
		test_skip("userfaultfd: %s", strerror(errno));
	MUST(ioctl(faulting->fault_fd, UFFDIO_API, &api) == 0);
	faulting->memory = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(faulting->memory != MAP_FAILED);
	range.range.start = (uintptr_t)faulting->memory;
	range.range.len = LEN;
	MUST(ioctl(faulting->fault_fd, UFFDIO_REGISTER, &range) == 0);
}

static void faulting_close(struct faulting *faulting)
{
	munmap(faulting->memory, LEN);
	close(faulting->fault_fd);
}

/* Waits for an access. Returns false if there is none for a second. */
static bool wait_for_access(struct faulting *faulting, struct uffd_msg *message)
{
	struct pollfd event = { .fd = faulting->fault_fd, .events = POLLIN };

	return poll(&event, 1, 1000) == 1 && read(faulting->fault_fd, message, sizeof(*message)) == sizeof(*message);
}

/* Gives pages until the memory is unregistered. */
static void *give_pages(void *arg)
{
	struct faulting *faulting = arg;
	struct uffd_msg message;

	while (wait_for_access(faulting, &message)) {
		struct uffdio_zeropage zero = { .range.len = 4096 };

		zero.range.start = message.arg.pagefault.address & ~4095ull;
		/* Others may want to run here, too. */
		usleep(1000);
		ioctl(faulting->fault_fd, UFFDIO_ZEROPAGE, &zero);
		faulting->pages++;
	}
	return NULL;
}

/* Every page of the answer comes late; the answer is right. */
static void late_pages(struct env *env, int fd, const char *path, const struct list *list)
{
	struct ringwalk_readdirplus plus;
	struct transport transport;
	struct faulting faulting;
	pthread_t thread;

	transport_open(&transport, env->kind, 0);
	faulting_open(&faulting);
	MUST(pthread_create(&thread, NULL, give_pages, &faulting) == 0);
	plus = request_readdirplus(fd, faulting.memory, LEN);
	plus.off = 0;
	CHECK_NULL(request_compare_rest(&transport, &plus, path, list, 0), "late pages");
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(faulting.pages >= 4, "only %u pages were waited for", faulting.pages);
	faulting_close(&faulting);
	transport_close(&transport);
}

/* Makes a request whose page is never given. */
static void wait_for_ever(struct env *env, int fd, int ready, unsigned int command)
{
	struct ringwalk_getdents dents;
	struct ringwalk_readdirplus plus;
	struct transport transport;
	struct faulting faulting;
	struct uffd_msg message;

	transport_open(&transport, env->kind, 0);
	faulting_open(&faulting);
	dents = request_getdents(fd, faulting.memory, LEN);
	plus = request_readdirplus(fd, faulting.memory, LEN);
	dents.off = plus.off = 0;
	/* The child keeps the descriptor of the faults, and reports the first one to the test. */
	if (!fork()) {
		if (wait_for_access(&faulting, &message))
			MUST(write(ready, "", 1) == 1);
		pause();
		_exit(0);
	}
	transport_call(&transport, command, command == RINGWALK_IOC_GETDENTS ? (void *)&dents : (void *)&plus);
	_exit(0);
}

static void killed(struct env *env, int fd, unsigned int command)
{
	double until;
	int ready[2], status;
	pid_t child;
	char byte;

	MUST(pipe(ready) == 0);
	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		MUST(setpgid(0, 0) == 0);
		wait_for_ever(env, fd, ready[1], command);
	}
	close(ready[1]);
	MUST(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	CHECK(waitpid(child, &status, WNOHANG) == 0, "the request did not wait");
	kill(child, SIGKILL);
	for (until = now() + 5; waitpid(child, &status, WNOHANG) == 0 && now() < until;)
		usleep(2000);
	CHECK(now() < until, "a task whose request waits for a page cannot be killed");
	/* The keeper of the descriptor. */
	kill(-child, SIGKILL);
}

static void run(struct env *env)
{
	char path[512];
	int fd = tree_folder(env->path, "folder", path);
	struct list list;

	tree_files(fd, "file", 200);
	list_read(&list, fd);
	late_pages(env, fd, path, &list);
	killed(env, fd, RINGWALK_IOC_GETDENTS);
	killed(env, fd, RINGWALK_IOC_READDIRPLUS);
	/* Nobody holds a lock of the folder any more. */
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	CHECK(sys_getdents64(fd, list.bytes, list.len) > 0, "the folder cannot be read afterwards");
	list_free(&list);
	close(fd);
}

const struct test test = {
	.name = "userfaults",
	.kinds = BY_ALL,
	.run = run,
};
