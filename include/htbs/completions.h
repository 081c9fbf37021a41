/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completions on their way to the policy.
 *
 * A completion takes no lock. It is put into a ring, and the CPU that takes dev->lock
 * next accounts for all completions in the ring before anything else. That is soon enough
 * unless something waits for a completion; see @prompt of struct htbs_device.
 *
 * Many CPUs may put completions there at once. So a CPU first claims an entry, fills it,
 * and then publishes it. An entry that is claimed and not published yet holds up those
 * after it, so the CPU must not be preempted in between. If the ring is full, the CPU
 * takes the lock instead.
 */
#ifndef HTBS_COMPLETIONS_H
#define HTBS_COMPLETIONS_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/types.h>

/* A power of two. With more entries the device would take a slab of twice the size. */
#define HTBS_COMPLETIONS	64U

/**
 * struct htbs_completion - a completed request
 * @charged: its reservation, which counts the request until it is accounted for, and flags; see
 *	htbs_rq_set_reservation()
 * @at: when it completed, real ns
 * @due: when it was due, real ns
 * @sent: what was kept of it when it was dispatched; see htbs_rq_set_sent()
 * @id: the request, if it is traced
 * @turn: one more than its place in the order of all completions, once it is filled
 */
struct htbs_completion {
	unsigned long charged;
	u64 at;
	u64 due;
	u64 sent;
	int id;
	u32 turn;
} ____cacheline_aligned_in_smp;

/**
 * struct htbs_completions - completed requests that are not accounted for
 * @taken: how many were taken, modulo 2^32; written under dev->lock
 * @claimed: how many were claimed, modulo 2^32
 * @entries: the entries that are claimed and not taken
 */
struct htbs_completions {
	u32 taken;
	u32 claimed ____cacheline_aligned_in_smp;
	struct htbs_completion entries[HTBS_COMPLETIONS];
};

/**
 * htbs_completions_claim() - claim an entry
 * @ring: the completions
 * @turn: set to what htbs_completions_publish() needs
 *
 * Return: the entry, or NULL if none is free.
 */
static inline struct htbs_completion *
htbs_completions_claim(struct htbs_completions *ring, u32 *turn)
{
	u32 claimed = READ_ONCE(ring->claimed);

	do {
		/* An entry is taken before it is claimed again: the branch orders the two. */
		if (claimed - READ_ONCE(ring->taken) >= HTBS_COMPLETIONS)
			return NULL;
	} while (!try_cmpxchg(&ring->claimed, &claimed, claimed + 1));
	*turn = claimed + 1;
	return &ring->entries[claimed % HTBS_COMPLETIONS];
}

/**
 * htbs_completions_publish() - publish an entry that is filled
 * @completion: the entry
 * @turn: from htbs_completions_claim()
 *
 * Orders all later reads of the caller after the publication; see htbs_device_set_prompt().
 */
static inline void htbs_completions_publish(struct htbs_completion *completion, u32 turn)
{
	/* Pairs with htbs_completions_first(). */
	smp_store_release(&completion->turn, turn);
	/* Pairs with htbs_device_set_prompt(). */
	smp_mb();
}

/**
 * htbs_completions_pending() - whether there may be completions to account for
 * @ring: the completions
 *
 * Return: true if there are, or will be in a moment.
 */
static inline bool htbs_completions_pending(const struct htbs_completions *ring)
{
	return READ_ONCE(ring->claimed) != READ_ONCE(ring->taken);
}

/**
 * htbs_completions_first() - get the next completion to account for
 * @ring: the completions; their device is locked
 *
 * Return: the completion, or NULL if there is none or it is not published yet.
 */
static inline const struct htbs_completion *
htbs_completions_first(const struct htbs_completions *ring)
{
	u32 taken = ring->taken;
	const struct htbs_completion *first = &ring->entries[taken % HTBS_COMPLETIONS];

	/* Pairs with htbs_completions_publish(). */
	return smp_load_acquire(&first->turn) == taken + 1 ? first : NULL;
}

/**
 * htbs_completions_take() - the first completion was accounted for
 * @ring: the completions; their device is locked
 */
static inline void htbs_completions_take(struct htbs_completions *ring)
{
	/* Pairs with htbs_completions_claim(): the entry may be claimed again. */
	smp_store_release(&ring->taken, ring->taken + 1);
}

#endif /* HTBS_COMPLETIONS_H */
