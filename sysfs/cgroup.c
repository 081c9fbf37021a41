// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroup v2 files io.htbs and io.htbs.stat, described in
 * sysfs/ABI/cgroup-io-htbs.
 */
#include <linux/capability.h>
#include <linux/cgroup.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/parser.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <htbs/config.h>
#include <htbs/config_store.h>
#include <htbs/core/params.h>
#include <htbs/lookup.h>
#include <htbs/queue.h>
#include <htbs/sysfs.h>

enum {
	HTBS_KEY_BW,
	HTBS_KEY_NO_BW,
	HTBS_KEY_IOPS,
	HTBS_KEY_NO_IOPS,
	HTBS_KEY_BURST,
	HTBS_KEY_LATENCY,
	HTBS_KEY_WEIGHT,
	HTBS_KEY_NO_WEIGHT,
	HTBS_KEY_MAX,
	HTBS_KEY_NO_MAX,
	HTBS_KEY_NONE,
	HTBS_KEY_UNKNOWN,
};

static const match_table_t htbs_keys = {
	{ HTBS_KEY_NO_BW,	"bw=max" },
	{ HTBS_KEY_BW,		"bw=%s" },
	{ HTBS_KEY_NO_IOPS,	"iops=max" },
	{ HTBS_KEY_IOPS,	"iops=%s" },
	{ HTBS_KEY_BURST,	"burst=%s" },
	{ HTBS_KEY_LATENCY,	"latency=%s" },
	{ HTBS_KEY_NO_WEIGHT,	"weight=default" },
	{ HTBS_KEY_WEIGHT,	"weight=%s" },
	{ HTBS_KEY_NO_MAX,	"max=max" },
	{ HTBS_KEY_MAX,		"max=%s" },
	{ HTBS_KEY_NONE,	"none" },
	{ HTBS_KEY_UNKNOWN,	NULL },
};

/**
 * struct htbs_conf_line - a line written to io.htbs
 * @params: the reservation
 * @none: the reservation is to be removed
 * @named: at least one key with a value was given
 * @bw_named: bw was given
 * @iops_named: iops was given
 */
struct htbs_conf_line {
	struct htbs_params params;
	bool none;
	bool named;
	bool bw_named;
	bool iops_named;
};

/*
 * Parse a decimal number, optionally with a suffix K, M, G or T for powers of 1024.
 */
static int htbs_parse_size(const char *text, bool suffix, u64 *value)
{
	size_t digits = strspn(text, "0123456789");
	unsigned int shift = 0;
	char number[24];

	if (!digits || digits >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, digits);
	number[digits] = '\0';
	if (kstrtou64(number, 10, value))
		return -EINVAL;

	if (text[digits]) {
		const char *units = "kmgt", *unit;

		unit = strchr(units, text[digits] | 0x20);
		if (!suffix || !unit || text[digits + 1])
			return -EINVAL;
		shift = 10 * (unit - units + 1);
	}
	if (*value > U64_MAX >> shift)
		return -EINVAL;
	*value <<= shift;
	return 0;
}

static int htbs_parse_weight(const char *text, u32 *weight)
{
	u64 value;
	int err = htbs_parse_size(text, false, &value);

	if (err)
		return err;
	if (value < HTBS_WEIGHT_MIN || value > HTBS_WEIGHT_MAX)
		return -EINVAL;
	*weight = value;
	return 0;
}

/* A rate of 0 would mean that nothing is reserved, which is written as "max". */
static int htbs_parse_rate(const char *text, u64 *rate)
{
	u64 value;
	int err = htbs_parse_size(text, true, &value);

	if (err)
		return err;
	if (!value)
		return -EINVAL;
	*rate = value;
	return 0;
}

static int htbs_parse_iops(const char *text, u32 *iops)
{
	u64 value;
	int err = htbs_parse_rate(text, &value);

	if (err)
		return err;
	if (value > HTBS_IOPS_MAX)
		return -EINVAL;
	*iops = value;
	return 0;
}

static int htbs_parse_latency(const char *text, u64 *latency)
{
	u64 value;
	int err = htbs_parse_size(text, false, &value);

	if (err)
		return err;
	if (value > HTBS_LATENCY_MAX / NSEC_PER_USEC)
		return -EINVAL;
	*latency = value * NSEC_PER_USEC;
	return 0;
}

