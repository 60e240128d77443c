/*
 * A client of NFS 4.0 by FUSE, for kernels that have no client of NFS. Each request takes longer.
 *
 *     nfs_client POINT ADDRESS PORT EXPORT DELAY
 *
 * Mounts the directory EXPORT of the server's root at POINT, which needs root. Each request to the
 * server is sent DELAY microseconds after it was made. So the delay stands for a network: requests
 * wait side by side, as many as there are.
 *
 * Prints "ready" when it is mounted. When standard input ends, it unmounts and prints
 *
 *     lookups=N getattrs=N readdirs=N most=N
 *
 * the numbers of requests, and the largest number that waited for an answer at one time.
 *
 * One lookup gives the attributes too (PUTFH, LOOKUP, GETFH, GETATTR: RFC 7530), and they stay
 * known, so that one request answers one statx(2). The kernel forgets each name at once, so that
 * every walk asks again. Each file seems to belong to root, whatever the server says.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_SIZE (1 << 17)
#define REPLY_SIZE (1 << 20)
#define MESSAGE_SIZE 640
/* More requests at a time than any row makes. A power of two. */
#define CALLS 8192
#define NODES (1 << 21)
#define HANDLE_SIZE 128 /* NFS4_FHSIZE */

/* Operations of RFC 7530, section 16. */
enum { GETATTR = 9, GETFH = 10, LOOKUP = 15, PUTFH = 22, PUTROOTFH = 24, READDIR = 26 };

/* Attributes of RFC 7530, section 5: type, size and fileid; mode, numlinks, owner, owner_group,
 * space_used, time_access, time_metadata and time_modify. */
static const uint32_t listed[] = {1 << 1 | 1 << 20, 0};
static const uint32_t wanted[] = {
	1 << 1 | 1 << 4 | 1 << 20,
	1 << 1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 13 | 1 << 15 | 1 << 20 | 1 << 21,
};

/* nfs_ftype4 as a type of stat(2). */
static const uint32_t types[] = {0,	  S_IFREG, S_IFDIR,  S_IFBLK,
				 S_IFCHR, S_IFLNK, S_IFSOCK, S_IFIFO};

/* A message, and the request of the kernel that its reply will answer. */
struct call {
	int64_t due;
	uint64_t unique;
	uint32_t opcode, size;
	char message[MESSAGE_SIZE];
};

/* The server's name of a file, by the file's number. */
struct node {
	uint64_t number;
	uint32_t size;
	char handle[HANDLE_SIZE];
};

static int kernel, server;
static int64_t delay_ns;
static struct call calls[CALLS];
static struct node *nodes, root;
static unsigned long sent, made, answered, lookups, getattrs, readdirs, most;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;

