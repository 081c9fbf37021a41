// SPDX-License-Identifier: GPL-2.0
/*
 * The ring of dispatched requests between threads: ahead TAKERS COUNT.
 *
 * First as many requests are added as there is room for. Then a thread adds COUNT
 * requests, some at once, while each of TAKERS threads takes what it can. Each request has
 * to be taken once, and those that a thread takes have to be in order.
 *
 * Prints how many were lost, taken again and out of order, and how many there was room
 * for.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <htbs/ahead.h>

/* The counters wrap soon. */
#define FIRST		0xfffffff0u
#define MOST_TAKERS	16

static struct htbs_ahead ring = { .added = FIRST, .taken = FIRST };
static struct request *requests;
static unsigned int *times, count, disorder;
static bool over;

static void *take_many(void *unused)
{
	unsigned int next = 0;
	struct request *rq;
	bool last;

	do {
		last = __atomic_load_n(&over, __ATOMIC_ACQUIRE);
		while ((rq = htbs_ahead_take(&ring))) {
			if (rq->number < next)
				__atomic_fetch_add(&disorder, 1, __ATOMIC_RELAXED);
			next = rq->number + 1;
			__atomic_fetch_add(&times[rq->number], 1, __ATOMIC_RELAXED);
		}
		sched_yield();
	} while (!last);
	return unused;
}

static void add(unsigned int first, unsigned int many)
{
	LIST_HEAD(list);
	unsigned int i;

	if (many == 1) {
		htbs_ahead_add(&ring, &requests[first]);
		return;
	}
	for (i = first; i < first + many; i++)
		list_add_tail(&requests[i].queuelist, &list);
	htbs_ahead_add_list(&ring, &list);
	if (!list_empty(&list))
		disorder++;
}

static void add_many(void)
{
	unsigned int at = 0, many;

	while (at < count) {
		many = 1 + rand() % 8;
		if (many > count - at)
			many = count - at;
		while (htbs_ahead_room(&ring) < many)
			sched_yield();
		add(at, many);
		at += many;
	}
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
}

/* How many requests an empty ring takes. */
static unsigned int fill(void)
{
	unsigned int room = htbs_ahead_room(&ring), i;

	add(0, room);
	for (i = 0; i < room; i++)
		if (htbs_ahead_take(&ring) != &requests[i])
			disorder++;
	return htbs_ahead_any(&ring) || htbs_ahead_take(&ring) ? 0 : room;
}

static void report(unsigned int room)
{
	unsigned int lost = 0, again = 0, i;

	for (i = 0; i < count; i++) {
		lost += !times[i];
		again += times[i] > 1;
	}
	printf("{\"lost\": %u, \"again\": %u, \"disorder\": %u, ", lost, again, disorder);
	printf("\"room\": %u, \"most\": %u}\n", room, HTBS_AHEAD_MAX);
	exit(0);
}

/* The ring is broken, and all wait for it. */
static void give_up(int unused)
{
	(void)unused;
	report(0);
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST_TAKERS];
	unsigned int takers, room, i;

	if (argc != 3)
		return 2;
	takers = atoi(argv[1]);
	count = atoi(argv[2]);
	if (takers > MOST_TAKERS || count < HTBS_AHEAD_MAX)
		return 2;
	requests = calloc(count, sizeof(*requests));
	times = calloc(count, sizeof(*times));
	for (i = 0; i < count; i++)
		requests[i].number = i;
	signal(SIGALRM, give_up);
	alarm(30);
	room = fill();

	for (i = 0; i < takers; i++)
		pthread_create(&threads[i], NULL, take_many, NULL);
	add_many();
	for (i = 0; i < takers; i++)
		pthread_join(threads[i], NULL);
	report(room);
}
