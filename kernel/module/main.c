// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/ringwalk: the same commands by ioctl(2) and by io_uring's IORING_OP_URING_CMD.
 *
 * A ring first calls a command without permission to wait. Unless the request has
 * RINGWALK_F_INLINE, the answer is -EAGAIN, and a worker thread of the ring calls again. Nothing is
 * held in between, because a request that is cancelled then never comes back.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "internal.h"

#define RINGWALK_COMMAND_BIT(command)	(1U << _IOC_NR(command))

static long ringwalk_do_info(void __user *arg)
{
	const struct ringwalk_info info = {
		.size = sizeof(info),
		.version = RINGWALK_VERSION,
		.magic = RINGWALK_MAGIC,
		.flags = RINGWALK_F_INLINE | RINGWALK_F_XATTR_ALL | RINGWALK_F_XATTR_BLOCKS,
		.commands = RINGWALK_COMMAND_BIT(RINGWALK_IOC_INFO) |
			    RINGWALK_COMMAND_BIT(RINGWALK_IOC_GETDENTS) |
			    RINGWALK_COMMAND_BIT(RINGWALK_IOC_READDIRPLUS) |
			    RINGWALK_COMMAND_BIT(RINGWALK_IOC_STAT_BATCH) |
			    RINGWALK_COMMAND_BIT(RINGWALK_IOC_READAHEAD) |
			    RINGWALK_COMMAND_BIT(RINGWALK_IOC_READTREE),
		.buffer_max = RINGWALK_BUFFER_MAX,
		.stat_mask = RINGWALK_STAT_MASK,
		.readahead_max = RINGWALK_READAHEAD_MAX,
	};
	u32 size;

	if (get_user(size, (const u32 __user *)arg))
		return -EFAULT;
	if (size < RINGWALK_INFO_SIZE1)
		return -EINVAL;
	return copy_to_user(arg, &info, min_t(size_t, size, sizeof(info))) ? -EFAULT : 0;
}

/*
 * Returns a result that is valid for ioctl and ring. A ring would take -EAGAIN as a request to call
 * again, and -EIOCBQUEUED as the promise of a later answer.
 */
static long ringwalk_result(long result)
{
	if (result == -EAGAIN || result == -EIOCBQUEUED)
		return -EBUSY;
	return ringwalk_errno(result);
}

static long ringwalk_run(struct file *file, unsigned int command, void __user *arg)
{
	struct ringwalk_pool *pool = file->private_data;

	switch (command) {
	case RINGWALK_IOC_INFO:
		return ringwalk_do_info(arg);
	case RINGWALK_IOC_GETDENTS:
		return ringwalk_result(ringwalk_do_getdents(arg));
	case RINGWALK_IOC_READDIRPLUS:
		return ringwalk_result(ringwalk_do_readdirplus(pool, arg));
	case RINGWALK_IOC_STAT_BATCH:
		return ringwalk_result(ringwalk_do_stat_batch(pool, arg));
	case RINGWALK_IOC_READAHEAD:
		return ringwalk_result(ringwalk_do_readahead(arg));
	case RINGWALK_IOC_READTREE:
		return ringwalk_result(ringwalk_do_readtree(pool, arg));
	default:
		return -ENOTTY;
	}
}

static long ringwalk_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	return ringwalk_run(file, command, (void __user *)arg);
}

/*
 * Returns 1 if the request may run in its submitter, 0 if not, or a negative errno. The flags are
 * at the same place in all structures. RINGWALK_IOC_INFO and unknown commands never wait.
 */
static int ringwalk_may_wait(unsigned int command, void __user *arg)
{
	const struct ringwalk_getdents __user *request = arg;
	u32 flags;

	switch (command) {
	case RINGWALK_IOC_GETDENTS:
	case RINGWALK_IOC_READDIRPLUS:
	case RINGWALK_IOC_STAT_BATCH:
	case RINGWALK_IOC_READAHEAD:
	case RINGWALK_IOC_READTREE:
		/*
		 * The thread that polls the queue of a ring must not wait. It looks like a worker,
		 * but what ends a request in a worker comes to it with each completion.
		 */
		if (current->flags & PF_IO_WORKER)
			return 0;
		if (get_user(flags, &request->flags))
			return -EFAULT;
		return !!(flags & RINGWALK_F_INLINE);
	default:
		return 1;
	}
}

static int ringwalk_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags)
{
	const struct ringwalk_sqe *sqe = ringwalk_uring_payload(cmd);
	void __user *arg = u64_to_user_ptr(READ_ONCE(sqe->request));
	int result;

	if (READ_ONCE(sqe->reserved) || (cmd->flags & IORING_URING_CMD_MASK))
		return -EINVAL;
	/* Positions of ext4 and NFS are shorter in a 32-bit system call, not in every worker. */
	if (ringwalk_uring_compat(issue_flags))
		return -EOPNOTSUPP;
	if (issue_flags & IO_URING_F_NONBLOCK) {
		result = ringwalk_may_wait(cmd->cmd_op, arg);
		if (result < 0)
			return result;
		if (!result)
			return -EAGAIN;
	}
	result = ringwalk_run(cmd->file, cmd->cmd_op, arg);
	return ringwalk_uring_result(cmd, result, issue_flags);
}

static int ringwalk_open(struct inode *inode, struct file *file)
{
	struct ringwalk_pool *pool = kmalloc(sizeof(*pool), GFP_KERNEL_ACCOUNT);

	if (!pool)
		return -ENOMEM;
	ringwalk_pool_init(pool);
	file->private_data = pool;
	return nonseekable_open(inode, file);
}

static int ringwalk_release(struct inode *inode, struct file *file)
{
	struct ringwalk_pool *pool = file->private_data;

	ringwalk_pool_destroy(pool);
	kfree(pool);
	return 0;
}

/* The module stays loaded while the device is open. A running request keeps it open. */
static const struct file_operations ringwalk_fops = {
	.owner = THIS_MODULE,
	.open = ringwalk_open,
	.release = ringwalk_release,
	.unlocked_ioctl = ringwalk_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.uring_cmd = ringwalk_uring_cmd,
};

static struct miscdevice ringwalk_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ringwalk",
	.mode = 0600,
	.fops = &ringwalk_fops,
};
module_misc_device(ringwalk_device);

MODULE_AUTHOR("The Ringwalk authors");
MODULE_DESCRIPTION("Directories with metadata, a batch a request, by io_uring or ioctl");
MODULE_LICENSE("GPL");
MODULE_VERSION(RINGWALK_RELEASE);
