"""A moment of an experiment on each drive: what was described ran, and all of it was told."""

from dataclasses import replace

import pytest

from results.experiments import flash, latency, nearline
from results.lab import run
from results.lab.study import Study
from tests.vm import kernels
from tests.vm.functional import htbs_stat

pytestmark = pytest.mark.guest

# On a disk long enough that fio rests meanwhile.
STUDIES = ((latency.STUDY, 3), (nearline.LATENCY, 3), (flash.LATENCY, 1))


def test_modules_do_not_tell_where_or_when_they_were_built() -> None:
    """Or the same experiment would come out a little different in another place, or again."""
    for name, module in run.stripped_modules(kernels.newest("6.12")).items():
        assert str(kernels.REPO).encode() not in module, name
        assert b".note.gnu.build-id" not in module, name
        assert b".BTF" not in module, name


@pytest.mark.parametrize(
    ("study", "seconds"), STUDIES, ids=[study.name for study, seconds in STUDIES]
)
def test_experiment_runs(study: Study, seconds: int) -> None:
    kernel = kernels.newest("6.12")
    [case] = study.cases
    experiment = replace(case.first, name=f"smoke-{study.name}", seconds=seconds)
    scheduler = experiment.schedulers[-1]
    shares = []
    jobs = run.run_one(experiment, scheduler, kernel, run.stripped_modules(kernel), shares.append)
    assert max(shares) < 1.4, "the jobs didn't begin at once"
    assert list(jobs) == ["app1", "app2"]
    for result in jobs.values():
        stat = htbs_stat(result.stat)
        assert len(result.requests) == result.fio["total_ios"] == stat["completed"]
        assert sum(each.size for each in result.requests) == stat["rbytes"]
