// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit program without a C library: makes one request on a ring of its own.
 *
 * ring32 OPCODE SQE-FLAGS [FOLDER [args]]
 *
 * With FOLDER, the request is for that folder, opened for reading, and has a buffer; with "args" it
 * has the arguments of READDIRPLUS and READTREE as well. The exit status is 0 if the request
 * succeeded, else its errno; 255 if it could not be made.
 */
#include <linux/fcntl.h>
#include <linux/io_uring.h>
#include <linux/mman.h>
#include <asm/unistd_32.h>

#define CANNOT	255

static char buf[4096] __attribute__((aligned(8)));
static unsigned int readdirplus_args[10] __attribute__((aligned(8)));

/* A system call with up to five arguments; io_uring_enter takes a sixth, which is not used. */
static long call5(long number, long a, long b, long c, long d, long e)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e) : "memory");
	return ret;
}

/* mmap with its arguments in memory, the old system call of this architecture. */
static void *map(unsigned long len, int fd, unsigned long offset)
{
	unsigned long args[] = { 0, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset };

	return (void *)call5(__NR_mmap, (long)args, 0, 0, 0, 0);
}

static int is_error(const void *address)
{
	return (unsigned long)address >= -4095UL;
}

static unsigned int number(const char *text)
{
	unsigned int value = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + *text - '0';
	return value;
}

static int request(unsigned int opcode, unsigned int flags, const char *folder, int args)
{
	static struct io_uring_params params;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	char *rings;
	int ring, fd = folder ? call5(__NR_open, (long)folder, O_RDONLY, 0, 0, 0) : 0;

	ring = call5(__NR_io_uring_setup, 4, (long)&params, 0, 0, 0);
	if (ring < 0 || fd < 0)
		return CANNOT;
	/* The completions lie behind everything else in the mapping of both rings. */
	rings = map(params.cq_off.cqes + params.cq_entries * sizeof(*cqe), ring, IORING_OFF_SQ_RING);
	sqe = map(params.sq_entries * sizeof(*sqe), ring, IORING_OFF_SQES);
	if (is_error(rings) || is_error(sqe))
		return CANNOT;

	sqe->opcode = opcode;
	sqe->flags = flags;
	sqe->fd = fd;
	if (folder) {
		sqe->addr = (unsigned long)buf;
		sqe->len = sizeof(buf);
		sqe->addr3 = args ? (unsigned long)readdirplus_args : 0;
	}
	((unsigned int *)(rings + params.sq_off.array))[0] = 0;
	__atomic_store_n((unsigned int *)(rings + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (call5(__NR_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, 0) != 1)
		return CANNOT;
	cqe = (struct io_uring_cqe *)(rings + params.cq_off.cqes);
	return cqe->res < 0 ? -cqe->res : 0;
}

/* Called below. */
void start(const unsigned long *stack);

/* The stack of a new program: the number of arguments, then the arguments. */
__attribute__((used)) void start(const unsigned long *stack)
{
	const char *const *argv = (const char *const *)(stack + 1);
	int status = CANNOT;

	/* A NULL ends them. */
	if (stack[0] >= 3)
		status = request(number(argv[1]), number(argv[2]), argv[3], stack[0] > 4);
	call5(__NR_exit_group, status, 0, 0, 0, 0);
	__builtin_unreachable();
}

__asm__(".globl _start\n_start:\n\tmov %esp, %eax\n\tand $-16, %esp\n\tsub $12, %esp\n\tpush %eax\n\tcall start\n");