static void give_up(const char *what)
{
	fprintf(stderr, "nfs_client: %s\n", what);
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Returns the place of a file in the table, which never becomes full. Needs the lock. */
static struct node *node_of(uint64_t number)
{
	uint64_t place = number * 0x9e3779b97f4a7c15 >> 43;

	if (number == FUSE_ROOT_ID)
		return &root;
	while (nodes[place % NODES].number && nodes[place % NODES].number != number)
		place++;
	return &nodes[place % NODES];
}

/* Writing of XDR (RFC 4506). */
static char *put(char *at, uint32_t value)
{
	value = htonl(value);
	memcpy(at, &value, 4);
	return at + 4;
}

static char *put_bytes(char *at, const void *bytes, uint32_t size)
{
	at = put(at, size);
	memset(at + size / 4 * 4, 0, 4);
	memcpy(at, bytes, size);
	return at + (size + 3) / 4 * 4;
}

static char *put_mask(char *at, const uint32_t mask[2])
{
	return put(put(put(at, 2), mask[0]), mask[1]);
}

/* Reading of XDR. What the message is too short for is 0, and `at` is then behind `end`. */
struct reply {
	const char *at, *end;
};

static uint32_t get(struct reply *reply)
{
	uint32_t value = 0;

	if (reply->end - reply->at >= 4)
		memcpy(&value, reply->at, 4);
	reply->at += 4;
	return ntohl(value);
}

static uint64_t get_long(struct reply *reply)
{
	uint64_t high = get(reply);

	return high << 32 | get(reply);
}

static const char *get_bytes(struct reply *reply, uint32_t *size)
{
	const char *bytes;

	*size = get(reply);
	bytes = reply->at;
	if (reply->at > reply->end || *size > reply->end - reply->at)
		*size = 0, reply->at = reply->end + 1;
	else
		reply->at += (*size + 3) / 4 * 4;
	return bytes;
}

static void answer(uint64_t unique, int error, const void *body, size_t size)
{
	struct fuse_out_header header = {
		.len = sizeof(header) + (error ? 0 : size),
		.error = -error,
		.unique = unique,
	};
	struct iovec parts[2] = {
		{&header, sizeof(header)},
		{(void *)body, error ? 0 : size},
	};

	/* It fails with ENOENT if the request was interrupted: nobody waits for it any more. */
	if (writev(kernel, parts, 2) < 0 && errno != ENOENT && errno != ENODEV)
		perror("nfs_client: answer");
}

/* Begins a message of so many operations. Its length is filled in at last. */
static char *begin(char *message, uint32_t number, uint32_t operations)
{
	const uint32_t words[] = {
		0,  number, 0, 2, 100003, 4, 1, /* a call of version 2 of RPC: NFS 4, COMPOUND */
		1,  20,	    0, 0, 0,	  0, 0, /* AUTH_SYS: root, in no other group */
		0,  0,				/* AUTH_NONE */
		0,  0,	    operations,		/* no tag, minor version 0 */
	};

	for (size_t word = 0; word < sizeof(words) / sizeof(*words); word++)
		message = put(message, words[word]);
	return message;
}

static size_t end(char *message, char *at)
{
	put(message, 1U << 31 | (at - message - 4));
	return at - message;
}

/* Goes to the results of the operations. Returns 0 or an error number. */
static int results(struct reply *reply)
{
	uint32_t size, status, words[3];

	for (int word = 0; word < 3; word++) /* REPLY, MSG_ACCEPTED, the flavour of the verifier */
		words[word] = get(reply);
	get_bytes(reply, &size);
	if (words[0] != 1 || words[1] != 0 || get(reply) != 0)
		return EIO;
	status = get(reply);
	get_bytes(reply, &size);
	get(reply);
	/* The first errors of NFS are those of Unix. */
	return status < 100 ? (int)status : EIO;
}

/* Reads the number and the status of an operation. Returns whether it is this one. */
static int result(struct reply *reply, uint32_t operation)
{
	return get(reply) == operation && get(reply) == 0 && reply->at <= reply->end;
}

/* Returns whether the attributes are those that were asked for, and goes to their values. */
static int has_mask(struct reply *reply, const uint32_t mask[2])
{
	uint32_t words = get(reply);

	for (uint32_t word = 0; word < words && reply->at < reply->end; word++)
		if (get(reply) != (word < 2 ? mask[word] : 0))
			return 0;
	get(reply);
	return 1;
}

static int attributes(struct reply *reply, struct fuse_attr *attr)
{
	uint32_t type, size;

	if (!result(reply, GETATTR) || !has_mask(reply, wanted))
		return EIO;
	type = get(reply);
	*attr = (struct fuse_attr){.blksize = 4096};
	attr->size = get_long(reply);
	attr->ino = get_long(reply);
	attr->mode = get(reply) | types[type % 8];
	attr->nlink = get(reply);
	get_bytes(reply, &size);
	get_bytes(reply, &size);
	attr->blocks = get_long(reply) / 512;
	attr->atime = get_long(reply);
	attr->atimensec = get(reply);
	attr->ctime = get_long(reply);
	attr->ctimensec = get(reply);
	attr->mtime = get_long(reply);
	attr->mtimensec = get(reply);
	return reply->at <= reply->end ? 0 : EIO;
}

static void found(const struct call *call, struct reply *reply)
{
	struct fuse_entry_out entry = {.attr_valid = 3600};
	const char *handle;
	uint32_t size;
	int fine;

	fine = result(reply, PUTFH) && result(reply, LOOKUP) && result(reply, GETFH);
	handle = get_bytes(reply, &size);
	if (!fine || size > HANDLE_SIZE || attributes(reply, &entry.attr))
		return answer(call->unique, EIO, NULL, 0);
	entry.nodeid = entry.attr.ino;
	pthread_mutex_lock(&lock);
	struct node *node = node_of(entry.nodeid);
	node->number = entry.nodeid;
	node->size = size;
	memcpy(node->handle, handle, size);
	pthread_mutex_unlock(&lock);
	answer(call->unique, 0, &entry, sizeof(entry));
}

static void got_attributes(const struct call *call, struct reply *reply)
{
	struct fuse_attr_out out = {.attr_valid = 3600};
	int error = result(reply, PUTFH) ? attributes(reply, &out.attr) : EIO;

	answer(call->unique, error, &out, sizeof(out));
}

static void got_entries(const struct call *call, struct reply *reply)
{
	static char out[REQUEST_SIZE];
	size_t room = call->size < sizeof(out) ? call->size : sizeof(out), used = 0;
	int fine = result(reply, PUTFH) && result(reply, READDIR);

	get_long(reply);
	while (fine && get(reply)) {
		struct fuse_dirent *entry = (struct fuse_dirent *)(out + used);
		uint64_t position = get_long(reply);
		uint32_t length, type;
		const char *name = get_bytes(reply, &length);
		size_t record = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + length);

		fine = has_mask(reply, listed) && reply->at < reply->end;
		type = get(reply);
		if (!fine || used + record > room)
			break;
		memset(entry, 0, record);
		entry->ino = get_long(reply);
		entry->off = position;
		entry->namelen = length;
		entry->type = types[type % 8] >> 12;
		memcpy(entry->name, name, length);
		used += record;
	}
	answer(call->unique, fine ? 0 : EIO, out, used);
}

