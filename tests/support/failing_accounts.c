/* Lookups of accounts that fail with the error number in FAILING_ACCOUNTS, for LD_PRELOAD. */

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>

static int failure(void)
{
	return atoi(getenv("FAILING_ACCOUNTS"));
}

int getpwnam_r(const char *name, struct passwd *entry, char *buffer, size_t size,
	       struct passwd **result)
{
	(void)name, (void)entry, (void)buffer, (void)size;
	*result = NULL;
	return failure();
}

int getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t size, struct passwd **result)
{
	(void)uid, (void)entry, (void)buffer, (void)size;
	*result = NULL;
	return failure();
}

int getgrnam_r(const char *name, struct group *entry, char *buffer, size_t size,
	       struct group **result)
{
	(void)name, (void)entry, (void)buffer, (void)size;
	*result = NULL;
	return failure();
}

int getgrgid_r(gid_t gid, struct group *entry, char *buffer, size_t size, struct group **result)
{
	(void)gid, (void)entry, (void)buffer, (void)size;
	*result = NULL;
	return failure();
}
