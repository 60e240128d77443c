// Gives half of its size as the size of each file of 10000 bytes, to the program that it is loaded
// into. So bindfs reports sizes that are too small, as a careless FUSE server does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>

static int halved(int result, struct stat64 *status)
{
	if (result == 0 && S_ISREG(status->st_mode) && status->st_size == 10000)
		status->st_size = 5000;
	return result;
}

// What older programs call.
int __lxstat64(int version, const char *path, struct stat64 *status)
{
	int (*real)(int, const char *, struct stat64 *) = dlsym(RTLD_NEXT, "__lxstat64");
	return halved(real(version, path, status), status);
}

int __fxstat64(int version, int fd, struct stat64 *status)
{
	int (*real)(int, int, struct stat64 *) = dlsym(RTLD_NEXT, "__fxstat64");
	return halved(real(version, fd, status), status);
}

int lstat64(const char *path, struct stat64 *status)
{
	int (*real)(const char *, struct stat64 *) = dlsym(RTLD_NEXT, "lstat64");
	return halved(real(path, status), status);
}

int fstat64(int fd, struct stat64 *status)
{
	int (*real)(int, struct stat64 *) = dlsym(RTLD_NEXT, "fstat64");
	return halved(real(fd, status), status);
}
