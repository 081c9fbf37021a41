"""Some seconds of an experiment on each drive: its jobs run, and no request is missing."""

import re
from dataclasses import replace

import pytest

from results.experiments import flash, latency, nearline, pgbench
from results.experiments.guarantee import ways
from results.lab import guest, run, transactions
from results.lab.study import Study
from tests.vm import kernels
from tests.vm.functional import htbs_stat

pytestmark = pytest.mark.guest

# Disks run for long enough that fio is stopped meanwhile.
STUDIES = ((latency.STUDY, 3), (nearline.LATENCY, 3), (flash.LATENCY, 1))


def test_modules_do_not_tell_where_or_when_they_were_built() -> None:
    """Otherwise the same experiment would differ a little elsewhere, or when it is repeated."""
    for name, module in run.stripped_modules(kernels.newest("6.12")).items():
        assert str(kernels.REPO).encode() not in module, name
        assert b".note.gnu.build-id" not in module, name
        assert b".BTF" not in module, name
        assert not re.search(rb"\0srcversion=0*[1-9A-F]", module), name


@pytest.mark.parametrize(
    ("study", "seconds"), STUDIES, ids=[study.name for study, seconds in STUDIES]
)
def test_experiment_runs(study: Study, seconds: int) -> None:
    kernel = kernels.newest("6.12")
    [case] = study.cases
    experiment = replace(case.first, name=f"smoke-{study.name}", seconds=seconds)
    scheduler = experiment.schedulers[-1]
    shares = []
    modules = run.stripped_modules(kernel)
    machine = run.machine_for(experiment, scheduler, kernel, modules)
    result = run.boot(machine, guest.script(experiment, scheduler), shares.append)
    jobs = run.reduced(result, experiment, scheduler)
    assert max(shares) < 1.4, "the jobs didn't begin at once"
    assert list(jobs) == ["app1", "app2"]
    completed = 0
    for job in jobs.values():
        stat = htbs_stat(job.stat)
        completed += stat["completed"]
        assert len(job.requests) == job.fio["total_ios"] == stat["completed"]
        assert sum(each.size for each in job.requests) == stat["rbytes"]
    assert completed


def test_database_runs() -> None:
    """The output of the kernel and of PostgreSQL is parsed correctly."""
    kernel = kernels.newest("6.12")
    seconds = 8  # The neighbours start a second apart, and fio is stopped meanwhile.
    experiment = replace(pgbench.experiment(1), name="smoke-pgbench", seconds=seconds)
    machine = run.machine_for(experiment, ways.HTBS, kernel, run.stripped_modules(kernel))
    result = run.boot(machine, guest.script(experiment, ways.HTBS), lambda _: None)
    jobs = run.reduced(result, experiment, ways.HTBS)
    database = jobs[pgbench.DATABASE.name]
    found = transactions.numbers([database.more])
    assert found["tps"] > 0 and found["sync_p50_us"] > 0 and found["sync_pause_us"] > 0
    traced = sum(each.size for each in database.requests) / seconds
    # Some requests are in flight at the end, and the server has read something before.
    assert traced == pytest.approx(database.numbers.bw, rel=0.1)
    assert htbs_stat(database.stat)["completed"] > 0
    assert all(jobs[each.name].numbers.bw for each in pgbench.NEIGHBOURS)
