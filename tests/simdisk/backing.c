// SPDX-License-Identifier: GPL-2.0
/*
 * What was written to a simulated disk: one page of memory per page of the disk
 * that was ever written. The rest reads as zeroes.
 *
 * Called from queue_rq, which may not sleep; one call at a time.
 */
#include <linux/highmem.h>

#include "simdisk.h"

static struct page *written_page(struct xarray *pages, unsigned long index)
{
	struct page *page = xa_load(pages, index);
	int err;

	if (page)
		return page;
	page = alloc_page(GFP_ATOMIC | __GFP_ZERO | __GFP_NOWARN);
	if (!page)
		return NULL;
	err = xa_err(xa_store(pages, index, page, GFP_ATOMIC | __GFP_NOWARN));
	if (err) {
		__free_page(page);
		return NULL;
	}
	return page;
}

static int copy_page_part(struct xarray *pages, u64 pos, void *buf, u32 len, bool write)
{
	unsigned long index = pos >> PAGE_SHIFT;
	struct page *page = write ? written_page(pages, index) : xa_load(pages, index);

	if (write && !page)
		return -ENOMEM;
	if (write)
		memcpy_to_page(page, offset_in_page(pos), buf, len);
	else if (page)
		memcpy_from_page(buf, page, offset_in_page(pos), len);
	else
		memset(buf, 0, len);
	return 0;
}

/**
 * backing_copy() - move the data of a read or a write
 * @pages: the disk's memory; NULL forgets what is written and reads zeroes
 * @rq: the request
 *
 * Return: 0, or -ENOMEM; the request may then be tried again.
 */
int backing_copy(struct xarray *pages, struct request *rq)
{
	u64 pos = blk_rq_pos(rq) << SECTOR_SHIFT;
	bool write = op_is_write(req_op(rq));
	struct req_iterator iter;
	struct bio_vec bv;

	rq_for_each_segment(bv, rq, iter) {
		void *buf = bvec_kmap_local(&bv);
		u32 done = 0, n;
		int err = 0;

		for (; pages && done < bv.bv_len && !err; done += n) {
			n = min_t(u32, bv.bv_len - done, PAGE_SIZE - offset_in_page(pos + done));
			err = copy_page_part(pages, pos + done, buf + done, n, write);
		}
		if (!pages && !write)
			memset(buf, 0, bv.bv_len);
		kunmap_local(buf);
		if (err)
			return err;
		pos += bv.bv_len;
	}
	return 0;
}

static void discard_range(struct xarray *pages, u64 pos, u64 end)
{
	while (pos < end) {
		unsigned long index = pos >> PAGE_SHIFT;
		u32 n = min_t(u64, end - pos, PAGE_SIZE - offset_in_page(pos));
		struct page *page = xa_load(pages, index);

		if (!page && !xa_find_after(pages, &index, ULONG_MAX, XA_PRESENT))
			return;
		if (!page) {
			pos = max_t(u64, pos + n, (u64)index << PAGE_SHIFT);
			continue;
		}
		if (n == PAGE_SIZE)
			__free_page(xa_erase(pages, index));
		else
			memzero_page(page, offset_in_page(pos), n);
		pos += n;
	}
}

/**
 * backing_discard() - forget what was written to the ranges of a discard
 * @pages: the disk's memory, or NULL
 * @rq: the request, each bio of which is a range
 */
void backing_discard(struct xarray *pages, struct request *rq)
{
	struct bio *bio;

	if (!pages)
		return;
	__rq_for_each_bio(bio, rq) {
		u64 pos = bio->bi_iter.bi_sector << SECTOR_SHIFT;

		discard_range(pages, pos, pos + bio->bi_iter.bi_size);
	}
}

/**
 * backing_free() - forget all that was written
 * @pages: the disk's memory
 */
void backing_free(struct xarray *pages)
{
	unsigned long index;
	struct page *page;

	xa_for_each(pages, index, page)
		__free_page(page);
	xa_destroy(pages);
}
