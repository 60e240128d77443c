// Gives the sizes of regular files and symbolic links only, and 0 for files of other types, to the
// program that it is loaded into. GNU du before coreutils 9.2 then prints apparent sizes as later
// versions do.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>

static int checked(int result, struct stat *status)
{
	if (result == 0 && !S_ISREG(status->st_mode) && !S_ISLNK(status->st_mode))
		status->st_size = 0;
	return result;
}

int stat(const char *path, struct stat *status)
{
	int (*real)(const char *, struct stat *) = dlsym(RTLD_NEXT, "stat");
	return checked(real(path, status), status);
}

int fstat(int fd, struct stat *status)
{
	int (*real)(int, struct stat *) = dlsym(RTLD_NEXT, "fstat");
	return checked(real(fd, status), status);
}

int fstatat(int dir, const char *path, struct stat *status, int flags)
{
	int (*real)(int, const char *, struct stat *, int) = dlsym(RTLD_NEXT, "fstatat");
	return checked(real(dir, path, status, flags), status);
}
