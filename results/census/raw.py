"""The raw data of a guest as JSON, and whether the guest has to run again."""

import hashlib
import json
from pathlib import Path

from results.census.guest import Boot
from results.lab.raw import Machine
from results.lab.run import ARGUMENTS, SPEED, JobResult, files_for


def inputs(each: Boot, machine: Machine) -> str:
    """Return a hash of everything that the raw data depend on."""
    digest = hashlib.sha256(each.script.encode())
    rest = [
        machine.kernel.version,
        ARGUMENTS,
        SPEED,
        sorted(files_for(each.way, machine.hashes).items()),
        sorted(machine.versions.items()),
    ]
    digest.update(json.dumps(rest).encode())
    return digest.hexdigest()


def path(each: Boot, directory: Path) -> Path:
    """Return the path of its raw data below a directory."""
    return directory / f"{each.name}.json"


def save(
    each: Boot, machine: Machine, directory: Path, found: dict[str, dict[str, JobResult]]
) -> None:
    """Write the raw data atomically."""
    whole = {
        "inputs": inputs(each, machine),
        "drive": str(each.drive),
        "scheduler": each.way.name,
        "experiments": {
            name: {job: _job(result) for job, result in jobs.items()}
            for name, jobs in found.items()
        },
    }
    directory.mkdir(parents=True, exist_ok=True)
    new = path(each, directory).with_suffix(".new")
    new.write_text(json.dumps(whole, indent=1) + "\n")
    new.replace(path(each, directory))


def load(each: Boot, machine: Machine, directory: Path) -> dict | None:
    """Return the raw data of the same inputs, or None."""
    try:
        found = json.loads(path(each, directory).read_text())
    except (OSError, ValueError):
        return None
    return found if found.get("inputs") == inputs(each, machine) else None


def _job(result: JobResult) -> dict:
    return {
        "numbers": result.numbers.as_dict() | {"requests": len(result.requests)},
        "fio": result.fio,
        **({"stat": result.stat} if result.stat else {}),
        **({"early": result.early} if result.early else {}),
    }
