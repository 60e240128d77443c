// SPDX-License-Identifier: GPL-2.0-only
/*
 * Closes rings, cancels requests and unmaps memory while requests are in flight.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define IN_FLIGHT 32
#define OUT_LEN 4096

/* Requests and their buffers, in separate memory that can be unmapped. */
struct flight {
	struct ringwalk_readdirplus requests[IN_FLIGHT];
	char out[IN_FLIGHT][OUT_LEN] __attribute__((aligned(8)));
};

static struct flight *take_off(struct transport *transport, int fd)
{
	struct flight *flight = mmap(NULL, sizeof(*flight), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(flight != MAP_FAILED);
	for (int i = 0; i < IN_FLIGHT; i++) {
		flight->requests[i] = request_readdirplus(fd, flight->out[i], OUT_LEN);
		flight->requests[i].off = i % 2 ? 0 : RINGWALK_OFF_CURRENT;
		MUST(transport_queue(transport, RINGWALK_IOC_READDIRPLUS, &flight->requests[i], i));
	}
	MUST(ring_submit(&transport->ring, 0) == IN_FLIGHT);
	return flight;
}

static void closed_rings(struct env *env, int fd, unsigned int rounds)
{
	for (unsigned int round = 0; round < rounds; round++) {
		struct transport transport;
		struct flight *flight;

		transport_open(&transport, env->kind, IN_FLIGHT);
		flight = take_off(&transport, fd);
		/* The device first, the ring first, the memory first. */
		if (round % 3 == 0 && transport.device >= 0)
			MUST(close(transport.device) == 0 && (transport.device = -1));
		if (round % 3 == 1)
			munmap(flight, sizeof(*flight));
		transport_close(&transport);
		if (round % 3 != 1)
			munmap(flight, sizeof(*flight));
	}
}

/* A request whose memory was unmapped fails, and completes. */
static void unmapped_memory(struct env *env, int fd, unsigned int rounds)
{
	struct transport transport;

	transport_open(&transport, env->kind, IN_FLIGHT);
	for (unsigned int round = 0; round < rounds; round++) {
		struct flight *flight = take_off(&transport, fd);
		struct io_uring_cqe cqe;

		if (round % 2)
			munmap(flight, sizeof(*flight));
		else
			MUST(mprotect(flight, sizeof(*flight), PROT_READ) == 0);
		for (int i = 0; i < IN_FLIGHT; i++) {
			MUST(ring_wait(&transport.ring, &cqe) == 0);
			CHECK(cqe.res >= 0 || cqe.res == -EFAULT, "request %ju: %d", (uintmax_t)cqe.user_data, cqe.res);
		}
		munmap(flight, sizeof(*flight));
	}
	transport_close(&transport);
}

/* A cancelled request completes once, as done or as cancelled. */
static void cancelled(struct env *env, int fd, unsigned int rounds)
{
	struct transport transport;

	transport_open(&transport, env->kind, 2 * IN_FLIGHT);
	for (unsigned int round = 0; round < rounds; round++) {
		struct flight *flight = take_off(&transport, fd);
		unsigned char completed[2 * IN_FLIGHT] = { };
		struct io_uring_cqe cqe;

		for (int i = IN_FLIGHT - 1; i >= 0; i--)
			MUST(ring_cancel(&transport.ring, i, IN_FLIGHT + i));
		for (int i = 0; i < 2 * IN_FLIGHT; i++) {
			MUST(ring_wait(&transport.ring, &cqe) == 0);
			completed[cqe.user_data]++;
			if (cqe.user_data >= IN_FLIGHT)
				continue;
			CHECK(cqe.res >= 0 || cqe.res == -ECANCELED || cqe.res == -EINTR, "request %ju: %d",
			      (uintmax_t)cqe.user_data, cqe.res);
		}
		for (int i = 0; i < 2 * IN_FLIGHT; i++)
			CHECK(completed[i] == 1, "request %d completed %d times", i, completed[i]);
		munmap(flight, sizeof(*flight));
	}
	transport_close(&transport);
}

static void run(struct env *env)
{
	unsigned int rounds = env->full ? 60 : 9;
	struct transport transport;
	struct list list;
	char path[512];
	int fd = tree_folder(env->path, "folder", path);

	tree_files(fd, "file", 100);
	list_read(&list, fd);
	closed_rings(env, fd, rounds);
	unmapped_memory(env, fd, rounds);
	cancelled(env, fd, rounds);
	/* Later requests work as before. */
	transport_open(&transport, env->kind, 0);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	request_check_names(&transport, fd, OUT_LEN, &list, 0, "afterwards");
	transport_close(&transport);
	close(fd);
}

const struct test test = {
	.name = "teardown",
	.each_fs = true,
	.kinds = BY_RING | BY_OPCODE,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
