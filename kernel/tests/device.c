// SPDX-License-Identifier: GPL-2.0-only
/* Tests the device: its owner and mode, its information, and operations that it does not have. */
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"

static void rights(struct env *env)
{
	struct stat stat;

	(void)env;
	MUST(lstat(DEVICE_PATH, &stat) == 0);
	CHECK(S_ISCHR(stat.st_mode), "mode 0%o", stat.st_mode);
	CHECK((stat.st_mode & 07777) == 0600, "mode 0%o", stat.st_mode);
	CHECK(stat.st_uid == 0 && stat.st_gid == 0, "owner %u:%u", stat.st_uid, stat.st_gid);
	/* misc_register: MISC_MAJOR of linux/major.h. */
	CHECK(major(stat.st_rdev) == 10, "major number %u", major(stat.st_rdev));
	MUST(setresgid(1000, 1000, 1000) == 0 && setresuid(1000, 1000, 1000) == 0);
	CHECK(open(DEVICE_PATH, O_RDWR) < 0 && errno == EACCES, "opened for writing by somebody: %s", strerror(errno));
	CHECK(open(DEVICE_PATH, O_RDONLY) < 0 && errno == EACCES, "opened for reading by somebody: %s", strerror(errno));
}

static void information(struct env *env)
{
	struct ringwalk_info info = request_info();
	struct transport transport;
	char version[64];

	transport_open(&transport, env->kind, 0);
	CHECK(transport_call(&transport, RINGWALK_IOC_INFO, &info) == 0, "info");
	CHECK(info.magic == RINGWALK_MAGIC, "magic 0x%jx", (uintmax_t)info.magic);
	CHECK(!memcmp(&info.magic, "ringwalk", 8), "magic %.8s", (char *)&info.magic);
	CHECK(info.version == RINGWALK_VERSION, "version %u", info.version);
	CHECK(info.flags == (RINGWALK_F_INLINE | RINGWALK_F_XATTR_ALL | RINGWALK_F_XATTR_BLOCKS), "flags 0x%x", info.flags);
	CHECK(info.commands == 0x3f, "commands 0x%x", info.commands);
	CHECK(info.buffer_max == RINGWALK_BUFFER_MAX, "buffer_max %u", info.buffer_max);
	CHECK((info.stat_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS && info.stat_mask & STATX_BTIME, "stat_mask 0x%x",
	      info.stat_mask);
	CHECK(!(info.stat_mask & 0x80000000), "stat_mask 0x%x has a bit that statx(2) refuses", info.stat_mask);
	CHECK(info.readahead_max >= 4 << 20, "readahead_max %u", info.readahead_max);
	CHECK(read_text("/sys/module/ringwalk/version", version, sizeof(version)) > 1, "the module says no version");
	CHECK(read_text("/sys/module/ringwalk/srcversion", version, sizeof(version)) != 0, "the module says no srcversion");
	transport_close(&transport);
}

/* Unknown operations fail, and do no harm. */
static void other_operations(struct env *env)
{
	int fd = open(DEVICE_PATH, O_RDWR), second = open(DEVICE_PATH, O_RDONLY);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN | POLLOUT };
	struct ringwalk_info info = request_info();
	char byte = 0;

	(void)env;
	MUST(fd >= 0);
	CHECK(second >= 0, "opened twice: %s", strerror(errno));
	CHECK(ioctl(second, RINGWALK_IOC_INFO, &info) == 0, "by a descriptor open for reading: %s", strerror(errno));
	CHECK(read(fd, &byte, 1) < 0, "it can be read");
	CHECK(write(fd, &byte, 1) < 0, "it can be written");
	CHECK(pread(fd, &byte, 1, 4096) < 0, "it can be read somewhere");
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED, "it can be mapped");
	poll(&poll_fd, 1, 0);
	lseek(fd, 0, SEEK_END);
	CHECK(ftruncate(fd, 0) < 0, "it can be truncated");
	CHECK(ioctl(fd, FIONREAD, &byte) < 0, "it has a FIONREAD");
	close(fd);
	CHECK(ioctl(second, RINGWALK_IOC_INFO, &info) == 0, "after the other one is closed: %s", strerror(errno));
	close(second);
	/* An O_PATH descriptor has no operations. */
	fd = open(DEVICE_PATH, O_PATH);
	CHECK(ioctl(fd, RINGWALK_IOC_INFO, &info) < 0 && errno == EBADF, "by an O_PATH descriptor");
	close(fd);
}

static void run(struct env *env)
{
	IN_CHILD(rights, env);
	information(env);
	other_operations(env);
}

const struct test test = {
	.name = "device",
	.kinds = BY_MODULE,
	.run = run,
};
