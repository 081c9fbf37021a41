"""A second of an experiment on each drive: what was described ran, and all of it was told."""

from dataclasses import replace

import pytest

from results.experiments import flash, latency, nearline
from results.lab import run
from results.lab.study import Study
from tests.vm import kernels
from tests.vm.functional import htbs_stat

pytestmark = pytest.mark.guest

STUDIES = (latency.STUDY, nearline.LATENCY, flash.LATENCY)


def test_modules_do_not_tell_where_they_were_built() -> None:
    """Or the same experiment would come out a little different in another place."""
    for name, module in run.stripped_modules(kernels.newest("6.12")).items():
        assert str(kernels.REPO).encode() not in module, name
        assert b".note.gnu.build-id" not in module, name


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_experiment_runs(study: Study) -> None:
    kernel = kernels.newest("6.12")
    [case] = study.cases
    experiment = replace(case.first, name=f"smoke-{study.name}", seconds=1)
    scheduler = experiment.schedulers[-1]
    jobs = run.run_one(
        experiment, scheduler, kernel, run.stripped_modules(kernel), lambda share: None
    )
    assert list(jobs) == ["app1", "app2"]
    for result in jobs.values():
        stat = htbs_stat(result.stat)
        assert len(result.requests) == result.fio["total_ios"] == stat["completed"]
        assert sum(each.size for each in result.requests) == stat["rbytes"]
