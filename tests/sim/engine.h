/* SPDX-License-Identifier: GPL-2.0 */
/* The policy that is simulated.  sim.c knows no more of it than this. */
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
	u32 b_max;		/* of the paper's rule */
	u64 t_wait;
	u64 seek;		/* what it is believed to take at first, ns */
	u64 seconds;
	u64 seed;
	bool seeks;		/* known of the drive, if it does */
	u32 window;		/* reads in flight, whatever is late; 0: as it adapts */
	u64 quota;		/* writes of surplus, bytes/s; 0: as it adapts */
	u32 late;		/* one conforming request in so many may be late */
	u32 late_writes;	/* the same, beside writes on a drive that does not seek */
	struct sim_plain plain;
	u64 stall_at;		/* the drive completes nothing from then on, ns */
	u64 stall;		/* for so long, ns */
	u64 stall_bytes;	/* and again each time that so much was written; 0: not then */
	u64 stall_every;	/* and after so long, ns; 0: not then */
};

/* What a policy may want to know of a request. */
struct sim_what {
	u64 sector;
	u32 size;
	bool write;
	bool sync;
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

#include "htbs.h"

#endif /* HTBS_SIM_ENGINE_H */
