// SPDX-License-Identifier: GPL-2.0
/*
 * The tunables in /sys/block/DEV/queue/iosched/, described in
 * sysfs/ABI/sysfs-block-queue-iosched-htbs. They are plain decimal numbers, in the
 * same unit when read and written. A number out of range is refused with -EINVAL and
 * changes nothing.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/sysfs.h>

#include <htbs/config.h>
#include <htbs/core/admission.h>
#include <htbs/core/late.h>
#include <htbs/core/params.h>
#include <htbs/core/policy.h>
#include <htbs/idle_timer.h>
#include <htbs/sysfs.h>

#define HTBS_T_WAIT_US_LIMIT	1000000

static int htbs_parse(const char *page, u64 min, u64 max, u64 *value)
{
	/* A number that does not fit in 64 bits is out of range like any other. */
	if (!isdigit(*page) || kstrtou64(page, 10, value) || *value < min || *value > max)
		return -EINVAL;
	return 0;
}

static ssize_t htbs_t_wait_us_show(struct elevator_queue *eq, char *page)
{
	struct htbs_device *dev = eq->elevator_data;

	return sysfs_emit(page, "%llu\n", div_u64(READ_ONCE(dev->policy.t_wait),
						  NSEC_PER_USEC));
}

static ssize_t htbs_t_wait_us_store(struct elevator_queue *eq,
				    const char *page, size_t count)
{
	u64 value;
	int err = htbs_parse(page, 0, HTBS_T_WAIT_US_LIMIT, &value);

	if (err)
		return err;
	htbs_device_set_t_wait(eq->elevator_data, value * NSEC_PER_USEC);
	return count;
}

/* How many conforming requests may be late. */

static ssize_t htbs_show_late(struct htbs_device *dev, const u32 *one_in, char *page)
{
	unsigned long flags;
	u32 value;

	htbs_device_lock(dev, &flags, ktime_get_ns());
	value = *one_in;
	htbs_device_unlock_run(dev, flags);
	return sysfs_emit(page, "%u\n", value);
}

static ssize_t htbs_late_one_in_show(struct elevator_queue *eq, char *page)
{
	struct htbs_device *dev = eq->elevator_data;

	return htbs_show_late(dev, &dev->policy.late_one_in, page);
}

static ssize_t htbs_late_one_in_writes_show(struct elevator_queue *eq, char *page)
{
	struct htbs_device *dev = eq->elevator_data;

	return htbs_show_late(dev, &dev->policy.late_one_in_writes, page);
}

static ssize_t htbs_store_late(struct htbs_device *dev, bool writes, const char *page,
			       size_t count)
{
	u64 value;
	int err = htbs_parse(page, HTBS_LATE_MIN, HTBS_LATE_MAX, &value);

	if (err)
		return err;
	htbs_device_set_late(dev, writes ? 0 : value, writes ? value : 0);
	return count;
}

static ssize_t htbs_late_one_in_store(struct elevator_queue *eq, const char *page, size_t count)
{
	return htbs_store_late(eq->elevator_data, false, page, count);
}

static ssize_t htbs_late_one_in_writes_store(struct elevator_queue *eq, const char *page,
					     size_t count)
{
	return htbs_store_late(eq->elevator_data, true, page, count);
}

/* Each store reads the default reservation, changes one number, and writes it back. */

static void htbs_get_defaults(struct htbs_device *dev,
			      struct htbs_params *params)
{
	unsigned long flags;

	htbs_device_lock(dev, &flags, ktime_get_ns());
	*params = dev->defaults;
	htbs_device_unlock_run(dev, flags);
}

static ssize_t htbs_set_defaults(struct htbs_device *dev,
				 const struct htbs_params *params, size_t count)
{
	if (!htbs_params_valid(params))
		return -EINVAL;
	return htbs_device_set_defaults(dev, params) ?: count;
}

static ssize_t htbs_default_bw_show(struct elevator_queue *eq, char *page)
{
	struct htbs_params params;

	htbs_get_defaults(eq->elevator_data, &params);
	return sysfs_emit(page, "%llu\n", params.bw);
}

static ssize_t htbs_default_bw_store(struct elevator_queue *eq,
				     const char *page, size_t count)
{
	struct htbs_params params;

	htbs_get_defaults(eq->elevator_data, &params);
	if (htbs_parse(page, 0, U64_MAX, &params.bw))
		return -EINVAL;
	return htbs_set_defaults(eq->elevator_data, &params, count);
}

static ssize_t htbs_default_burst_show(struct elevator_queue *eq, char *page)
{
	struct htbs_params params;

	htbs_get_defaults(eq->elevator_data, &params);
	return sysfs_emit(page, "%llu\n", params.burst);
}