static void *read_replies(void *buffer)
{
	for (;;) {
		uint32_t marker, size, number;
		struct reply reply;
		struct call call;
		int error;

		if (recv(server, &marker, 4, MSG_WAITALL) != 4)
			return NULL;
		size = ntohl(marker) & ~(1U << 31);
		if (!(ntohl(marker) >> 31) || size > REPLY_SIZE)
			give_up("a reply is in parts, or too long");
		if (recv(server, buffer, size, MSG_WAITALL) != size)
			give_up("the server has ended");
		reply = (struct reply){buffer, (char *)buffer + size};
		number = get(&reply);
		pthread_mutex_lock(&lock);
		call = calls[number % CALLS];
		calls[number % CALLS].unique = 0;
		answered++;
		pthread_mutex_unlock(&lock);
		error = results(&reply);
		if (error)
			answer(call.unique, error, NULL, 0);
		else if (call.opcode == FUSE_LOOKUP)
			found(&call, &reply);
		else if (call.opcode == FUSE_GETATTR)
			got_attributes(&call, &reply);
		else
			got_entries(&call, &reply);
	}
}

static void send_all(const char *bytes, size_t size)
{
	while (size) {
		ssize_t done = send(server, bytes, size, MSG_NOSIGNAL);

		if (done < 0)
			give_up("the server has ended");
		bytes += done;
		size -= done;
	}
}

/* Sends each message when it is due. */
static void *send_messages(void *buffer)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		struct timespec due;
		size_t size = 0;
		int64_t first;

		while (sent == made)
			pthread_cond_wait(&arrived, &lock);
		first = calls[sent % CALLS].due;
		pthread_mutex_unlock(&lock);
		due = (struct timespec){first / 1000000000, first % 1000000000};
		while (first > now_ns() &&
		       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
			;
		pthread_mutex_lock(&lock);
		first = now_ns();
		for (; sent != made && calls[sent % CALLS].due <= first &&
		       size + MESSAGE_SIZE <= REQUEST_SIZE;
		     sent++) {
			const char *message = calls[sent % CALLS].message;
			struct reply head = {message, message + 4};
			size_t length = 4 + (get(&head) & ~(1U << 31));

			memcpy((char *)buffer + size, message, length);
			size += length;
		}
		pthread_mutex_unlock(&lock);
		send_all(buffer, size);
		pthread_mutex_lock(&lock);
	}
	return NULL;
}

static void ask(const struct fuse_in_header *request, const void *body)
{
	const struct fuse_read_in *in = body;
	struct call *call;
	struct node node;
	char *at;

	pthread_mutex_lock(&lock);
	node = *node_of(request->nodeid);
	call = &calls[made % CALLS];
	if (call->unique)
		give_up("too many requests at a time");
	*call = (struct call){now_ns() + delay_ns, request->unique, request->opcode, 0, ""};
	at = begin(call->message, made, request->opcode == FUSE_LOOKUP ? 4 : 2);
	at = put_bytes(put(at, PUTFH), node.handle, node.size);
	if (request->opcode == FUSE_LOOKUP) {
		at = put(put_bytes(put(at, LOOKUP), body, strlen(body)), GETFH);
		lookups++;
	}
	if (request->opcode == FUSE_READDIR) {
		/* The reply has more bytes for an entry than the kernel: all of them have room. */
		call->size = in->size;
		at = put(put(put(at, READDIR), in->offset >> 32), in->offset);
		at = put(put(put(put(at, 0), 0), in->size), in->size);
		at = put_mask(at, listed);
		readdirs++;
	} else {
		at = put_mask(put(at, GETATTR), wanted);
		getattrs += request->opcode == FUSE_GETATTR;
	}
	end(call->message, at);
	made++;
	if (made - answered > most)
		most = made - answered;
	pthread_cond_signal(&arrived);
	pthread_mutex_unlock(&lock);
}