static int htbs_parse_key(char *word, struct htbs_conf_line *line)
{
	substring_t args[MAX_OPT_ARGS];
	int err = 0;

	switch (match_token(word, htbs_keys, args)) {
	case HTBS_KEY_BW:
		err = htbs_parse_rate(args[0].from, &line->params.bw);
		line->bw_named = true;
		break;
	case HTBS_KEY_NO_BW:
		line->params.bw = 0;
		line->bw_named = true;
		break;
	case HTBS_KEY_IOPS:
		err = htbs_parse_iops(args[0].from, &line->params.iops);
		line->iops_named = true;
		break;
	case HTBS_KEY_NO_IOPS:
		line->params.iops = 0;
		line->iops_named = true;
		break;
	case HTBS_KEY_BURST:
		err = htbs_parse_size(args[0].from, true, &line->params.burst);
		break;
	case HTBS_KEY_LATENCY:
		err = htbs_parse_latency(args[0].from, &line->params.latency);
		break;
	case HTBS_KEY_WEIGHT:
		err = htbs_parse_weight(args[0].from, &line->params.weight);
		break;
	case HTBS_KEY_NO_WEIGHT:
		line->params.weight = 0;
		break;
	case HTBS_KEY_MAX:
		err = htbs_parse_rate(args[0].from, &line->params.max);
		break;
	case HTBS_KEY_NO_MAX:
		line->params.max = 0;
		break;
	case HTBS_KEY_NONE:
		line->none = true;
		return 0;
	default:
		return -EINVAL;
	}
	line->named = true;
	return err;
}

static int htbs_parse_line(char *body, struct htbs_conf_line *line)
{
	char *word;
	int err;

	while ((word = strsep(&body, " \t"))) {
		if (!*word)
			continue;
		err = htbs_parse_key(word, line);
		if (err)
			return err;
	}
	/* A line has either values or "none"; an empty line is an error. */
	return line->none == line->named ? -EINVAL : 0;
}

/* Called under queue_lock. */
static int htbs_configure(struct htbs_group *group, char *body,
			  struct htbs_stored_config **saved)
{
	struct htbs_conf_line line = {};
	unsigned long flags;
	int err;

	htbs_device_lock(group->dev, &flags, ktime_get_ns());
	htbs_group_params(group->dev, group, &line.params);
	htbs_device_unlock_run(group->dev, flags);
	err = htbs_parse_line(body, &line);
	if (err)
		return err;

	if (line.none)
		return group->configured ? htbs_group_reset(group) : 0;
	/*
	 * A new reservation has to name a rate. If it names only operations, the
	 * default's bandwidth does not count.
	 */
	if (!group->configured && !line.bw_named) {
		if (!line.iops_named)
			return -EINVAL;
		line.params.bw = 0;
	}
	if (!htbs_params_valid(&line.params))
		return -EINVAL;
	return htbs_group_set(group, &line.params, saved);
}

static ssize_t htbs_cgroup_write(struct kernfs_open_file *of, char *buf,
				 size_t nbytes, loff_t off)
{
	struct blkcg *blkcg = htbs_css_to_blkcg(of_css(of));
	struct htbs_stored_config *saved;
	struct htbs_conf_ctx ctx;
	int err;

	/*
	 * A reservation takes from all other groups, and nothing limits it to
	 * the ancestor's yet. So the owner of a delegated cgroup may not write
	 * one.
	 */
	if (!file_ns_capable(of->file, &init_user_ns, CAP_SYS_ADMIN))
		return -EPERM;

	saved = kzalloc(sizeof(*saved), GFP_KERNEL_ACCOUNT);
	if (!saved)
		return -ENOMEM;

	err = htbs_conf_prep(blkcg, &htbs_blkcg_policy, strim(buf), &ctx);
	if (!err)
		err = htbs_configure(htbs_group_of(ctx.blkg), ctx.body, &saved);
	htbs_conf_end(&ctx);

	kfree(saved);
	return err ?: nbytes;
}