static ssize_t htbs_default_burst_store(struct elevator_queue *eq,
					const char *page, size_t count)
{
	struct htbs_params params;

	htbs_get_defaults(eq->elevator_data, &params);
	if (htbs_parse(page, 0, U64_MAX, &params.burst))
		return -EINVAL;
	return htbs_set_defaults(eq->elevator_data, &params, count);
}

static ssize_t htbs_default_latency_us_show(struct elevator_queue *eq,
					    char *page)
{
	struct htbs_params params;

	htbs_get_defaults(eq->elevator_data, &params);
	return sysfs_emit(page, "%llu\n",
			  div_u64(params.latency, NSEC_PER_USEC));
}

static ssize_t htbs_default_latency_us_store(struct elevator_queue *eq,
					     const char *page, size_t count)
{
	struct htbs_params params;
	u64 us;

	htbs_get_defaults(eq->elevator_data, &params);
	if (htbs_parse(page, 0, HTBS_LATENCY_MAX / NSEC_PER_USEC, &us))
		return -EINVAL;
	params.latency = us * NSEC_PER_USEC;
	return htbs_set_defaults(eq->elevator_data, &params, count);
}

/* Admission. */

static ssize_t htbs_capacity_bw_show(struct elevator_queue *eq, char *page)
{
	struct htbs_device *dev = eq->elevator_data;

	return sysfs_emit(page, "%llu\n", READ_ONCE(dev->admitted.capacity));
}

/* Accepts a number, or "NUMBER force". */
static ssize_t htbs_capacity_bw_store(struct elevator_queue *eq,
				      const char *page, size_t count)
{
	struct htbs_device *dev = eq->elevator_data;
	size_t digits = strspn(page, "0123456789");
	bool force = sysfs_streq(page + digits, " force");
	struct htbs_shortfall shortfall;
	char number[24];
	u64 value;
	int err;

	if (digits >= sizeof(number))
		return -EINVAL;
	strscpy(number, page, digits + 1);
	if (htbs_parse(force ? number : page, 0, HTBS_CAPACITY_MAX, &value))
		return -EINVAL;
	err = htbs_admission_set_capacity(&dev->admitted, value, force,
					  &shortfall);
	if (err)
		htbs_admission_set_refused(dev->queue->disk, &shortfall);
	return err ?: count;
}

static ssize_t htbs_capacity_request_show(struct elevator_queue *eq, char *page)
{
	struct htbs_device *dev = eq->elevator_data;

	return sysfs_emit(page, "%u\n", READ_ONCE(dev->admitted.request));
}

static ssize_t htbs_capacity_request_store(struct elevator_queue *eq,
					   const char *page, size_t count)
{
	struct htbs_device *dev = eq->elevator_data;
	struct htbs_shortfall shortfall;
	u64 value;
	int err = htbs_parse(page, HTBS_COST_MIN, U32_MAX, &value);

	if (err)
		return err;
	err = htbs_admission_set_request(&dev->admitted, value, &shortfall);
	if (err)
		htbs_admission_set_refused(dev->queue->disk, &shortfall);
	else
		htbs_admission_set_check_queue(&dev->admitted,
					       dev->queue->disk);
	return err ?: count;
}

static ssize_t htbs_promised_bw_show(struct elevator_queue *eq, char *page)
{
	struct htbs_device *dev = eq->elevator_data;

	return sysfs_emit(page, "%llu\n",
			  htbs_admission_set_bw(&dev->admitted));
}

static ssize_t htbs_promised_requests_show(struct elevator_queue *eq,
					   char *page)
{
	struct htbs_device *dev = eq->elevator_data;

	return sysfs_emit(page, "%u\n",
			  htbs_admission_set_nr_requests(&dev->admitted));
}

static ssize_t htbs_seeks_show(struct elevator_queue *eq, char *page)
{
	struct htbs_device *dev = eq->elevator_data;

	return sysfs_emit(page, "%d\n", READ_ONCE(dev->policy.seeks));
}

/* blk-mq serialises the stores of one queue, so read and write back are safe. */
#define HTBS_ATTR(name) \
	__ATTR(name, 0644, htbs_##name##_show, htbs_##name##_store)

struct elv_fs_entry htbs_iosched_attrs[] = {
	HTBS_ATTR(t_wait_us),
	HTBS_ATTR(late_one_in),
	HTBS_ATTR(late_one_in_writes),
	HTBS_ATTR(default_bw),
	HTBS_ATTR(default_burst),
	HTBS_ATTR(default_latency_us),
	HTBS_ATTR(capacity_bw),
	HTBS_ATTR(capacity_request),
	__ATTR(promised_bw, 0444, htbs_promised_bw_show, NULL),
	__ATTR(promised_requests, 0444, htbs_promised_requests_show, NULL),
	__ATTR(seeks, 0444, htbs_seeks_show, NULL),
	__ATTR_NULL
};
