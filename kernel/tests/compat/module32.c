// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit program without a C library: reads a folder by getdents64(2) and by the module, and
 * compares all bytes. Cookies of ext4 are shorter for 32-bit programs. Requests on a ring must be
 * refused.
 *
 * module32 DEVICE FOLDER
 *
 * Exit status: 0; the number of the first wrong way; 255 if something else failed. The ways: 1
 * ioctl, 2 a ring with RINGWALK_F_INLINE, 3 a ring without it, 4 a ring with IOSQE_ASYNC; 10 more
 * if a position in the middle is wrong.
 */
#include <asm/unistd_32.h>
#include <linux/fcntl.h>
#include <linux/io_uring.h>
#include <linux/mman.h>
#include <linux/ringwalk.h>

#define CANNOT		255
/* EOPNOTSUPP of this architecture. */
#define NOT_SUPPORTED	95
#define POSITION	10
#define CHUNK		512
#define ALL		32768

enum way { BY_IOCTL = 1, BY_INLINE, BY_WORKER, BY_ASYNC, WAYS };

/* A record of getdents64(2). */
struct record {
	unsigned long long ino;
	long long off;
	unsigned short reclen;
};

static char truth[ALL] __attribute__((aligned(8)));
static char got[ALL] __attribute__((aligned(8)));

static int device, folder, ring;
static char *rings;
static struct io_uring_sqe *sqes;
static struct io_uring_params params;

static long call(long number, long a, long b, long c, long d, long e)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e) : "memory");
	return ret;
}

/* mmap with its arguments in memory, the old system call of this architecture. */
static void *map(unsigned long len, unsigned long offset)
{
	unsigned long args[] = { 0, len, PROT_READ | PROT_WRITE, MAP_SHARED, ring, offset };

	return (void *)call(__NR_mmap, (long)args, 0, 0, 0, 0);
}

static int is_error(const void *address)
{
	return (unsigned long)address >= -4095UL;
}

static int open_ring(void)
{
	ring = call(__NR_io_uring_setup, 4, (long)&params, 0, 0, 0);
	if (ring < 0)
		return 0;
	/* The completions lie behind everything else in the mapping of both rings. */
	rings = map(params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_SQ_RING);
	sqes = map(params.sq_entries * sizeof(*sqes), IORING_OFF_SQES);
	return !is_error(rings) && !is_error(sqes);
}

static unsigned int *ring_word(unsigned int offset)
{
	return (unsigned int *)(rings + offset);
}

/* One request at a time. */
static long by_ring(struct ringwalk_getdents *request, enum way way)
{
	unsigned int tail = *ring_word(params.sq_off.tail), head = *ring_word(params.cq_off.head);
	unsigned int at = tail & *ring_word(params.sq_off.ring_mask);
	const struct io_uring_cqe *cqes = (const void *)(rings + params.cq_off.cqes);
	struct ringwalk_sqe payload = { .request = (unsigned long)request };
	struct io_uring_sqe *sqe = &sqes[at];
	long result;

	*sqe = (struct io_uring_sqe){
		.opcode = IORING_OP_URING_CMD,
		.flags = way == BY_ASYNC ? IOSQE_ASYNC : 0,
		.fd = device,
		.cmd_op = RINGWALK_IOC_GETDENTS,
	};
	*(struct ringwalk_sqe *)sqe->cmd = payload;
	ring_word(params.sq_off.array)[at] = at;
	__atomic_store_n(ring_word(params.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	if (call(__NR_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, 0) != 1)
		return -1;
	result = cqes[head & *ring_word(params.cq_off.ring_mask)].res;
	__atomic_store_n(ring_word(params.cq_off.head), head + 1, __ATOMIC_RELEASE);
	return result;
}

static long request(enum way way, void *buf, unsigned int len, long long off)
{
	struct ringwalk_getdents dents = {
		.size = sizeof(dents),
		.flags = way == BY_INLINE ? RINGWALK_F_INLINE : 0,
		.fd = folder,
		.len = len,
		.buf = (unsigned long)buf,
		.off = off,
	};

	if (way == BY_IOCTL)
		return call(__NR_ioctl, device, (long)RINGWALK_IOC_GETDENTS, (long)&dents, 0, 0);
	return by_ring(&dents, way);
}

static long long seek(long long off)
{
	long long result;

	return call(__NR__llseek, folder, off >> 32, (long)off, (long)&result, 0) ? -1 : result;
}

/* Reads all names from @off on, by the system call if @way is 0. Returns bytes, or an error. */
static long read_all(enum way way, char *to, long long off)
{
	long used = 0, bytes;

	if (!way && seek(off) != off)
		return -1;
	do {
		if (used + CHUNK > ALL)
			return -1;
		bytes = way ? request(way, to + used, CHUNK, used ? RINGWALK_OFF_CURRENT : off) :
			      call(__NR_getdents64, folder, (long)(to + used), CHUNK, 0, 0);
		if (bytes < 0)
			return bytes;
		used += bytes;
	} while (bytes);
	return used;
}

static int same(const char *a, const char *b, long len)
{
	while (len > 0 && *a == *b) {
		a++;
		b++;
		len--;
	}
	return len <= 0;
}

/* Returns the cookie after about half of the records. */
static long long middle(long len)
{
	long at = 0;

	while (at + ((struct record *)(truth + at))->reclen < len / 2)
		at += ((struct record *)(truth + at))->reclen;
	return ((struct record *)(truth + at))->off;
}

static int compare(long long off, int step)
{
	long len = read_all(0, truth, off);

	if (len <= 0)
		return CANNOT;
	if (read_all(BY_IOCTL, got, off) != len || !same(got, truth, len))
		return step + BY_IOCTL;
	for (enum way way = BY_INLINE; way < WAYS; way++)
		if (request(way, got, ALL, off) != -NOT_SUPPORTED)
			return step + way;
	return 0;
}

static int run(const char *device_path, const char *folder_path)
{
	int wrong;
	long len;

	device = call(__NR_open, (long)device_path, O_RDWR, 0, 0, 0);
	folder = call(__NR_open, (long)folder_path, O_RDONLY | O_DIRECTORY, 0, 0, 0);
	if (device < 0 || folder < 0 || !open_ring())
		return CANNOT;
	wrong = compare(0, 0);
	len = read_all(0, truth, 0);
	return wrong || len <= 0 ? wrong : compare(middle(len), POSITION);
}

/* Called below. */
void start(const unsigned long *stack);

/* The stack of a new program: the number of arguments, then the arguments. */
__attribute__((used)) void start(const unsigned long *stack)
{
	const char *const *argv = (const char *const *)(stack + 1);

	call(__NR_exit_group, stack[0] == 3 ? run(argv[1], argv[2]) : CANNOT, 0, 0, 0, 0);
	__builtin_unreachable();
}

/* gcc makes calls of it for structures. */
void *memset(void *to, int value, unsigned int len);

void *memset(void *to, int value, unsigned int len)
{
	for (volatile char *at = to; len; at++, len--)
		*at = value;
	return to;
}

__asm__(".globl _start\n_start:\n\tmov %esp, %eax\n\tand $-16, %esp\n\tsub $12, %esp\n\tpush %eax\n\tcall start\n");
