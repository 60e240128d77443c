/* SPDX-License-Identifier: GPL-2.0-only */
/* Comparison of the extended attributes of a record with llistxattr(2) and lgetxattr(2). */
#ifndef RINGWALK_COMPARE_XATTR_H
#define RINGWALK_COMPARE_XATTR_H

#include "compare.h"

/* Returns NULL if the attributes of @record are those of the file @name, or a message. */
const char *compare_xattrs(const struct compare *compare, const struct record *record,
			   const char *name);

#endif
