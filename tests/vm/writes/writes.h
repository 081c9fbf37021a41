/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control files as their ABI pages have them (abi.c), and what may be
 * written to them (text.c).
 */
#ifndef HTBS_WRITES_H
#define HTBS_WRITES_H

#include <stdbool.h>
#include <stddef.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#define TEXT_MAX	400
#define US_MAX		100000000ULL

/* The numbers in force, in the order of number_files[]. */
enum {
	T_WAIT,
	LATE,
	LATE_WRITES,
	DEFAULT_BW,
	DEFAULT_BURST,
	DEFAULT_LATENCY,
	CAPACITY,
	REQUEST,
	NUMBERS,
};

/**
 * struct number_file - a tunable that is a number
 * @name: its file
 * @min: the smallest that is accepted
 * @max: the largest
 */
struct number_file {
	const char *name;
	unsigned long long min;
	unsigned long long max;
};

extern const struct number_file number_files[NUMBERS];

/* The files: those of the numbers, and these. */
enum {
	PROMISED = NUMBERS,
	RESERVATION,
	FILES,
};

/**
 * struct state - all that can be read
 * @number: of number_files[]
 * @own: the group has a reservation
 * @bw: its numbers, as written; 0: bytes don't count
 */
struct state {
	unsigned long long number[NUMBERS];
	bool own;
	unsigned long long bw;
	unsigned long long burst;
	unsigned long long latency;
	unsigned long long weight;	/* 0: none */
	unsigned long long max;		/* 0: none */
	unsigned long long iops;	/* 0: they don't count */
};

/* The disk, MAJ:MIN. */
extern const char *device;

/* Two streams of one seed are the same. */
void random_begin(unsigned long long seed);
unsigned long long rnd(unsigned long long below);
bool one_in(unsigned long long n);

/* Append to a text of TEXT_MAX bytes. */
void add(char *text, const char *format, ...);

/* A text for a file; its length, which its bytes do not end. */
size_t make(int file, char *text);

/* The state after a text was written; false if it has to be refused. */
bool take(struct state *next, int file, char *text);

/* What a file then shows. */
void expected(const struct state *state, int file, char *text);

#endif /* HTBS_WRITES_H */
