/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy that is simulated: what the scheduler has, or with SIM_RULE the model of
 * the next one.  sim.c knows of neither more than this.
 */
#ifndef HTBS_SIM_ENGINE_H
#define HTBS_SIM_ENGINE_H

#include <linux/types.h>

#include <htbs/core/policy.h>

#define NEVER	(~0ULL)

/**
 * struct sim_setup - mirrored in sim.py: the drive and the tunables
 */
struct sim_setup {
	u32 drive;
	u32 rule;
	u32 b_max;
	u64 t_wait;
	u64 seek;		/* what it is believed to take at first, ns */
	u64 seconds;
	u64 seed;
	bool seeks;		/* known of the drive, if it does */
	struct sim_plain plain;
};

/* What a policy may want to know of a request. */
struct sim_what {
	u64 sector;
	u32 size;
	bool write;
};

/**
 * struct sim_choice - what the policy decided
 * @nothing: no request is dispatched
 * @nearest: the next by position, not the oldest
 * @switched: another flow is active
 * @wait_began: the device is kept idle
 */
struct sim_choice {
	bool nothing;
	bool nearest;
	bool switched;
	bool wait_began;
};

#ifdef SIM_RULE
#include "rule/engine.h"
#else
#include "htbs.h"
#endif

#endif /* HTBS_SIM_ENGINE_H */
