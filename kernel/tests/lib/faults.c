// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/userfaultfd.h>

#include "faults.h"
#include "test.h"

void faults_open(struct faults *faults, size_t len)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	/* Without UFFD_USER_MODE_ONLY: the kernel makes the accesses. poll() needs O_NONBLOCK. */
	faults->fd = syscall(__NR_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (faults->fd < 0)
		test_skip("userfaultfd: %s", strerror(errno));
	MUST(ioctl(faults->fd, UFFDIO_API, &api) == 0);
	faults->memory =
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(faults->memory != MAP_FAILED);
	faults->len = len;
	range.range.start = (uintptr_t)faults->memory;
	range.range.len = len;
	MUST(ioctl(faults->fd, UFFDIO_REGISTER, &range) == 0);
}

void faults_close(struct faults *faults)
{
	munmap(faults->memory, faults->len);
	close(faults->fd);
}

char *faults_wait(struct faults *faults, int milliseconds)
{
	struct pollfd event = { .fd = faults->fd, .events = POLLIN };
	struct uffd_msg message;

	if (poll(&event, 1, milliseconds) != 1 ||
	    read(faults->fd, &message, sizeof(message)) != sizeof(message))
		return NULL;
	MUST(message.event == UFFD_EVENT_PAGEFAULT);
	return (char *)(uintptr_t)(message.arg.pagefault.address & -(uint64_t)FAULTS_PAGE);
}

int faults_give(struct faults *faults, char *page)
{
	struct uffdio_zeropage zero = { .range = { .start = (uintptr_t)page, .len = FAULTS_PAGE } };

	return ioctl(faults->fd, UFFDIO_ZEROPAGE, &zero) ? -errno : 0;
}

void faults_unmap(struct faults *faults, char *page)
{
	struct uffdio_range range = { .start = (uintptr_t)page, .len = FAULTS_PAGE };

	MUST(munmap(page, FAULTS_PAGE) == 0 && ioctl(faults->fd, UFFDIO_WAKE, &range) == 0);
}
