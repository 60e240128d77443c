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
#include <netinet/tcp.h>
#include <string.h>
#include <sys/stat.h>

#include "../tests/shared/fuse_session.h"

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

static int server;
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

static void *allocated(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		give_up("no memory");
	return memory;
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

static void *read_replies(void *unused)
{
	char *buffer = allocated(REPLY_SIZE);

	for (;;) {
		uint32_t marker, size, number;
		struct reply reply;
		struct call call;
		int error;

		if (recv(server, &marker, 4, MSG_WAITALL) != 4)
			return unused;
		size = ntohl(marker) & ~(1U << 31);
		if (!(ntohl(marker) >> 31) || size > REPLY_SIZE)
			give_up("a reply is in parts, or too long");
		if (recv(server, buffer, size, MSG_WAITALL) != size)
			give_up("the server has ended");
		reply = (struct reply){buffer, buffer + size};
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
static void *send_messages(void *unused)
{
	char *buffer = allocated(REQUEST_SIZE);

	pthread_mutex_lock(&lock);
	for (;;) {
		size_t size = 0;
		int64_t first;

		while (sent == made)
			pthread_cond_wait(&arrived, &lock);
		first = calls[sent % CALLS].due;
		pthread_mutex_unlock(&lock);
		wait_until(first);
		pthread_mutex_lock(&lock);
		first = now_ns();
		for (; sent != made && calls[sent % CALLS].due <= first &&
		       size + MESSAGE_SIZE <= REQUEST_SIZE;
		     sent++) {
			const char *message = calls[sent % CALLS].message;
			struct reply head = {message, message + 4};
			size_t length = 4 + (get(&head) & ~(1U << 31));

			memcpy(buffer + size, message, length);
			size += length;
		}
		pthread_mutex_unlock(&lock);
		send_all(buffer, size);
		pthread_mutex_lock(&lock);
	}
	return unused;
}

static void serve_file(const struct fuse_in_header *request, const void *body)
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
	if (count != 6 || strlen(arguments[4]) > 255) {
		fprintf(stderr, "usage: nfs_client POINT ADDRESS PORT EXPORT DELAY\n");
		return 2;
	}
	delay_ns = strtol(arguments[5], NULL, 10) * 1000;
	nodes = allocated(NODES * sizeof(*nodes));
	connect_to(arguments[2], arguments[3], arguments[4]);
	mount_at(arguments[1], "nfs");
	start_thread(send_messages);
	start_thread(read_replies);
	serve_until_end(arguments[1]);
	pthread_mutex_lock(&lock);
	printf("lookups=%lu getattrs=%lu readdirs=%lu most=%lu\n", lookups, getattrs, readdirs,
	       most);
	return 0;
}
