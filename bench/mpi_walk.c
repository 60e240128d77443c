// A walk in the shape of IO500's pfind: MPI ranks that share directories.
//
//   mpiexec -n RANKS mpi_walk DIR
//
// Each rank reads directories with readdir and asks for the metadata of each entry, one after the
// other. A rank that has nothing to do asks a random one, which gives away the older half of its
// directories. The walk has no budget, writes nothing, and is lost with any of its ranks. One
// directory is read by one rank, however large it is.
//
// Prints "N entries": every name below DIR.
//
// The end is found by a token that goes from rank to rank (Dijkstra, Feijen and van Gasteren 1983).
// A rank passes it on when it has nothing to do and no answer is on its way to it:
//
//   - A rank that has given directories away since the token was there makes the token black.
//   - The walk is over if the token comes back to rank 0 white, and rank 0 has not given any away.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ASK, GIVE, TOKEN, END };

enum {
	// Bytes of paths that are given away at once, at most.
	MESSAGE = 256 * 1024,
	// Entries after which a rank looks for messages.
	BETWEEN = 32,
	PAUSE_US = 500,
};

static char message[MESSAGE];
// Directories to be read: the oldest is the first.
static char **queue;
static size_t first, end, room;
static unsigned long entries;
static int rank, ranks;
static bool has_token, is_token_black, has_given, is_waiting, is_over;

static void fail(const char *path)
{
	fprintf(stderr, "mpi_walk: %s: %s\n", path, strerror(errno));
	/* mpiexec drops what it has not passed on yet when a rank aborts. */
	sleep(1);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void add(char *path)
{
	if (end == room) {
		room = room ? 2 * room : 1024;
		queue = realloc(queue, room * sizeof(*queue));
	}
	if (!path || !queue)
		fail("memory");
	queue[end++] = path;
}

static void send_to(int other, int tag, size_t size)
{
	MPI_Send(message, (int)size, MPI_CHAR, other, tag, MPI_COMM_WORLD);
}

static void give(int other)
{
	size_t size = 0;

	for (size_t left = (end - first + 1) / 2; left; left--) {
		size_t length = strlen(queue[first]) + 1;

		if (size + length > MESSAGE)
			break;
		memcpy(message + size, queue[first], length);
		free(queue[first++]);
		size += length;
	}
	has_given |= size > 0;
	send_to(other, GIVE, size);
}

// Handles a message, if there is one.
static bool handle(void)
{
	MPI_Status status;
	int found, size;

	MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &status);
	if (!found)
		return false;
	MPI_Get_count(&status, MPI_CHAR, &size);
	MPI_Recv(message, size, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	if (status.MPI_TAG == ASK) {
		give(status.MPI_SOURCE);
	} else if (status.MPI_TAG == GIVE) {
		is_waiting = false;
		for (char *path = message; path < message + size; path += strlen(path) + 1)
			add(strdup(path));
	} else if (status.MPI_TAG == TOKEN) {
		has_token = true;
		is_token_black = message[0];
	} else {
		is_over = true;
	}
	return true;
}

static void read_directory(char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	struct stat found;
	char *inner;

	if (!directory)
		fail(path);
	while (errno = 0, (entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (fstatat(dirfd(directory), entry->d_name, &found, AT_SYMLINK_NOFOLLOW))
			fail(entry->d_name);
		if (S_ISDIR(found.st_mode))
			add(asprintf(&inner, "%s/%s", path, entry->d_name) < 0 ? NULL : inner);
		if (++entries % BETWEEN == 0)
			while (handle())
				;
	}
	if (errno)
		fail(path);
	closedir(directory);
	free(path);
}

// Passes the token on, or ends the walk.
static void pass_token(void)
{
	if (rank == 0 && !is_token_black && !has_given) {
		for (int other = 1; other < ranks; other++)
			send_to(other, END, 0);
		is_over = true;
		return;
	}
	message[0] = rank ? is_token_black || has_given : false;
	has_token = has_given = false;
	send_to((rank + 1) % ranks, TOKEN, 1);
}

static void idle(void)
{
	if (!is_waiting && has_token) {
		pass_token();
	} else if (!is_waiting) {
		int other = rand() % (ranks - 1);

		is_waiting = true;
		send_to(other + (other >= rank), ASK, 0);
	}
	usleep(PAUSE_US);
}

int main(int count, char **arguments)
{
	MPI_Request all;
	unsigned long sum;
	int are_done = 0;

	MPI_Init(&count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (count != 2 || ranks < 2) {
		fprintf(stderr, "usage: mpiexec -n RANKS mpi_walk DIR, with 2 ranks or more\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	srand((unsigned int)rank + 1);
	// The first round of the token only begins when rank 0 has nothing to do.
	has_token = is_token_black = rank == 0;
	if (rank == 0)
		add(strdup(arguments[1]));
	while (!is_over || is_waiting) {
		while (handle())
			;
		if (first < end)
			read_directory(queue[--end]);
		else if (!is_over)
			idle();
		if (first == end)
			first = end = 0;
	}
	// Others may still ask, and wait for the answer.
	MPI_Ibarrier(MPI_COMM_WORLD, &all);
	while (MPI_Test(&all, &are_done, MPI_STATUS_IGNORE), !are_done)
		handle();
	MPI_Reduce(&entries, &sum, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%lu entries\n", sum);
	MPI_Finalize();
	return 0;
}
