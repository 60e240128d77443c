// The floor of programs that read all files of a tree: plain reads, one file after the other.
//
//   read_floor DIR
//
// Prints "N files, B bytes". Reads every regular file below DIR and follows no symbolic link.
//
// One thread, in the order in which the directories list their entries, as in
// `find DIR -type f -print0 | xargs -0 sha256sum`. The calls are `openat` relative to the
// parent's descriptor, `read`, `close`, and `getdents64` for the directories. A read that does
// not fill the buffer ends a file, so small files need one read.
//
// This is a yardstick, not a tool: any failure ends the run.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The buffer of coreutils' cat. Larger ones are not faster (ioblksize.h there).
enum { BUFFER = 128 * 1024 };

static char buffer[BUFFER];
static uint64_t files, bytes;

static void die(const char *what)
{
	fprintf(stderr, "read_floor: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_below(int directory, const char *name, int flags)
{
	int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags);

	if (file < 0)
		die(name);
	return file;
}

static void read_file(int directory, const char *name)
{
	int file = open_below(directory, name, 0);
	ssize_t got;

	do {
		got = read(file, buffer, BUFFER);
		if (got < 0)
			die(name);
		bytes += (uint64_t)got;
	} while (got == BUFFER);
	files++;
	close(file);
}

static unsigned char type_of(int directory, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	if (fstatat(directory, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
		die(entry->d_name);
	return IFTODT(st.st_mode);
}

// Recurses: trees that are measured are not deep.
static void read_tree(int directory)
{
	DIR *listing = fdopendir(directory);
	struct dirent *entry;

	if (!listing)
		die("fdopendir");
	while (errno = 0, entry = readdir(listing)) {
		const char *name = entry->d_name;

		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		switch (type_of(directory, entry)) {
		case DT_DIR:
			read_tree(open_below(directory, name, O_DIRECTORY));
			break;
		case DT_REG:
			read_file(directory, name);
			break;
		}
	}
	if (errno)
		die("readdir");
	closedir(listing);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: read_floor DIR\n");
		return 2;
	}
	read_tree(open_below(AT_FDCWD, argv[1], O_DIRECTORY));
	printf("%llu files, %llu bytes\n", (unsigned long long)files, (unsigned long long)bytes);
	return 0;
}
