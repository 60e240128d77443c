// SPDX-License-Identifier: GPL-2.0-only
#include <sys/xattr.h>

#include "compare_xattr.h"
#include "test.h"

/* XATTR_LIST_MAX and XATTR_SIZE_MAX of linux/limits.h. */
#define XATTR_MOST 65536

/*
 * The size that is tried first. The kernel clears the whole buffer of the caller, so a large one
 * would take most of the time.
 */
#define XATTR_USUAL 2048

/**
 * struct walk - one pass through the attributes of a record.
 * @compare: the request
 * @path: of the entry
 * @begin: the attributes of the record
 * @at: the next of them
 * @end: where they end
 * @cut: an attribute was missing for lack of room
 */
struct walk {
	const struct compare *compare;
	char path[1024];
	const char *begin;
	const char *at;
	const char *end;
	bool cut;
};

/* Returns the result of lgetxattr(2) as the record must have it: bytes, or a negative errno. */
static ssize_t true_value(const struct walk *walk, const char *name, char *value)
{
	ssize_t len = lgetxattr(walk->path, name, value, XATTR_USUAL);

	if (len < 0 && errno == ERANGE)
		len = lgetxattr(walk->path, name, value, XATTR_MOST);
	if (len < 0)
		return -errno;
	return len > walk->compare->fields->xattr_value_max ? -E2BIG : len;
}

static const char *compare_one(struct walk *walk, const char *name)
{
	static __thread char truth[XATTR_MOST];
	ssize_t len = true_value(walk, name, truth);
	const struct ringwalk_xattr *xattr;
	const char *got_name, *got_value, *malformed;
	size_t need;

	if (len == -ENODATA || len == -EOPNOTSUPP)
		return NULL;
	need = ALIGN8(sizeof(*xattr) + strlen(name) + 1 + (len > 0 ? len : 0));
	if (walk->at == walk->end &&
	    walk->at - walk->begin + need > walk->compare->fields->xattr_entry_max) {
		walk->cut = true;
		return NULL;
	}
	if (walk->at == walk->end)
		return wrong("the attribute %s is missing", name);
	malformed = xattr_parse(walk->at, walk->end - walk->at, &xattr, &got_name, &got_value);
	if (malformed)
		return malformed;
	if (strcmp(got_name, name)) {
		/* A smaller attribute may come in its place. */
		if (walk->at - walk->begin + need > walk->compare->fields->xattr_entry_max) {
			walk->cut = true;
			return NULL;
		}
		return wrong("the attribute %s, not %s", got_name, name);
	}
	if (xattr->error != (len < 0 ? len : 0))
		return wrong("the attribute %s has the error %d, not %zd", name, xattr->error,
			     len < 0 ? len : 0);
	if (len >= 0 && (xattr->value_len != len || memcmp(got_value, truth, len)))
		return wrong("the attribute %s has another value (%u bytes, not %zd)", name,
			     xattr->value_len, len);
	walk->at += xattr->reclen;
	return NULL;
}

static const char *compare_names(struct walk *walk, const char *names, size_t len)
{
	const char *end = names + len;

	for (; names < end; names += strlen(names) + 1) {
		const char *different = compare_one(walk, names);

		if (different)
			return different;
	}
	return NULL;
}

/*
 * The list cannot be read. An attribute without a name has the error. Without room for that, the
 * flag for cut attributes is set.
 */
static const char *compare_no_list(const struct walk *walk, const struct record *record, int error)
{
	const struct ringwalk_xattr *xattr;
	const char *name, *value, *malformed;

	if (walk->at == walk->end && record->entry->flags & RINGWALK_ENTRY_XATTR_CUT)
		return NULL;
	malformed = xattr_parse(walk->at, walk->end - walk->at, &xattr, &name, &value);
	if (malformed)
		return malformed;
	if (xattr->name_len || xattr->error != error || walk->at + xattr->reclen != walk->end)
		return wrong("attribute %s with error %d, where llistxattr has %d", name,
			     xattr->error, error);
	return NULL;
}

const char *compare_xattrs(const struct compare *compare, const struct record *record,
			   const char *name)
{
	static __thread char names[XATTR_MOST];
	struct walk walk = { .compare = compare,
			     .at = record->xattrs,
			     .begin = record->xattrs,
			     .end = record->next };
	const char *different;
	ssize_t len;

	snprintf(walk.path, sizeof(walk.path), "%s/%s", compare->path, name);
	if (compare->flags & RINGWALK_F_XATTR_ALL) {
		len = llistxattr(walk.path, names, XATTR_USUAL);
		if (len < 0 && errno == ERANGE)
			len = llistxattr(walk.path, names, sizeof(names));
		if (len < 0 && errno != EOPNOTSUPP)
			return compare_no_list(&walk, record, -errno);
		different = len > 0 ? compare_names(&walk, names, len) : NULL;
	} else {
		different = compare_names(&walk,
					  (const char *)(uintptr_t)compare->fields->xattr_names,
					  compare->fields->xattr_names_len);
	}
	if (different)
		return different;
	if (walk.at != walk.end)
		return wrong("%td bytes of attributes that are not there", walk.end - walk.at);
	if (record->entry->xattr_len > compare->fields->xattr_entry_max)
		return wrong("%u bytes of attributes", record->entry->xattr_len);
	if (walk.cut != !!(record->entry->flags & RINGWALK_ENTRY_XATTR_CUT))
		return wrong("the flag for missing attributes is %s", walk.cut ? "not set" : "set");
	return NULL;
}
