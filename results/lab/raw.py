"""The raw data of one run as JSON, and whether the run has to be repeated."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from results.lab import guest, reduce
from results.lab.experiment import Experiment, Job, Scheduler
from results.lab.run import ARGUMENTS, SPEED, JobResult, files_for, versions_for
from results.lab.study import Study
from tests.vm.kernels import Kernel

_BANDWIDTH_STEPS = 60
_LATENCY_STEPS = 100


@dataclass(frozen=True)
class Machine:
    """What all runs have in common.

    files: the modules; versions: of programs by name.
    """

    kernel: Kernel
    files: dict[str, bytes]
    versions: dict[str, str]

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Return the hashes of the files."""
        return {name: hashlib.sha256(file).hexdigest() for name, file in self.files.items()}


@dataclass(frozen=True)
class Run:
    """One guest: an experiment with its seed under one scheduler."""

    experiment: Experiment
    scheduler: Scheduler

    @property
    def name(self) -> str:
        """Return the name that the progress shows."""
        return f"{self.experiment.run_as} {self.scheduler.name} {self.experiment.seed}"

    def path(self, directory: Path) -> Path:
        """Return the path of its raw data below a directory."""
        return (
            directory
            / self.experiment.run_as
            / (f"{self.scheduler.name}-{self.experiment.seed}.json")
        )

    def inputs(self, machine: Machine) -> str:
        """Return a hash of everything that the raw data depend on."""
        digest = hashlib.sha256(guest.script(self.experiment, self.scheduler).encode())
        rest = [
            machine.kernel.version,
            ARGUMENTS,
            SPEED,
            sorted(files_for(self.scheduler, machine.hashes).items()),
            sorted(versions_for(self.experiment, machine.versions).items()),
            self.experiment.series,
            *(["tail"] if self.experiment.tail else []),
            *(["since the first"] if self.experiment.apart else []),
            *(["each latency"] if self.experiment.database else []),
        ]
        digest.update(json.dumps(rest).encode())
        return digest.hexdigest()

    def done(self, directory: Path, machine: Machine) -> bool:
        """Return true if there are raw data of the same inputs."""
        saved = self.load(directory)
        return saved is not None and saved["inputs"] == self.inputs(machine)

    def save(self, directory: Path, machine: Machine, jobs: dict[str, JobResult]) -> None:
        """Write the raw data atomically."""
        experiment, scheduler = self.experiment, self.scheduler
        head = {
            "experiment": experiment.run_as,
            "scheduler": scheduler.name,
            "seed": experiment.seed,
            "inputs": self.inputs(machine),
            "kernel": machine.kernel.version,
            "versions": versions_for(experiment, machine.versions),
            "drive": dict(experiment.drive.parameters),
            "seconds": experiment.seconds,
            "elevator": scheduler.elevator,
            "module": scheduler.module,
            "parameters": dict(scheduler.parameters),
            "tunables": dict(scheduler.tunables),
            "root": dict(scheduler.root),
        }
        path = self.path(directory)
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.with_suffix(".new")
        whole.write_text(_lines(head, [self._job(job, jobs[job.name]) for job in experiment.jobs]))
        whole.replace(path)

    def load(self, directory: Path) -> dict | None:
        """Return what was saved, or None."""
        path = self.path(directory)
        try:
            return json.loads(path.read_text()) if path.exists() else None
        except ValueError:
            return None

    def _job(self, job: Job, result: JobResult) -> dict:
        options = {"rw": job.rw, "bs": job.block, "offset": job.offset, "size": job.size}
        return {
            "name": job.name,
            "options": options | dict(job.options),
            "files": self.scheduler.files(job),
            "numbers": result.numbers.as_dict() | self._tail(result),
            "fio": result.fio,
            **({"stat": result.stat} if result.stat else {}),
            **({"more": dict(result.more)} if result.more else {}),
            **({"series": self._series(result)} if self.experiment.series else {}),
        }

    def _tail(self, result: JobResult) -> dict:
        return {"p999_us": reduce.p999_us(result.requests)} if self.experiment.tail else {}

    def _series(self, result: JobResult) -> list:
        seconds = self.experiment.seconds
        if self.experiment.series == "latency":
            return reduce.latency(result.requests, seconds, _LATENCY_STEPS)
        points = reduce.bandwidth(result.requests, seconds, _BANDWIDTH_STEPS)
        return [(middle, round(bw)) for middle, bw in points]


def runs(study: Study) -> Iterator[Run]:
    """Yield all runs of a study, each once."""
    every = (
        Run(case.experiment(seed), scheduler)
        for case in study.cases
        for scheduler in case.first.schedulers
        for seed in case.seeds(scheduler)
    )
    yield from {run.name: run for run in every}.values()


def _lines(head: dict, jobs: list[dict]) -> str:
    """Return JSON with a line for each member and each job, for diff."""
    members = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    lines = ",\n".join(f"  {json.dumps(job, separators=(',', ':'))}" for job in jobs)
    return "{\n" + ",\n".join([*members, f' "jobs": [\n{lines}\n ]']) + "\n}\n"
