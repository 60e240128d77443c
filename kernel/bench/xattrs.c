// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "xattrs.h"

/* Of Linux 6.13, for C libraries that do not know them: include/uapi/asm-generic/unistd.h. */
enum { CALL_GETXATTRAT = 464, CALL_LISTXATTRAT = 465 };

/* struct xattr_args of include/uapi/linux/xattr.h. */
struct value_args {
	_Alignas(8) uint64_t value;
	uint32_t size;
	uint32_t flags;
};

static uint64_t value_bytes(int fd, const char *name, const char *attribute)
{
	static char value[XATTR_VALUE_BYTES];
	struct value_args args = { .value = (uintptr_t)value, .size = sizeof(value) };
	long bytes = syscall(CALL_GETXATTRAT, fd, name, AT_SYMLINK_NOFOLLOW, attribute, &args,
			     sizeof(args));

	if (bytes < 0)
		die(name);
	return bytes;
}

uint64_t xattrs_by_calls(int fd, const char *name)
{
	static char list[XATTR_ENTRY_BYTES];
	long bytes = syscall(CALL_LISTXATTRAT, fd, name, AT_SYMLINK_NOFOLLOW, list, sizeof(list));
	uint64_t sum = 0;

	if (bytes < 0)
		die(name);
	for (char *at = list; at < list + bytes; at += strlen(at) + 1)
		sum += strlen(at) + value_bytes(fd, name, at);
	return sum;
}

uint64_t xattrs_of_record(const struct ringwalk_entry *entry)
{
	const char *end = (const char *)entry + entry->reclen;
	uint64_t sum = 0;

	if (entry->flags & RINGWALK_ENTRY_XATTR_CUT)
		die_of("extended attributes", -E2BIG);
	for (const char *at = end - entry->xattr_len; at < end;) {
		const struct ringwalk_xattr *xattr = (const void *)at;

		if (xattr->error)
			die_of("an extended attribute", xattr->error);
		sum += xattr->name_len + xattr->value_len;
		at += xattr->reclen;
	}
	return sum;
}
