// SPDX-License-Identifier: GPL-2.0
/*
 * The policy, a simulated drive and some clients in virtual time: a loop over
 * events.  A request arrives, a command completes, the drive has to decide on the
 * next one, or a wait times out.  Requests are dispatched while the drive has room.
 */
#include <string.h>

#include "drive.h"
#include "engine.h"

#define SIM_CLIENTS	32
#define SIM_DEPTH	256
#define SIM_QUEUE	4096
#define SIM_WAITS	8192	/* counters of latencies, and what each is wide, ns */
#define SIM_WAIT_NS	20000

/* Mirrored in sim.py: a client that reads or writes, and its results. */
struct sim_client {
	struct htbs_params promise;
	u64 base, span;		/* where: sectors */
	u64 begin, end;		/* when, ns */
	u64 stagger;		/* between its first requests, ns */
	u64 think;		/* from a completion to the next request, ns */
	u64 period;		/* between two requests, on the average at least, ns */
	const u64 *times;	/* when requests arrive; NULL: see think */
	u64 count;		/* of times */
	u32 size;		/* of a request, bytes */
	u32 depth;		/* requests it keeps outstanding */
	bool sequential;
	bool write;
	bool synced;		/* a task waits for each write */
	bool idle;		/* in the background */
	bool shares;		/* its reservation with all others that do */

	u64 bytes, ios;
	u64 conforming, late;
	u64 late_max, wait_max;	/* ns */
	u32 waits[SIM_WAITS];	/* completed requests by latency; the last: all longer */
};

struct sim_outcome {
	u64 overloads;		/* how many began */
	u64 overload_ns;	/* how long they lasted together */
	u64 overload_end;	/* when the last one ended; 0: not yet */
	u64 switches, waits, hits;
	u64 seek;		/* last estimate, ns */
	u64 seek_most;		/* largest estimate, ns */
	u64 seeks;		/* taken for a drive that does, in the end */
};

struct sim_request {
	struct sim_what what;
	struct engine_request engine;
};

struct sim_flow {
	struct engine_flow flow;
	struct sim_client *client;
	struct sim_request queue[SIM_QUEUE];
	u32 head, pending;
	u64 pos;		/* of the next sequential request, from base */
	u64 ready[SIM_DEPTH];	/* when the next request of each slot arrives */
	u64 next;		/* of times */
	u64 issued;		/* requests that arrived */
};

static struct sim_flow flows[SIM_CLIENTS];
static struct sim_outcome *out;
static u64 overload_began;
static u64 seed;
static u64 stall_at, stall, stall_every;	/* ns */
static u64 stall_bytes, written;

/* Commands in flight. */
static struct {
	struct sim_flow *of;	/* NULL: nothing */
	struct sim_request request;
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
	u64 at = NEVER, due;
	u32 i;

	if (client->times)
		return of->next < client->count ? client->times[of->next] :
						  NEVER;
	for (i = 0; i < client->depth; i++)
		if (of->ready[i] < at) {
			at = of->ready[i];
			*slot = i;
		}
	/* A client that was delayed catches up, as fio does with rate=. */
	due = client->begin + of->issued * client->period;
	if (at != NEVER && at < due)
		at = due;
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
	struct sim_request *request = pending(of, of->pending++);

	if (client->sequential) {
		offset = of->pos;
		of->pos = (of->pos + sectors) % client->span;
	} else {
		offset = draw(client->span / sectors) * sectors;
	}

	request->what = (struct sim_what){
		.sector	= client->base + offset,
		.size	= client->size,
		.write	= client->write,
		.sync	= !client->write || client->synced,
	};
	out->hits += engine_arrive(&of->flow, now, &request->what,
				   &request->engine);
	client->conforming += request->engine.conforming;

	of->issued++;
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
		      const struct engine_request *request, u64 now)
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

static void count_wait(struct sim_client *client, u64 wait)
{
	u64 which = wait / SIM_WAIT_NS;

	client->waits[which < SIM_WAITS ? which : SIM_WAITS - 1]++;
}

static void complete(u32 nr, u64 now)
{
	struct sim_flow *of = service[nr].of;
	struct sim_request *request = &service[nr].request;
	struct sim_client *client = of->client;

	engine_complete(&of->flow, now, &request->what, &request->engine);
	if (out->seek_most < engine_seek())
		out->seek_most = engine_seek();
	client->bytes += client->size;
	client->ios++;
	count_wait(client, now - request->engine.arrived);
	note_wait(client, &request->engine, now);
	if (!client->times)
		think(of, now);
	service[nr].of = NULL;
	serving--;
}

