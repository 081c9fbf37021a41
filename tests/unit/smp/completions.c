// SPDX-License-Identifier: GPL-2.0
/*
 * The ring of completions between threads: completions PUTTERS COUNT SECONDS.
 *
 * First as many completions are put as there is room for. Then each of PUTTERS threads
 * puts COUNT of them while another takes them, and all have to be taken, once each and
 * those of a thread in order. Then, for SECONDS, two
 * threads begin at once, again and again: one puts a completion and looks whether it has
 * to account for it at once; the other says that it has to, and accounts for what is
 * there, as htbs_device_set_prompt() does. Afterwards none may be left.
 *
 * Prints how many were lost, out of order and left, how many there was room for, and
 * how often two threads began at once.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <htbs/completions.h>

/* The counters wrap soon. */
#define FIRST_TURN	0xfffffff0u
#define MOST_PUTTERS	16

static struct htbs_completions ring = { .taken = FIRST_TURN, .claimed = FIRST_TURN };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int putters, count;
static unsigned int next[MOST_PUTTERS], disorder, room;
static bool prompt;
static bool over;
static unsigned int arrived;

static void account(void)
{
	const struct htbs_completion *done;

	while ((done = htbs_completions_first(&ring))) {
		if (done->at != next[done->charged]++)
			disorder++;
		htbs_completions_take(&ring);
	}
}

static void put(unsigned int cpu, unsigned int number)
{
	struct htbs_completion *done;
	u32 turn;

	while (!(done = htbs_completions_claim(&ring, &turn)))
		sched_yield();
	done->charged = cpu;
	done->at = number;
	htbs_completions_publish(done, turn);
}

static void *put_many(void *arg)
{
	unsigned int cpu = (unsigned long)arg, i;

	for (i = 0; i < count; i++)
		put(cpu, i);
	return NULL;
}

static bool all_taken(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < putters; cpu++)
		if (next[cpu] < count)
			return false;
	return true;
}

static void many(void)
{
	pthread_t threads[MOST_PUTTERS];
	unsigned long cpu;

	for (cpu = 0; cpu < putters; cpu++)
		pthread_create(&threads[cpu], NULL, put_many, (void *)cpu);
	while (!all_taken() && !disorder) {
		account();
		if (!htbs_completions_pending(&ring))
			sched_yield();
	}
	for (cpu = 0; cpu < putters; cpu++)
		pthread_join(threads[cpu], NULL);
}

/* How many completions an empty ring takes. */
static unsigned int fill(void)
{
	struct htbs_completion *done;
	unsigned int room = 0;
	u32 turn;

	while ((done = htbs_completions_claim(&ring, &turn))) {
		done->charged = 0;
		done->at = room++;
		htbs_completions_publish(done, turn);
	}
	account();
	next[0] = 0;
	return room;
}

/* Both threads go on at once. */
static void meet(unsigned int times)
{
	unsigned int spins = 0;

	__atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < 2 * times)
		if (!(++spins % 1024))
			sched_yield();
}

static void *put_rounds(void *unused)
{
	unsigned int i;

	for (i = 0;; i++) {
		meet(2 * i + 1);
		if (over)
			return unused;
		put(0, count + i);
		if (READ_ONCE(prompt)) {
			pthread_mutex_lock(&lock);
			account();
			pthread_mutex_unlock(&lock);
		}
		meet(2 * i + 2);
	}
}

static unsigned int take_rounds(unsigned int seconds, unsigned int *left)
{
	time_t end = time(NULL) + seconds;
	unsigned int i;

	for (i = 0;; i++) {
		over = time(NULL) > end;
		meet(2 * i + 1);
		if (over)
			return i;
		pthread_mutex_lock(&lock);
		WRITE_ONCE(prompt, true);
		/* Pairs with htbs_completions_publish(). */
		smp_mb();
		account();
		pthread_mutex_unlock(&lock);
		meet(2 * i + 2);
		*left += htbs_completions_pending(&ring);
		account();
		WRITE_ONCE(prompt, false);
	}
}

static void report(unsigned int left, unsigned int rounds)
{
	unsigned int cpu, lost = 0;

	for (cpu = 0; cpu < putters; cpu++)
		lost += next[cpu] < count ? count - next[cpu] : 0;
	printf("{\"lost\": %u, \"disorder\": %u, \"left\": %u, ", lost, disorder, left);
	printf("\"room\": %u, \"entries\": %u, ", room, HTBS_COMPLETIONS);
	printf("\"rounds\": %u}\n", rounds);
	exit(0);
}

/* An entry was lost, and all wait for it. */
static void give_up(int unused)
{
	(void)unused;
	report(0, 0);
}

int main(int argc, char **argv)
{
	unsigned int left = 0, rounds;
	pthread_t thread;

	if (argc != 4)
		return 2;
	putters = atoi(argv[1]);
	count = atoi(argv[2]);
	if (putters > MOST_PUTTERS)
		return 2;
	room = fill();
	signal(SIGALRM, give_up);
	alarm(30);
	many();

	pthread_create(&thread, NULL, put_rounds, NULL);
	rounds = take_rounds(atoi(argv[3]), &left);
	pthread_join(thread, NULL);
	report(left, rounds);
}
