// SPDX-License-Identifier: GPL-2.0-only
#include "records.h"
#include "sys.h"
#include "test.h"

static bool is_zero(const char *at, const char *end)
{
	for (; at < end; at++)
		if (*at)
			return false;
	return true;
}

static const void *take(const char **at, size_t bytes)
{
	const char *taken = *at;

	*at += bytes;
	return taken;
}

/*
 * The groups that follow struct ringwalk_stat. Their bits and order are those of its
 * documentation.
 */
static const char *take_groups(const char *at, uint32_t mask, struct record *record)
{
	if (mask & STATX_ATIME)
		record->atime = take(&at, sizeof(*record->atime));
	if (mask & STATX_MTIME)
		record->mtime = take(&at, sizeof(*record->mtime));
	if (mask & STATX_CTIME)
		record->ctime = take(&at, sizeof(*record->ctime));
	if (mask & STATX_BTIME)
		record->btime = take(&at, sizeof(*record->btime));
	if (mask & (STATX_MNT_ID | STATX_MNT_ID_UNIQUE))
		record->mnt_id = take(&at, sizeof(*record->mnt_id));
	if (mask & STATX_DIOALIGN)
		record->dioalign = take(&at, 2 * sizeof(*record->dioalign));
	if (mask & STATX_SUBVOL)
		record->subvol = take(&at, sizeof(*record->subvol));
	return at;
}

size_t record_len(const struct ringwalk_fields *fields, size_t name_len, size_t xattr_len)
{
	struct record record = { };
	size_t len = sizeof(struct ringwalk_entry);

	if (fields->mask)
		len += sizeof(struct ringwalk_stat) +
		       (take_groups(NULL, fields->mask, &record) - (char *)NULL);
	if (name_len)
		len += ALIGN8(name_len + 1);
	return len + xattr_len;
}

static const char *check_name(const struct record *record, const char *end)
{
	size_t len = record->entry->name_len;

	if (memchr(record->name, 0, len))
		return wrong("a NUL in the name of %zu bytes", len);
	if (memchr(record->name, '/', len))
		return wrong("a slash in the name %.*s", (int)len, record->name);
	if (!is_zero(record->name + len, end))
		return wrong("what follows the name %.*s is not zero", (int)len, record->name);
	return NULL;
}

/* Checks the lengths: of the header, of the parts that the flags announce, and of the record. */
static const char *check_lengths(const struct ringwalk_entry *entry, size_t left,
				 const struct ringwalk_fields *fields)
{
	bool has_stat = entry->flags & RINGWALK_ENTRY_STAT;
	unsigned int known;
	size_t len;

	if (entry->reclen % 8 || entry->reclen < sizeof(*entry) || entry->reclen > left)
		return wrong("reclen %u of %zu bytes", entry->reclen, left);
	known = RINGWALK_ENTRY_STAT | RINGWALK_ENTRY_XATTR_CUT;
/* @ours */
	/* Of READTREE. */
	known |= RINGWALK_ENTRY_READ;
/* @end */
	if (entry->flags & ~known)
		return wrong("unknown flags 0x%x", entry->flags);
	if (has_stat && !fields->mask)
		return wrong("metadata that was not asked for");
	len = record_len(fields, entry->name_len, entry->xattr_len);
	if (fields->mask && !has_stat)
		len -= record_len(fields, 0, 0) - sizeof(*entry);
	/*
	 * With an error instead of metadata, the empty room of the metadata may remain before the
	 * attributes.
	 */
	if (entry->error && !has_stat &&
	    entry->reclen == len + record_len(fields, 0, 0) - sizeof(*entry))
		return NULL;
	if (entry->xattr_len > entry->reclen || entry->reclen != len)
		return wrong("reclen %u with flags 0x%x, %u bytes of name and %u of attributes",
			     entry->reclen, entry->flags, entry->name_len, entry->xattr_len);
	return NULL;
}

const char *record_parse(const void *where, size_t left, const struct ringwalk_fields *fields,
			 struct record *record)
{
	const struct ringwalk_entry *entry = where;
	const char *at = where, *end, *malformed;

	memset(record, 0, sizeof(*record));
	if (left < sizeof(*entry))
		return wrong("%zu bytes after the last record", left);
	malformed = check_lengths(entry, left, fields);
	if (malformed)
		return malformed;
	record->entry = entry;
	record->next = at + entry->reclen;
	end = record->next - entry->xattr_len;
	at += sizeof(*entry);
	if (entry->flags & RINGWALK_ENTRY_STAT) {
		record->stat = take(&at, sizeof(*record->stat));
		at = take_groups(at, fields->mask, record);
		if (record->stat->reserved)
			return wrong("reserved of struct ringwalk_stat is 0x%x",
				     record->stat->reserved);
	}
	if (entry->name_len)
		record->name = at;
	record->xattrs = end;
	if (!entry->name_len && !is_zero(at, end))
		return wrong("there is something where no name is");
	return entry->name_len ? check_name(record, end) : NULL;
}

const char *xattr_parse(const char *at, size_t left, const struct ringwalk_xattr **xattr,
			const char **name, const char **value)
{
	const struct ringwalk_xattr *header = (const void *)at;
	size_t len;

	if (left < sizeof(*header))
		return wrong("%zu bytes after the last attribute", left);
	len = sizeof(*header) + header->name_len + 1 + header->value_len;
	if (header->name_len > 255 || header->value_len > 65536 || header->reclen != ALIGN8(len) ||
	    header->reclen > left)
		return wrong("attribute of %u bytes with %u of name and %u of value, %zu left",
			     header->reclen, header->name_len, header->value_len, left);
	*xattr = header;
	*name = at + sizeof(*header);
	*value = *name + header->name_len + 1;
	if (strlen(*name) != header->name_len)
		return wrong("attribute name %.255s has not %u bytes", *name, header->name_len);
	if (!is_zero(at + len, at + header->reclen))
		return wrong("what follows the value of %s is not zero", *name);
	if (header->error && header->value_len)
		return wrong("attribute %s with error %d has a value", *name, header->error);
	return NULL;
}
