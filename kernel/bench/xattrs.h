/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Extended attributes of entries: by system calls, and those of READDIRPLUS.
 */
#ifndef RINGWALK_BENCH_XATTRS_H
#define RINGWALK_BENCH_XATTRS_H

#include "common.h"

/* Longer values, and more attributes of one entry, end the program. */
enum { XATTR_VALUE_BYTES = 256, XATTR_ENTRY_BYTES = 512 };

/*
 * Both return the bytes of all names and values of an entry. The first needs Linux 6.13, for
 * listxattrat(2) and getxattrat(2).
 */
uint64_t xattrs_by_calls(int fd, const char *name);
uint64_t xattrs_of_record(const struct ringwalk_entry *entry);

#endif
