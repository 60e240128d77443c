// SPDX-License-Identifier: GPL-2.0-only
/*
 * An encrypted folder of ext4 (fscrypt): with its key, without it, and with the key given while
 * encoded names are in memory, requests agree with the system calls.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fscrypt.h>

#include "lib/disks.h"
#include "lib/request.h"
#include "lib/scratch.h"
#include "lib/sys.h"
#include "lib/test.h"
#include "lib/tree.h"
#include "lib/walk.h"

#define FILES	20
/* In the folder below. */
#define BELOW	3

static struct fscrypt_key_specifier key;

/* Gives the file system the key. */
static void add_key(const char *mounted)
{
	struct {
		struct fscrypt_add_key_arg arg;
		unsigned char raw[FSCRYPT_MAX_KEY_SIZE];
	} add = {
		.arg.key_spec.type = FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER,
		.arg.raw_size = FSCRYPT_MAX_KEY_SIZE,
	};
	int fd = open(mounted, O_RDONLY | O_DIRECTORY);

	for (int i = 0; i < FSCRYPT_MAX_KEY_SIZE; i++)
		add.raw[i] = i * 7;
	MUST(fd >= 0);
	if (ioctl(fd, FS_IOC_ADD_ENCRYPTION_KEY, &add))
		test_skip("fscrypt: %s", strerror(errno));
	key = add.arg.key_spec;
	close(fd);
}

static void remove_key(const char *mounted)
{
	struct fscrypt_remove_key_arg arg = { .key_spec = key };
	int fd = open(mounted, O_RDONLY | O_DIRECTORY);
	double until = now() + 10;
	int error;

	MUST(fd >= 0);
	/*
	 * No inode may be in use that has the key. A thread of io-wq lets go of the folder after it
	 * has announced the completion.
	 */
	while (!(error = ioctl(fd, FS_IOC_REMOVE_ENCRYPTION_KEY, &arg)) &&
	       arg.removal_status_flags & FSCRYPT_KEY_REMOVAL_STATUS_FLAG_FILES_BUSY && now() < until) {
		arg.removal_status_flags = 0;
		usleep(10000);
	}
	/* ENOKEY: the key went with the last inode, between two calls. */
	MUST(!error || errno == ENOKEY);
	MUST(!(arg.removal_status_flags & FSCRYPT_KEY_REMOVAL_STATUS_FLAG_FILES_BUSY));
	close(fd);
}

static void encrypt(int fd)
{
	struct fscrypt_policy_v2 policy = {
		.version = FSCRYPT_POLICY_V2,
		.contents_encryption_mode = FSCRYPT_MODE_AES_256_XTS,
		.filenames_encryption_mode = FSCRYPT_MODE_AES_256_CTS,
		.flags = FSCRYPT_POLICY_FLAGS_PAD_32,
	};

	memcpy(policy.master_key_identifier, key.u.identifier, sizeof(policy.master_key_identifier));
	if (ioctl(fd, FS_IOC_SET_ENCRYPTION_POLICY, &policy)) {
		if (errno == ENOPKG)
			test_skip("fscrypt: the kernel has no AES-256-XTS or AES-256-CTS");
		MUST(!"FS_IOC_SET_ENCRYPTION_POLICY");
	}
}

static void make(int fd, const char *path)
{
	char name[FILES + 200], target[200], below[512];
	int folder;

	for (int i = 0; i < FILES; i++) {
		/* Long names have another form without the key. */
		int len = snprintf(name, sizeof(name), "file-%d-", i);

		memset(name + len, 'n', i * 9);
		name[len + i * 9] = 0;
		MUST(mknodat(fd, name, S_IFREG | 0640, 0) == 0);
	}
	memset(target, 't', sizeof(target));
	target[150] = 0;
	/* Their sizes come from the decrypted text, which ext4 reads for statx(2). */
	MUST(symlinkat("short", fd, "link-short") == 0);
	MUST(symlinkat(target, fd, "link-long") == 0);
	folder = tree_folder(path, "folder", below);
	tree_files(folder, "a-name-of-this-folder-", BELOW);
	close(folder);
}

static int open_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	MUST(fd >= 0);
	return fd;
}

static bool has_name(int fd, const char *name)
{
	struct list list;
	bool has;

	list_read_apart(&list, fd);
	MUST(list.count == FILES + 5);
	has = list_find(&list, name) >= 0;
	list_free(&list);
	return has;
}

/*
 * READTREE reads the folder below, if @has_key. An encoded name is validated when it is used, so
 * its folder is left to the caller. Before Linux 6.9 that stays so when the key comes back.
 */
static void check_all(struct transport *transport, int fd, const char *path, const char *what, bool has_key, bool comes_back)
{
	bool still_left = comes_back && !transport_is_opcode(transport->kind) && linux_before(6, 9);
	unsigned int folders = request_check_all(transport, fd, path, what), expected = has_key && !still_left ? 2 : 1;

	if (transport_is_opcode(transport->kind))
		return;
	CHECK(folders == expected, "%s: readtree has read %u folders, not %u", what, folders, expected);
	walk_expect(transport, path, 2, FILES + 5 + BELOW + 2, what);
}

static void with_and_without(struct transport *transport, const char *mounted, const char *path)
{
	int fd = open_folder(path);

	check_all(transport, fd, path, "with the key", true, false);
	disks_drop_caches(fd);
	check_all(transport, fd, path, "with the key, without caches", true, false);
	close(fd);

	remove_key(mounted);
	fd = open_folder(path);
	MUST(!has_name(fd, "link-long"));
	check_all(transport, fd, path, "without the key", false, false);
	disks_drop_caches(fd);
	check_all(transport, fd, path, "without the key, without caches", false, false);
	/* The encoded names stay in memory, and are no longer valid. */
	add_key(mounted);
	MUST(has_name(fd, "link-long"));
	check_all(transport, fd, path, "with the key given again", true, true);
	close(fd);
}

static void run(struct env *env)
{
	struct transport transport;
	struct scratch scratch;
	char path[512];
	int fd;

	transport_open(&transport, env->kind, 0);
	scratch_open(&scratch, env, SCRATCH_FEATURES, NULL);
	add_key(scratch.path);
	fd = tree_folder(scratch.path, "secret", path);
	encrypt(fd);
	make(fd, path);
	close(fd);
	with_and_without(&transport, scratch.path, path);
	transport_close(&transport);
	remove_key(scratch.path);
	scratch_close(&scratch);
}

const struct test test = {
	.name = "encryption",
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
