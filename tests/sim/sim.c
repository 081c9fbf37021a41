// SPDX-License-Identifier: GPL-2.0
/*
 * The policy, a simulated drive and some clients in virtual time: a loop over
 * events.  A request arrives, a command completes, the drive has to decide on the
 * next one, or a wait times out.  Requests are dispatched while the drive has room.
 */
#include <string.h>

#include <htbs/core/policy.h>
#include <htbs/core/run.h>
#include <htbs/core/sweep.h>
#include <htbs/core/tagging.h>

#include "drive.h"

#define SIM_CLIENTS	32
#define SIM_DEPTH	256
#define SIM_QUEUE	4096

/* Mirrored in sim.py: a client that reads or writes, and its results. */
struct sim_client {
	struct htbs_params promise;
	u64 base, span;		/* where: sectors */
	u64 begin, end;		/* when, ns */
	u64 stagger;		/* between its first requests, ns */
	u64 think;		/* from a completion to the next request, ns */
	u64 period;		/* at least, between two of its requests, ns */
	const u64 *times;	/* when requests arrive; NULL: see think */
	u64 count;		/* of times */
	u32 size;		/* of a request, bytes */
	u32 depth;		/* requests it keeps under way */
	bool sequential;
	bool write;
	bool idle;		/* in the background */

	u64 bytes, ios;
	u64 conforming, late;
	u64 late_max, wait_max;	/* ns */
};

struct sim_setup {
	u32 drive;
	u32 rule;
	u32 b_max;
	u64 t_wait;
	u64 seek;		/* first estimate, ns */
	u64 seconds;
	u64 seed;
	bool seeks;		/* a disk is taken for a rotational device */
	struct sim_plain plain;
};

struct sim_outcome {
	u64 overloads;		/* how many began */
	u64 overload_ns;	/* how long they lasted together */
	u64 overload_end;	/* when the last one ended; 0: not yet */
	u64 switches, waits, hits;
	u64 seek;		/* last estimate, ns */
};

struct sim_request {
	u64 sector, arrived, due;
	struct htbs_start_tags kept;
	bool conforming;
};

struct sim_flow {
	struct htbs_flow flow;
	struct sim_client *client;
	struct sim_request queue[SIM_QUEUE];
	u32 head, pending;
	u64 pos;		/* of the next sequential request, from base */
	u64 ready[SIM_DEPTH];	/* when the next request of each slot arrives */
	u64 next;		/* of times */
	u64 last;		/* arrival */
};

static struct htbs_policy policy;
static struct htbs_flow unused;
static struct sim_flow flows[SIM_CLIENTS];
static struct sim_outcome *out;
static u64 overload_began;
static u64 seed;

#define NEVER	(~0ULL)

/* Commands in flight. */
static struct {
	struct sim_flow *of;	/* NULL: nothing */
	struct sim_request request;
	struct htbs_sent sent;
	u64 done;		/* NEVER: not known yet */
} service[SIM_COMMANDS];
static u32 serving, depth;

