"""Profile the instructions of an I/O by function and part of the path: `make bench PROFILE=CASE`.

QEMU counts each instruction of the kernel that a guest executes (plugin.c) between two marks of the
script. The marks are reads of two files of /proc that nothing else reads there.
"""

import hashlib
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from results.bench import guest, inlined, snapshot
from results.bench.cases import BASE, TITLES, Case
from tests.vm import Guest, SetupError
from tests.vm.kernels import BUILD, Kernel

# The marks: the kernel's functions that read these files of /proc.
_BEGIN, _END = "cmdline_proc_show", "version_proc_show"
_MARKED = """
snapshot()
{
	case $2 in
	*.before) cat "/sys/block/$1/stat" /proc/timer_list >"$2"; cat /proc/cmdline >mark ;;
	*.after) cat /proc/version >mark; cat "/sys/block/$1/stat" /proc/timer_list >"$2" ;;
	esac
}
"""
_SYMBOLS = "kallsyms"
_SLOWER = 4

# The own code of a scheduler, by module; mq-deadline is built in.
_OWN = {"htbs": "htbs", "bfq": "bfq", "kyber": "kyber_iosched"}
_BUILT_IN = {"mq-deadline": "dd_|deadline_"}

# The parts of the path by the beginning of a function's name; the first match counts.
_PARTS = {
    "merges, hash, rb-tree by position": r"elv_|elevator|blk_attempt_|attempt_|blk_rq_merge"
    r"|blk_try_|blk_mq_sched_(bio_|try_|attempt_)|bio_attempt|ll_|rb_|__rb_|rq_hash|blk_bio_list",
    "tags, allocation": r"_*sbitmap|_*blk_mq_(get_tag|put_tag|alloc|free|get_driver|put_driver)"
    r"|blk_mq_rq_ctx_init",
    "blk-mq dispatch": r"blk_mq_dispatch|__blk_mq_(do_)?dispatch|blk_mq_do_dispatch|blk_mq_sched_"
    r"|__blk_mq_sched|blk_mq_run_|blk_mq_delay|blk_mq_hctx|blk_mq_insert|blk_mq_flush_plug",
    "list debugging": r"__list_(add|del)",
    "clock reads": r"ktime_|read_tsc|tsc_|timekeeping_|blk_time|sched_clock|native_sched",
    "locks, RCU": r"_raw_(spin|read|write)|__rcu_|rcu_|preempt_|__srcu|queued_",
}
_REST = "other"

# The functions that count as taking a lock.
_LOCKS = re.compile(r"_raw_spin_(try)?lock(_irq|_irqsave|_bh)?$")


@dataclass(frozen=True)
class Profile:
    """The profile of a case under a scheduler, per I/O.

    functions: instructions and calls by function; a module's are named module:function. user:
    instructions of the programs. places: instructions by address. symbols: addresses by name, as
    in functions.
    """

    functions: dict[str, tuple[float, float]]
    user: float
    places: dict[int, float]
    symbols: dict[str, int]

    def parts(self, scheduler: str) -> dict[str, float]:
        """Return instructions by part of the path."""
        found = dict.fromkeys(("scheduler's own code", *_PARTS, _REST), 0.0)
        for function, (instructions, _) in self.functions.items():
            found[_part(function, scheduler)] += instructions
        return found

    @property
    def locks(self) -> float:
        """Return the number of spinlocks taken."""
        return sum(calls for name, (_, calls) in self.functions.items() if _LOCKS.match(name))


def _part(function: str, scheduler: str) -> str:
    module, _, name = function.rpartition(":")
    if module and module == _OWN.get(scheduler):
        return "scheduler's own code"
    if scheduler in _BUILT_IN and re.match(_BUILT_IN[scheduler], name):
        return "scheduler's own code"
    return next((part for part, begins in _PARTS.items() if re.match(begins, name)), _REST)


def plugin() -> Path:
    """Return QEMU's plugin, which is built once for each version of its source."""
    source = Path(__file__).with_name("plugin.c")
    name = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    built = BUILD / "results" / "bench" / f"plugin-{name}.so"
    if not built.exists():
        built.parent.mkdir(parents=True, exist_ok=True)
        new = built.with_suffix(".new")
        try:
            subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", new, source], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise SetupError(f"{source.name} cannot be compiled: {error}") from error
        new.replace(built)
    return built