/* Called under RCU; kernels before 7.2 also hold queue_lock, with interrupts off. */
static u64 htbs_show_params(struct seq_file *sf, struct blkg_policy_data *pd,
			    int off)
{
	const char *name = htbs_blkg_dev_name(pd->blkg);
	const struct htbs_group *group = htbs_pd_group(pd);
	/* Pairs with htbs_pd_init(). */
	struct htbs_device *dev = smp_load_acquire(&group->dev);
	const struct htbs_group *source;
	struct htbs_params params;
	unsigned long flags;
	bool configured;

	if (!name || !dev)
		return 0;

	htbs_device_lock(dev, &flags, ktime_get_ns());
	source = htbs_group_source(group);
	if (source) {
		htbs_group_params(dev, source, &params);
		configured = source->configured;
	}
	htbs_device_unlock_run(dev, flags);
	if (!source)
		return 0;

	seq_printf(sf, "%s bw=", name);
	if (params.bw)
		seq_printf(sf, "%llu", params.bw);
	else
		seq_puts(sf, "max");
	seq_printf(sf, " burst=%llu latency=%llu", params.burst,
		   div_u64(params.latency, NSEC_PER_USEC));
	if (params.weight)
		seq_printf(sf, " weight=%u", params.weight);
	if (params.max)
		seq_printf(sf, " max=%llu", params.max);
	if (params.iops)
		seq_printf(sf, " iops=%u", params.iops);
	seq_puts(sf, !configured ? " default\n" :
		     source == group ? "\n" : " inherited\n");
	return 0;
}

static int htbs_cgroup_show(struct seq_file *sf, void *v)
{
	blkcg_print_blkgs(sf, htbs_css_to_blkcg(seq_css(sf)), htbs_show_params,
			  &htbs_blkcg_policy, 0, false);
	return 0;
}

/* Called under RCU; kernels before 7.2 also hold queue_lock, with interrupts off. */
static u64 htbs_show_stats(struct seq_file *sf, struct blkg_policy_data *pd,
			   int off)
{
	const char *name = htbs_blkg_dev_name(pd->blkg);
	const struct htbs_group *group = htbs_pd_group(pd);
	/* Pairs with htbs_pd_init(). */
	struct htbs_device *dev = smp_load_acquire(&group->dev);
	const struct htbs_reservation *res;
	unsigned long flags;
	struct htbs_stats s;
	u32 overdue = 0;
	u64 now;

	if (!name || !dev || !htbs_group_is_charged(group))
		return 0;

	now = htbs_device_lock(dev, &flags, ktime_get_ns());
	res = htbs_group_reservation(group);
	s = res ? res->stats : group->stats;
	if (res)
		overdue = htbs_queue_overdue(res, now, &s.late_max);
	htbs_device_unlock_run(dev, flags);

	seq_printf(sf, "%s rbytes=%llu wbytes=%llu dbytes=%llu rios=%llu wios=%llu dios=%llu",
		   name, s.bytes[HTBS_OP_READ], s.bytes[HTBS_OP_WRITE],
		   s.bytes[HTBS_OP_DISCARD], s.ios[HTBS_OP_READ],
		   s.ios[HTBS_OP_WRITE], s.ios[HTBS_OP_DISCARD]);
	seq_printf(sf, " inserted=%llu merged=%llu completed=%llu",
		   s.inserted, s.merged, s.completed);
	seq_printf(sf, " conforming=%llu met=%llu missed=%llu late_max_us=%llu",
		   s.conforming, s.met, s.missed + overdue,
		   div_u64(s.late_max + NSEC_PER_USEC - 1, NSEC_PER_USEC));
	seq_printf(sf, " waits=%llu hits=%llu overdue=%u\n", s.waits, s.hits,
		   overdue);
	return 0;
}

static int htbs_cgroup_stat_show(struct seq_file *sf, void *v)
{
	blkcg_print_blkgs(sf, htbs_css_to_blkcg(seq_css(sf)), htbs_show_stats,
			  &htbs_blkcg_policy, 0, false);
	return 0;
}

struct cftype htbs_cgroup_files[] = {
	{
		.name		= "htbs",
		.seq_show	= htbs_cgroup_show,
		.write		= htbs_cgroup_write,
	},
	{
		.name		= "htbs.stat",
		.seq_show	= htbs_cgroup_stat_show,
	},
	{ }
};
