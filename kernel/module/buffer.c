// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel memory for output. A buffer of a megabyte is mapped page by page, which costs more than
 * listing a small directory. So an open device keeps its used buffers; the last used one is taken
 * first. A buffer is charged to the memory cgroup of the process that needed it first, and no other
 * process gets it while that one lives: a process that inherits or receives an open device uses
 * memory of its own. A later process may have the same address as its mm, and so get a buffer that
 * is charged to the first one's group. Closing the device frees the buffers.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "internal.h"

void ringwalk_pool_init(struct ringwalk_pool *pool)
{
	spin_lock_init(&pool->lock);
	pool->count = 0;
}

void ringwalk_pool_destroy(struct ringwalk_pool *pool)
{
	while (pool->count)
		kvfree(pool->free[--pool->count].data);
}

/**
 * ringwalk_buffer_get - takes memory for one request
 * @pool: the open device's buffers
 * @size: bytes, at most RINGWALK_BUFFER_MAX
 * @buffer: where the buffer is put; its contents are undefined, and must not reach the caller
 *
 * Return: 0 or -ENOMEM.
 */
int ringwalk_buffer_get(struct ringwalk_pool *pool, size_t size, struct ringwalk_buffer *buffer)
{
	unsigned int i;

	spin_lock(&pool->lock);
	for (i = pool->count; i-- > 0; ) {
		if (pool->free[i].size < size || pool->free[i].mm != current->mm)
			continue;
		*buffer = pool->free[i];
		pool->free[i] = pool->free[--pool->count];
		spin_unlock(&pool->lock);
		return 0;
	}
	spin_unlock(&pool->lock);

	buffer->size = roundup_pow_of_two(max_t(size_t, size, PAGE_SIZE));
	buffer->mm = current->mm;
	buffer->data = kvmalloc(buffer->size, GFP_KERNEL_ACCOUNT);
	return buffer->data ? 0 : -ENOMEM;
}

/**
 * ringwalk_buffer_put - returns memory to the pool
 * @pool: the pool that the buffer came from
 * @buffer: the buffer from ringwalk_buffer_get()
 *
 * If the pool is full, a buffer of another process or a smaller one is freed for this one.
 */
void ringwalk_buffer_put(struct ringwalk_pool *pool, struct ringwalk_buffer *buffer)
{
	struct ringwalk_buffer out = *buffer;
	unsigned int i;

	spin_lock(&pool->lock);
	if (pool->count < RINGWALK_POOL_MAX) {
		pool->free[pool->count++] = out;
		out.data = NULL;
	} else {
		for (i = 0; i < pool->count; i++) {
			if (out.mm == current->mm && (pool->free[i].mm != out.mm ||
						      pool->free[i].size < out.size))
				swap(pool->free[i], out);
		}
	}
	spin_unlock(&pool->lock);
	kvfree(out.data);
}