def marks(kernel: Kernel) -> dict[str, str]:
    """Return the addresses of the marks; a guest without KASLR reports them once."""
    kept = BUILD / "results" / "bench" / f"marks-{kernel.version}"
    if not kept.exists():
        asks = Guest(kernel, clock="virtual", name=f"bench-marks-{kernel.version}")
        lines = asks.run(f"grep -wE '{_BEGIN}|{_END}' /proc/kallsyms").stdout
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(lines)
    found = re.findall(r"^([0-9a-f]{16}) \w (\w+)$", kept.read_text(), re.MULTILINE)
    by_name = {name: address for address, name in found}
    if missing := {_BEGIN, _END} - by_name.keys():
        raise SetupError(f"{kernel.version} has no {', '.join(sorted(missing))}")
    return by_name


def run(
    scheduler: str,
    case: Case,
    kernel: Kernel,
    htbs: bytes,
    advance: Callable[[float], None] = lambda _: None,
) -> Profile:
    """Profile a case under a scheduler, in a guest of its own."""
    at, name = marks(kernel), f"profile-{scheduler}-{case.name}"
    out = BUILD / "results" / "bench" / f"{name}.counts"
    advance(0)
    result = Guest(
        kernel,
        clock="virtual",
        files=guest.files(scheduler, [case], htbs),
        name=name,
        timeout=guest.TIMEOUT * _SLOWER,
        programs=guest.PROGRAMS,
        plugins=[f"{plugin()},begin={at[_BEGIN]},end={at[_END]},out={out}"],
    ).run(script(scheduler, case))
    before, after = (result.text(f"{case.name}.{when}") for when in ("before", "after"))
    passed = snapshot.difference(before, after)
    advance(1)
    ios = passed["reads"] + passed["merges"]
    return reduce(out.read_text(), result.text(_SYMBOLS), ios)


def script(scheduler: str, case: Case) -> str:
    """Return a script of the case alone, with the marks, that leaves the symbols of the boot."""
    return guest.script(scheduler, [case], _MARKED) + f"cat /proc/kallsyms >{_SYMBOLS}\n"


def reduce(counts: str, symbols: str, ios: int) -> Profile:
    """Sum up the counts of addresses by function, per I/O."""
    header, *lines = counts.splitlines()
    table = sorted(_symbols(symbols))
    functions: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    place = 0
    pairs = (line.split() for line in lines)
    counted = sorted((int(first, 16), int(second)) for first, second in pairs)
    for address, count in counted:
        while place + 1 < len(table) and table[place + 1][0] <= address:
            place += 1
        first, name = table[place]
        functions[name][0] += count / ios
        if address == first:
            functions[name][1] += count / ios
    return Profile(
        {name: (each[0], each[1]) for name, each in functions.items()},
        int(header.removeprefix("# ")) / ios,
        {address: count / ios for address, count in counted},
        {name: address for address, name in table},
    )


def _symbols(text: str) -> list[tuple[int, str]]:
    """Return addresses and names of the kernel's functions, one name per address."""
    found = {}
    for line in text.splitlines():
        address, kind, name, *module = line.split()
        if kind in "tTwW":
            owner = f"{module[0].strip('[]')}:" if module else ""
            found.setdefault(int(address, 16), f"{owner}{name}")
    return list(found.items())


def table(case: Case, found: dict[str, Profile]) -> str:
    """Return a table of the parts of the path, minus those without a scheduler."""
    none = found[BASE].parts(BASE)
    peers = [each for each in found if each != BASE]
    rows = [("instructions per I/O above none", *(TITLES[each] for each in peers))]
    rows += [("---", *["---:"] * len(peers))]
    parts = {each: found[each].parts(each) for each in peers}
    for part, base in none.items():
        rows.append((part, *(f"{parts[each][part] - base:,.0f}" for each in peers)))
    sums = [sum(parts[each].values()) - sum(none.values()) for each in peers]
    rows.append(("sum", *(f"{each:,.0f}" for each in sums)))
    rows.append(("spinlocks", *(f"{found[each].locks - found[BASE].locks:,.2f}" for each in peers)))
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{case.name}\n\n{lines}\n"


def dearest(found: Profile, many: int) -> str:
    """List the functions that take most instructions, with calls, per I/O."""
    order = sorted(found.functions.items(), key=lambda item: -item[1][0])[:many]
    lines = [f"{each[0]:9.1f} {each[1]:7.2f}  {name}" for name, each in order]
    return "\n".join([f"{'per I/O':>9} {'calls':>7}  function", *lines])


def dearest_inlined(found: Profile, module: Path, many: int) -> str:
    """List the functions of a module's source that take most instructions, inlined or not."""
    owner = f"{module.stem}:"
    ran = {
        name.removeprefix(owner): address
        for name, address in found.symbols.items()
        if name.startswith(owner)
    }
    order = inlined.by_function(found.places, ran, module).most_common(many)
    lines = [f"{count:9.1f}  {name}" for name, count in order]
    return "\n".join([f"{'per I/O':>9}  function of {module.stem}, inlined or not", *lines])
