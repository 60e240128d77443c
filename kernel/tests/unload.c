// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module cannot be unloaded while its device is open or a request is in flight. Afterwards it
 * can, and works when it is loaded again.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define IN_FLIGHT 64

/* The place in the guest, unless RINGWALK_KO is set. */
static const char *module_path(void)
{
	const char *path = getenv("RINGWALK_KO");

	return path ? path : "/ringwalk/ringwalk.ko";
}

static int unload(void)
{
	return syscall(__NR_delete_module, "ringwalk", O_NONBLOCK) ? -errno : 0;
}

static int load(void)
{
	int fd = open(module_path(), O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(__NR_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return ret;
}

/* The kernel makes the device's node some time after the module is loaded. */
static void wait_for_device(void)
{
	double until = now() + 5;

	while (access(DEVICE_PATH, F_OK) && now() < until)
		usleep(5000);
	CHECK(access(DEVICE_PATH, F_OK) == 0, "no device after loading");
}

static void reload(const char *when)
{
	double until = now() + 10;
	int error;

	/* A ring releases its files some time after it is closed. */
	while ((error = unload()) == -EAGAIN && now() < until)
		usleep(5000);
	CHECK(!error, "unloading %s: %s", when, strerror(-error));
	if (error)
		return;
	CHECK(access(DEVICE_PATH, F_OK), "a device without its module");
	MUST(load() == 0);
	wait_for_device();
}

static void refused(const char *when)
{
	int error = unload();

	/* delete_module(2): EWOULDBLOCK for a module in use with O_NONBLOCK. */
	CHECK(error == -EWOULDBLOCK, "unloading %s: %d", when, error);
	if (!error) {
		MUST(load() == 0);
		wait_for_device();
	}
}

static void in_use(struct env *env, int fd)
{
	static char out[IN_FLIGHT][4096] __attribute__((aligned(8)));
	static struct ringwalk_readdirplus requests[IN_FLIGHT];
	struct transport transport;
	struct io_uring_cqe cqe;

	transport_open(&transport, env->kind, IN_FLIGHT);
	refused("with an open device");
	if (env->kind != TRANSPORT_IOCTL) {
		for (int i = 0; i < IN_FLIGHT; i++) {
			requests[i] = request_readdirplus(fd, out[i], sizeof(out[i]));
			requests[i].off = 0;
			MUST(transport_queue(&transport, RINGWALK_IOC_READDIRPLUS, &requests[i], i));
		}
		MUST(ring_submit(&transport.ring, 0) == IN_FLIGHT);
		/* Only the requests keep the module loaded now. */
		close(transport.device);
		transport.device = -1;
		unload();
		if (access(DEVICE_PATH, F_OK)) {
			/* All had completed. */
			MUST(load() == 0);
			wait_for_device();
		}
		for (int i = 0; i < IN_FLIGHT; i++) {
			MUST(ring_wait(&transport.ring, &cqe) == 0);
			CHECK(cqe.res > 0, "request %d: %d", i, cqe.res);
		}
	}
	transport_close(&transport);
	reload("after the last one is closed");
}

/* A ring that holds the device as a registered file, without a descriptor. */
static void registered(struct env *env)
{
	struct transport transport;

	if (env->kind == TRANSPORT_IOCTL)
		return;
	transport_open(&transport, env->kind, 8);
	MUST(ring_register(&transport.ring, IORING_REGISTER_FILES, &transport.device, 1) == 0);
	close(transport.device);
	transport.device = -1;
	refused("with a registered device");
	ring_close(&transport.ring);
	reload("after its ring is closed");
}

/* A process is killed with requests in flight. */
static void killed(struct env *env, int fd)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		static char out[IN_FLIGHT][4096] __attribute__((aligned(8)));
		static struct ringwalk_readdirplus requests[IN_FLIGHT];
		struct transport transport;

		transport_open(&transport, env->kind, IN_FLIGHT);
		for (;;) {
			struct io_uring_cqe cqe;

			for (int i = 0; i < IN_FLIGHT; i++) {
				requests[i] = request_readdirplus(fd, out[i], sizeof(out[i]));
				requests[i].off = 0;
				if (env->kind == TRANSPORT_IOCTL)
					transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &requests[i]);
				else
					transport_queue(&transport, RINGWALK_IOC_READDIRPLUS, &requests[i], i);
			}
			if (env->kind != TRANSPORT_IOCTL && ring_submit(&transport.ring, IN_FLIGHT / 2) >= 0)
				while (ring_take(&transport.ring, &cqe))
					;
		}
	}
	usleep(30000);
	unload();
	if (access(DEVICE_PATH, F_OK)) {
		/* The child had not begun. */
		MUST(load() == 0);
		wait_for_device();
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	reload("after a kill");
}

static void works(struct env *env, int fd, const struct list *list)
{
	struct transport transport;

	transport_open(&transport, env->kind, 0);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	request_check_names(&transport, fd, 4096, list, 0, "after loading again");
	transport_close(&transport);
}

static void run(struct env *env)
{
	struct list list;
	char path[512];
	int fd = tree_folder(env->path, "folder", path);

	if (access(module_path(), R_OK))
		test_skip("%s: %s", module_path(), strerror(errno));
	tree_files(fd, "file", 100);
	list_read(&list, fd);
	for (int round = 0; round < 2; round++) {
		in_use(env, fd);
		registered(env);
		killed(env, fd);
		works(env, fd, &list);
	}
	close(fd);
}

const struct test test = {
	.name = "unload",
	.kinds = BY_MODULE,
	.run = run,
};
