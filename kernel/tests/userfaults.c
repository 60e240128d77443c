// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests whose memory is handled by userfaultfd(2): a request waits in the copy until the page is
 * given. SIGKILL ends a task whose request waits there.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/faults.h"
#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"
#include "lib/walk.h"

#define LEN	(64 << 10)
#define FILES	200

/* How long a request may take to its next access, in milliseconds. */
#define ACCESS_MS	1000
/* How often the giver of pages looks whether it is to stop. */
#define STOP_MS		50

struct giver {
	struct faults faults;
	unsigned int pages;
	volatile bool stop;
};

/* Gives pages until it is to stop. */
static void *give_pages(void *arg)
{
	struct giver *giver = arg;

	while (!giver->stop) {
		char *page = faults_wait(&giver->faults, STOP_MS);

		if (!page)
			continue;
		/* Others may want to run here, too. */
		usleep(1000);
		faults_give(&giver->faults, page);
		giver->pages++;
	}
	return NULL;
}

/* Every page of the answer comes late; the answer is right. */
static void late_pages(struct env *env, int fd, const char *path, const struct list *list)
{
	struct ringwalk_readdirplus plus;
	struct transport transport;
	struct giver giver = { };
	pthread_t thread;

	transport_open(&transport, env->kind, 0);
	faults_open(&giver.faults, LEN);
	MUST(pthread_create(&thread, NULL, give_pages, &giver) == 0);
	plus = request_readdirplus(fd, giver.faults.memory, LEN);
	plus.off = 0;
	CHECK_NULL(request_compare_rest(&transport, &plus, path, list, 0), "late pages");
	giver.stop = true;
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(giver.pages >= 4, "only %u pages were waited for", giver.pages);
	faults_close(&giver.faults);
	transport_close(&transport);
}

/* The same for a folder and one below it. */
static void late_pages_of_tree(struct env *env, int fd, const char *path)
{
	static struct walk walk;
	struct ringwalk_readtree tree;
	struct transport transport;
	struct giver giver = { };
	pthread_t thread;
	long got;

	transport_open(&transport, env->kind, 0);
	faults_open(&giver.faults, LEN);
	MUST(pthread_create(&thread, NULL, give_pages, &giver) == 0);
	tree = request_readtree(fd, giver.faults.memory, LEN);
	tree.off = 0;
	/* Reading a folder may change the time of its last access. */
	tree.fields.mask &= ~STATX_ATIME;
	walk.transport = &transport;
	walk_begin(&walk);
	got = walk_request(&walk, &tree, path);
	CHECK(got > 0 && walk.directories == 2 && walk.entries == FILES + 3 + 2, "readtree: %ld, %u folders, %ju entries", got,
	      walk.directories, (uintmax_t)walk.entries);
	giver.stop = true;
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(giver.pages >= 4, "only %u pages of readtree were waited for", giver.pages);
	faults_close(&giver.faults);
	transport_close(&transport);
}

/* Makes a request whose page is never given. */
static void wait_for_ever(struct env *env, int fd, int ready, unsigned int command)
{
	struct ringwalk_getdents dents;
	struct ringwalk_readdirplus plus;
	struct ringwalk_readtree tree;
	struct transport transport;
	struct faults faults;
	void *request;

	transport_open(&transport, env->kind, 0);
	faults_open(&faults, LEN);
	dents = request_getdents(fd, faults.memory, LEN);
	plus = request_readdirplus(fd, faults.memory, LEN);
	tree = request_readtree(fd, faults.memory, LEN);
	dents.off = plus.off = tree.off = 0;
	request = command == RINGWALK_IOC_GETDENTS ? (void *)&dents : command == RINGWALK_IOC_READTREE ? (void *)&tree : &plus;
	/* The child keeps the descriptor of the faults, and reports the first one to the test. */
	if (!fork()) {
		if (faults_wait(&faults, ACCESS_MS))
			MUST(write(ready, "", 1) == 1);
		pause();
		_exit(0);
	}
	transport_call(&transport, command, request);
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

	tree_files(fd, "file", FILES);
	MUST(mkdirat(fd, "folder", 0755) == 0);
	list_read(&list, fd);
	killed(env, fd, RINGWALK_IOC_GETDENTS);
	if (transport_has(env->kind, OPCODE_READDIRPLUS)) {
		late_pages(env, fd, path, &list);
		killed(env, fd, RINGWALK_IOC_READDIRPLUS);
	}
	if (!transport_is_opcode(env->kind)) {
		late_pages_of_tree(env, fd, path);
		killed(env, fd, RINGWALK_IOC_READTREE);
	}
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