/* An overload began, or ended, if there was none, or one, before. */
static void note_overload(bool before, u64 now)
{
	if (before == engine_overloaded())
		return;
	if (before) {
		out->overload_ns += now - overload_began;
		out->overload_end = now;
	} else {
		out->overloads++;
		overload_began = now;
		out->overload_end = 0;
	}
}

static void serve(struct sim_flow *of, u64 now,
		  const struct sim_request *request)
{
	u32 nr = 0;

	written += request->what.write ? request->what.size : 0;
	if (stall_bytes && written >= stall_bytes) {
		stall_at = now;
		written = 0;
	}
	while (stall_every && now >= stall_at + stall_every)
		stall_at += stall_every;
	while (service[nr].of)
		nr++;
	service[nr].of = of;
	service[nr].request = *request;
	service[nr].done = NEVER;
	serving++;
	sim_drive_submit(nr, now, request->what.write, request->what.sector,
			 request->what.size / 512);
}

/* The place of the next request by position, from where the last one ended. */
static u32 nearest(struct sim_flow *of)
{
	u64 from = engine_sweep(&of->flow), least = NEVER;
	u32 place, found = 0;

	for (place = 0; place < of->pending; place++) {
		/* Requests behind it come last, as the distance wraps. */
		u64 distance = pending(of, place)->what.sector - from;

		if (distance < least) {
			least = distance;
			found = place;
		}
	}
	return found;
}

/* Remove a pending request. */
static struct sim_request take(struct sim_flow *of, u32 place)
{
	struct sim_request request = *pending(of, place);

	for (; place; place--)
		*pending(of, place) = *pending(of, place - 1);
	of->head = (of->head + 1) % SIM_QUEUE;
	of->pending--;
	return request;
}

static bool dispatch(u64 now)
{
	struct sim_choice choice = {};
	bool overloaded = engine_overloaded(), conforming;
	struct sim_request request, *head;
	struct engine_flow *flow;
	struct sim_flow *of;

	flow = engine_choose(now, &choice);
	note_overload(overloaded, now);
	out->switches += choice.switched;
	out->waits += choice.wait_began;
	if (!flow)
		return false;

	of = (struct sim_flow *)flow;
	request = take(of, choice.nearest ? nearest(of) : 0);
	conforming = request.engine.conforming;
	overloaded = engine_overloaded();
	engine_dispatch(flow, now, &request.what, &request.engine);
	note_overload(overloaded, now);
	of->client->conforming += request.engine.conforming - conforming;
	serve(of, now, &request);
	head = pending(of, 0);
	if (of->pending)
		engine_set_head(flow, &head->what, &head->engine);
	return true;
}

/* A drive that stalls completes nothing meanwhile. */
static u64 stalled(u64 done)
{
	return done - stall_at < stall ? stall_at + stall : done;
}

/* When the drive has its next event, and with which command, if it is a completion. */
static u64 drive_event(u64 now, u32 *nr)
{
	u64 at = NEVER, done, wake;
	u32 i, seen;

	while (sim_drive_decide(now, &i, &done))
		service[i].done = stalled(done);
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
	struct engine_flow *background = NULL;
	u32 i, slot;

	seed = setup->seed;
	stall_at = setup->stall_at;
	stall = setup->stall;
	stall_bytes = setup->stall_bytes;
	stall_every = setup->stall_every;
	written = 0;
	sim_drive_reset(setup->drive, &setup->plain);
	depth = sim_drive_depth();
	serving = 0;
	memset(service, 0, sizeof(service));
	memset(flows, 0, sizeof(flows));
	for (i = 0; i < count; i++)
		if (clients[i].idle)
			background = &flows[i].flow;
	engine_init(setup, setup->seeks && setup->drive != SIM_TLC &&
		    setup->drive != SIM_DRAWN_FLASH, background);

	for (i = 0; i < count; i++) {
		flows[i].client = &clients[i];
		if (!clients[i].idle)
			engine_add_flow(&flows[i].flow, &clients[i].promise,
					clients[i].shares);
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
			note_wait(flows[i].client,
				  &pending(&flows[i], nr)->engine, now);
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
		u64 at, done, timer;

		while (serving < depth && dispatch(now))
			;
		first = first_arrival(count, &at, &slot);
		done = drive_event(now, &nr);
		timer = engine_timer(now);
		if (done <= at && done <= timer) {
			now = done;
			if (nr < SIM_COMMANDS)
				complete(nr, now);
		} else if (timer < at) {
			/* A wait that was cut short is over at once. */
			if (now < timer)
				now = timer;
			engine_timeout(now);
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
	if (engine_overloaded())
		outcome->overload_ns += end - overload_began;
	outcome->seek = engine_seek();
	outcome->seeks = engine_seeks();
	return 0;
}
