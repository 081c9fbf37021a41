// SPDX-License-Identifier: GPL-2.0
/*
 * A QEMU plugin that counts each instruction of the guest's kernel that is executed.
 *
 * Counting begins anew whenever the instruction at one address runs, and the counts are
 * written whenever the one at another address does: two functions of the kernel that
 * nothing but the script of the guest has called. Each line is an address and a count; a
 * line that begins with # has the number of instructions in user space.
 *
 *	-plugin plugin.so,begin=ADDRESS,end=ADDRESS,out=FILE
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * As in qemu-plugin.h, which Debian's QEMU 7.2 comes without.
 */
typedef uint64_t qemu_plugin_id_t;
struct qemu_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { QEMU_PLUGIN_CB_NO_REGS };
enum { QEMU_PLUGIN_INLINE_ADD_U64 };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int op,
						void *counter, uint64_t add);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int, void *), int flags,
					    void *data);

#define EXPORT __attribute__((visibility("default")))

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
			       char **argv);

/* Instructions of a kernel: some hundred thousand are executed. */
#define PLACES_BITS	22
#define PLACES		(1U << PLACES_BITS)

static struct {
	uint64_t address, count;
} places[PLACES];
static uint64_t user, begin, end;
static FILE *out;

static uint64_t *counter(uint64_t address)
{
	uint32_t place = (address * 0x9e3779b97f4a7c15ULL) >> (64 - PLACES_BITS);

	while (places[place].address && places[place].address != address)
		place = (place + 1) % PLACES;
	places[place].address = address;
	return &places[place].count;
}

static void start(unsigned int cpu, void *data)
{
	uint32_t i;

	for (i = 0; i < PLACES; i++)
		places[i].count = 0;
	user = 0;
}

static void report(unsigned int cpu, void *data)
{
	uint32_t i;

	fprintf(out, "# %" PRIu64 "\n", user);
	for (i = 0; i < PLACES; i++)
		if (places[i].count)
			fprintf(out, "%" PRIx64 " %" PRIu64 "\n", places[i].address, places[i].count);
	fflush(out);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, count = qemu_plugin_tb_n_insns(tb);

	for (i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);
		bool kernel = address >> 63;

		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							   kernel ? counter(address) : &user, 1);
		if (address == begin)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, start,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
		else if (address == end)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, report,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "begin=", 6))
			begin = strtoull(argv[i] + 6, NULL, 16);
		else if (!strncmp(argv[i], "end=", 4))
			end = strtoull(argv[i] + 4, NULL, 16);
		else if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
	}
	if (!begin || !end || !out)
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