static void begin_session(const struct fuse_in_header *request, const struct fuse_init_in *in)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = in->max_readahead,
		.flags = in->flags & (FUSE_PARALLEL_DIROPS | FUSE_BIG_WRITES),
		.max_background = 512,
		.congestion_threshold = 512,
		.max_write = 1 << 16,
		.time_gran = 1,
	};

	answer(request->unique, 0, &out, sizeof(out));
}

static void serve(const struct fuse_in_header *request)
{
	struct fuse_open_out opened = {.fh = 1};
	struct fuse_statfs_out statfs = {.st = {.bsize = 4096, .namelen = 255}};

	switch (request->opcode) {
	case FUSE_INIT:
		return begin_session(request, (const void *)(request + 1));
	case FUSE_LOOKUP:
	case FUSE_GETATTR:
	case FUSE_READDIR:
		return ask(request, request + 1);
	case FUSE_OPENDIR:
		return answer(request->unique, 0, &opened, sizeof(opened));
	case FUSE_STATFS:
		return answer(request->unique, 0, &statfs, sizeof(statfs));
	case FUSE_RELEASEDIR:
		return answer(request->unique, 0, NULL, 0);
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		return answer(request->unique, ENOSYS, NULL, 0);
	}
}

static void *read_requests(void *buffer)
{
	for (;;) {
		ssize_t size = read(kernel, buffer, REQUEST_SIZE);

		if (size > 0)
			serve(buffer);
		else if (size == 0 || (errno != EINTR && errno != ENOENT && errno != EAGAIN))
			return NULL;
	}
}

/* Connects, and asks for the server's name of the exported directory. */
static void connect_to(const char *address, const char *port, const char *export)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
	char message[MESSAGE_SIZE], *at = begin(message, 0, 3);
	struct reply reply = {message, message};
	const char *handle;
	int one = 1;

	server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (inet_pton(AF_INET, address, &to.sin_addr) != 1 ||
	    connect(server, (struct sockaddr *)&to, sizeof(to)) != 0)
		give_up("no connection to the server");
	setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	at = put(put_bytes(put(put(at, PUTROOTFH), LOOKUP), export, strlen(export)), GETFH);
	send_all(message, end(message, at));
	if (recv(server, message, 4, MSG_WAITALL) != 4)
		give_up("the server has ended");
	reply.end += recv(server, message, sizeof(message), 0);
	get(&reply);
	if (results(&reply) || !result(&reply, PUTROOTFH) || !result(&reply, LOOKUP) ||
	    !result(&reply, GETFH))
		give_up("the server does not export the directory");
	handle = get_bytes(&reply, &root.size);
	if (root.size > HANDLE_SIZE)
		give_up("the server's name of the directory is too long");
	memcpy(root.handle, handle, root.size);
}

int main(int count, char **arguments)
{
	void *(*const work[])(void *) = {send_messages, read_replies, read_requests, read_requests};
	char options[128], byte;
	pthread_t thread;

	if (count != 6 || strlen(arguments[4]) > 255) {
		fprintf(stderr, "usage: nfs_client POINT ADDRESS PORT EXPORT DELAY\n");
		return 2;
	}
	delay_ns = strtol(arguments[5], NULL, 10) * 1000;
	nodes = calloc(NODES, sizeof(*nodes));
	connect_to(arguments[2], arguments[3], arguments[4]);
	kernel = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 kernel);
	if (!nodes || kernel < 0 ||
	    mount("nfs", arguments[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0) {
		perror("nfs_client: mount");
		return 77;
	}
	for (size_t each = 0; each < sizeof(work) / sizeof(*work); each++) {
		void *buffer = malloc(REPLY_SIZE);

		if (!buffer || pthread_create(&thread, NULL, work[each], buffer) != 0)
			give_up("no thread");
	}
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	umount2(arguments[1], MNT_DETACH);
	pthread_mutex_lock(&lock);
	printf("lookups=%lu getattrs=%lu readdirs=%lu most=%lu\n", lookups, getattrs, readdirs,
	       most);
	return 0;
}
