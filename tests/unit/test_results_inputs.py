"""Which runs are repeated: those without raw data of the same inputs."""

from dataclasses import replace
from pathlib import Path

import pytest

from results.experiments import STUDIES, bandwidth
from results.lab import __main__ as lab
from results.lab import raw
from results.lab.raw import Machine, Run
from tests.unit.results import MACHINE, result
from tests.vm.kernels import Kernel


def first_run() -> Run:
    return next(raw.runs(bandwidth.STUDY))


def save(each: Run, directory: Path) -> None:
    each.save(directory, MACHINE, {"app1": result(), "app2": result()})


def test_saved_run_is_done(tmp_path: Path) -> None:
    each = first_run()
    assert not each.done(tmp_path, MACHINE)
    save(each, tmp_path)
    assert each.done(tmp_path, MACHINE)
    assert lab.missing({"a": each}, tmp_path, MACHINE) == {}


@pytest.mark.parametrize(
    "machine",
    [
        replace(MACHINE, kernel=Kernel("6.12.1-amd64", Path("/"))),
        replace(MACHINE, files=MACHINE.files | {"htbs-paper.ko": b"another"}),
        replace(MACHINE, versions=MACHINE.versions | {"fio": "fio-3.34"}),
    ],
)
def test_other_inputs_are_run_again(tmp_path: Path, machine: Machine) -> None:
    save(first_run(), tmp_path)
    assert not first_run().done(tmp_path, machine)
    assert lab.missing({"a": first_run()}, tmp_path, machine)


def test_other_experiment_is_run_again(tmp_path: Path) -> None:
    each = first_run()
    save(each, tmp_path)
    longer = replace(each, experiment=replace(each.experiment, seconds=301))
    assert not longer.done(tmp_path, MACHINE)


def test_raw_data_have_the_settings_of_their_run(tmp_path: Path) -> None:
    save(first_run(), tmp_path)
    saved = first_run().load(tmp_path)
    assert saved["kernel"] == "6.12.0-amd64"
    assert (saved["seed"], saved["seconds"]) == (1, 300)
    assert saved["parameters"]["b_max"] == 1
    job = saved["jobs"][1]
    assert job["files"] == {"io.htbs": "$dev bw=819200 burst=8192 latency=100000"}
    assert job["stat"] == "8:0 conforming=9 met=9 missed=0 late_max_us=0"
    assert len(job["series"]) == 60


def test_borrowed_runs_are_the_same_runs() -> None:
    every = [each for study in STUDIES for each in raw.runs(study)]
    own = {each.name: each for each in every if not each.experiment.runs_of}
    borrowed = [each for each in every if each.experiment.runs_of]
    assert borrowed
    for each in borrowed:
        assert each.inputs(MACHINE) == own[each.name].inputs(MACHINE)