static u64 draw(u64 below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* The slot of a client's next arrival, and when it is. */
static u64 next_arrival(const struct sim_flow *of, u32 *slot)
{
	const struct sim_client *client = of->client;
	u64 at = NEVER;
	u32 i;

	if (client->times)
		return of->next < client->count ? client->times[of->next] :
						  NEVER;
	for (i = 0; i < client->depth; i++)
		if (of->ready[i] < at) {
			at = of->ready[i];
			*slot = i;
		}
	if (client->period && at != NEVER && at < of->last + client->period)
		at = of->last + client->period;
	return at < client->end ? at : NEVER;
}

static struct sim_request *pending(struct sim_flow *of, u32 place)
{
	return &of->queue[(of->head + place) % SIM_QUEUE];
}

static void arrive(struct sim_flow *of, u64 now, u32 slot)
{
	struct sim_client *client = of->client;
	u64 sectors = client->size / 512, offset;
	const struct htbs_incoming in = {
		.arrived	= now,
		.cost		= htbs_cost(client->size),
		.write		= client->write,
	};
	struct htbs_arrival arrival;
	struct sim_request *request;

	if (client->sequential) {
		offset = of->pos;
		of->pos = (of->pos + sectors) % client->span;
	} else {
		offset = draw(client->span / sectors) * sectors;
	}

	htbs_policy_arrive(&policy, &of->flow, now, &in, &arrival);
	out->hits += arrival.hit;
	request = pending(of, of->pending++);
	request->sector = client->base + offset;
	request->arrived = now;
	request->kept = arrival.kept;
	request->due = arrival.due;
	request->conforming = arrival.conforming;
	client->conforming += arrival.conforming;

	of->last = now;
	if (client->times)
		of->next++;
	else
		of->ready[slot] = NEVER;
}

/* A request of a client completed: the next one arrives after the think time. */
static void think(struct sim_flow *of, u64 now)
{
	u32 i;

	for (i = 0; i < of->client->depth; i++)
		if (of->ready[i] == NEVER) {
			of->ready[i] = now + of->client->think;
			return;
		}
}

/* A request completes, or is still pending when the simulation ends. */
static void note_wait(struct sim_client *client,
		      const struct sim_request *request, u64 now)
{
	u64 wait = now - request->arrived;

	if (wait > client->wait_max)
		client->wait_max = wait;
	if (!request->conforming || request->due >= now)
		return;
	client->late++;
	if (now - request->due > client->late_max)
		client->late_max = now - request->due;
}

static void complete(u32 nr, u64 now)
{
	struct sim_flow *of = service[nr].of;
	struct sim_request *request = &service[nr].request;
	struct sim_client *client = of->client;

	htbs_policy_complete(&policy, &of->flow, now, &service[nr].sent);
	client->bytes += client->size;
	client->ios++;
	note_wait(client, request, now);
	if (!client->times)
		think(of, now);
	service[nr].of = NULL;
	serving--;
}

static void note_overload(u64 now)
{
	if (policy.overload.now) {
		out->overloads++;
		overload_began = now;
		out->overload_end = 0;
	} else {
		out->overload_ns += now - overload_began;
		out->overload_end = now;
	}
}

static u32 serve(struct sim_flow *of, u64 now,
		 const struct sim_request *request)
{
	u32 nr = 0;

	while (service[nr].of)
		nr++;
	service[nr].of = of;
	service[nr].request = *request;
	service[nr].sent.at = now;
	service[nr].sent.due = request->due;
	service[nr].sent.conforms = request->conforming;
	service[nr].sent.write = of->client->write;
	service[nr].done = NEVER;
	serving++;
	sim_drive_submit(nr, now, of->client->write, request->sector,
			 of->client->size / 512);
	return nr;
}

/* The place of the next request by position, from where the last one ended. */
static u32 nearest(struct sim_flow *of)
{
	u64 from = of->flow.sweep, least = NEVER;
	u32 place, found = 0;

	for (place = 0; place < of->pending; place++) {
		/* Requests behind it come last, as the distance wraps. */
		u64 distance = pending(of, place)->sector - from;

		if (distance < least) {
			least = distance;
			found = place;
		}
	}
	return found;
}

/* A surplus request passes an older one, and takes its tags. */
static void swap_tags(struct sim_request *one, struct sim_request *other)
{
	struct htbs_start_tags kept = one->kept;
	u64 due = one->due;

	one->kept = other->kept;
	one->due = other->due;
	other->kept = kept;
	other->due = due;
}

/* Remove a pending request. */
static struct sim_request take(struct sim_flow *of, u32 place)
{
	struct sim_request request = *pending(of, place);
	bool passes = !request.conforming;
	u32 swaps = 0;

	for (; place; place--) {
		passes &= swaps++ < HTBS_TAG_SWAPS;
		passes &= !pending(of, place - 1)->conforming;
		if (passes)
			swap_tags(&request, pending(of, place - 1));
		*pending(of, place) = *pending(of, place - 1);
	}
	of->head = (of->head + 1) % SIM_QUEUE;
	of->pending--;
	return request;
}

static bool dispatch(u64 now)
{
	struct sim_request request, *head;
	struct htbs_choice choice;
	struct htbs_extent extent;
	struct sim_flow *of;
	u32 nr;

	htbs_policy_choose(&policy, now, &choice);
	if (choice.overload_ended)
		note_overload(now);
	out->switches += choice.switched;
	out->waits += choice.wait_began;
	if (!choice.flow)
		return false;

	of = (struct sim_flow *)choice.flow;
	request = take(of, choice.order == HTBS_ORDER_NEAREST ? nearest(of) : 0);
	extent.pos = request.sector;
	extent.sectors = of->client->size / 512;
	extent.cost = htbs_cost(of->client->size);
	extent.sync = !of->client->write;
	nr = serve(of, now, &request);
	if (htbs_policy_dispatch(&policy, choice.flow, &extent,
				 &service[nr].sent))
		note_overload(now);
	head = pending(of, 0);
	if (of->pending)
		htbs_policy_set_head(&policy, choice.flow, &(struct htbs_head){
			.kept		= head->kept,
			.due		= head->due,
			.arrived	= head->arrived,
			.conforms	= head->conforming,
			.write		= of->client->write,
		});
	return true;
}

/* When the drive has its next event, and with which command, if it is a completion. */
static u64 drive_event(u64 now, u32 *nr)
{
	u64 at = NEVER, done, wake;
	u32 i, seen;

	while (sim_drive_decide(now, &i, &done))
		service[i].done = done;
	for (i = 0, seen = 0; seen < serving; i++) {
		if (!service[i].of)
			continue;
		seen++;
		if (service[i].done < at) {
			at = service[i].done;
			*nr = i;
		}
	}
	wake = sim_drive_wake();
	if (wake >= at)
		return at;
	*nr = SIM_COMMANDS;
	return wake > now ? wake : now;
}

static void set_up(const struct sim_setup *setup, struct sim_client *clients,
		   u32 count)
{
	const struct htbs_params least = {
		.bw = HTBS_BW_MIN,
		.burst = HTBS_BURST_MIN,
		.latency = HTBS_LATENCY_MIN,
	};
	struct htbs_flow *background;
	u32 i, slot;

	seed = setup->seed;
	sim_drive_reset(setup->drive, &setup->plain);
	depth = sim_drive_depth();
	serving = 0;
	memset(service, 0, sizeof(service));
	memset(flows, 0, sizeof(flows));
	background = &unused;
	for (i = 0; i < count; i++)
		if (clients[i].idle)
			background = &flows[i].flow;
	htbs_policy_init(&policy, background, setup->b_max, setup->t_wait);
	htbs_flow_init(background, &policy, &least, 0);
	htbs_service_init(&policy.service, setup->seek);
	policy.rule = setup->rule;
	policy.rotational = setup->seeks && setup->drive != SIM_TLC;

	for (i = 0; i < count; i++) {
		flows[i].client = &clients[i];
		if (!clients[i].idle)
			htbs_flow_init(&flows[i].flow, &policy,
				       &clients[i].promise, 0);
		for (slot = 0; slot < clients[i].depth; slot++)
			flows[i].ready[slot] = clients[i].begin +
					       slot * clients[i].stagger;
	}
}

/* The client with the first arrival, when that is, and its slot. */
static struct sim_flow *first_arrival(u32 count, u64 *at, u32 *slot)
{
	struct sim_flow *first = NULL;
	u32 i, which = 0;

	*at = NEVER;
	for (i = 0; i < count; i++) {
		u64 arrival = next_arrival(&flows[i], &which);

		if (arrival < *at) {
			*at = arrival;
			*slot = which;
			first = &flows[i];
		}
	}
	return first;
}

/* Requests that are pending at the end have waited, too. */
static void note_waiting(u32 count, u64 now)
{
	u32 i, nr;

	for (i = 0; i < count; i++)
		for (nr = 0; nr < flows[i].pending; nr++)
			note_wait(flows[i].client, pending(&flows[i], nr), now);
}

static u64 wait_end(void)
{
	return policy.wait != HTBS_WAIT_NONE ? policy.wait_until : NEVER;
}

/**
 * sim_run() - run some clients on a drive
 * @setup: tunables, and how long
 * @clients: the clients; their results are added
 * @count: how many, SIM_CLIENTS at most
 * @outcome: the results of the whole, zeroed
 *
 * Return: SIM_QUEUE if a client has more requests pending than that, else 0.
 */
u32 sim_run(const struct sim_setup *setup, struct sim_client *clients,
	    u32 count, struct sim_outcome *outcome)
{
	u64 now = 0, end = setup->seconds * 1000000000ULL;

	out = outcome;
	set_up(setup, clients, count);
	while (now < end) {
		u32 slot = 0, nr = SIM_COMMANDS;
		struct sim_flow *first;
		u64 at, done;

		while (serving < depth && dispatch(now))
			;
		first = first_arrival(count, &at, &slot);
		done = drive_event(now, &nr);
		if (done <= at && done <= wait_end()) {
			now = done;
			if (nr < SIM_COMMANDS)
				complete(nr, now);
		} else if (wait_end() < at) {
			/* A wait that was cut short is over at once. */
			if (htbs_before(now, policy.wait_until))
				now = policy.wait_until;
			htbs_policy_timeout(&policy, now);
		} else {
			now = at;
			if (!first)
				break;
			if (first->pending == SIM_QUEUE)
				return SIM_QUEUE;
			arrive(first, now, slot);
		}
	}

	note_waiting(count, now);
	if (policy.overload.now)
		outcome->overload_ns += end - overload_began;
	outcome->seek = policy.service.seek;
	return 0;
}
