/* SPDX-License-Identifier: GPL-2.0 */
/* Of struct request what include/htbs/ahead.h uses, and a number. */
#ifndef TEST_LINUX_BLK_MQ_H
#define TEST_LINUX_BLK_MQ_H

#include <linux/list.h>
#include <linux/types.h>

struct request {
	struct list_head queuelist;
	u32 number;
};

#endif /* TEST_LINUX_BLK_MQ_H */
