"""htbsctl(8) and the completion of bash, made from the parser of the command line."""

import argparse
from collections.abc import Iterator

from htbsctl import VERSION
from htbsctl.failure import Exit

_EXIT = {
    Exit.DONE: "Done.",
    Exit.FAILED: "Failed; one line on standard error says why and names the remedy. Nothing"
    " changed, except by apply, which prints a line for each failure and applies the rest.",
    Exit.USAGE: "The command line is wrong; nothing was tried.",
    Exit.FOUND: "Done, but something needs attention.",
}
_FILES = {
    "/etc/htbs/htbs.conf": "The devices on HTBS and the reservations, kept over reboots. It may be"
    " edited; systemctl reload htbs applies it. If a line is deleted by hand, its settings stay in"
    " force until a reboot; htbsctl disable and htbsctl release delete the line and revert them.",
    "/sys/fs/cgroup/*/io.htbs": "Reservations in force, see io.htbs(5).",
    "/sys/block/*/queue/iosched/*": "A disk's tunables, see htbs(4).",
}
_EXAMPLES = (
    ("Put the disk of a file system on HTBS", "htbsctl enable /var/lib/postgresql"),
    (
        "Reserve 400 MiB/s for a service, each request done within 10 ms",
        "htbsctl reserve postgresql@15-main.service /var/lib/postgresql --bw 400M --latency 10ms",
    ),
    ("Watch it", "htbsctl top"),
    ("See whether the scheduler or the disk takes the time", "htbsctl trace sdb --seconds 30"),
    ("Find out what a running group needs", "htbsctl fit postgresql@15-main.service sdb"),
)
_INTRODUCTION = (
    "gives cgroups reservations on disks that use the I/O scheduler HTBS. A change is in force at"
    " once, and htbs.service applies it again after a reboot. A device is the name of a disk"
    " (sdb), a link below /dev, a partition, a logical volume, an array, a file or a mount point;"
    " it stands for the disks below it. A target is the path of a cgroup, a unit of systemd, the"
    " name of a service, a container of podman or docker, or a machine that machinectl lists."
    " Sizes and rates are in bytes; K, M, G and T are powers of 1024, MB and the like are powers"
    " of 1000. A latency needs a unit: us, ms or s. --default-latency-us is in microseconds;"
    " --seconds and --interval are in seconds."
)


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return action.choices
    return {}


def man_page(parser: argparse.ArgumentParser) -> str:
    """Return htbsctl(8), in the language of man(7)."""
    lines = [
        f'.TH HTBSCTL 8 "" "HTBS {VERSION}" "System administration"',
        ".SH NAME",
        r"htbsctl \- reservations for cgroups on disks",
        ".SH SYNOPSIS",
        r".B htbsctl",
        r".I COMMAND \fR[\fIARGUMENT\fR ...]",
        ".SH DESCRIPTION",
        ".B htbsctl",
        escaped(_INTRODUCTION),
        ".SH COMMANDS",
    ]
    for name, command in commands(parser).items():
        lines += list(_command(name, command))
    lines.append(".SH EXIT STATUS")
    for code, text in _EXIT.items():
        lines += [".TP", f".B {code.value}", escaped(text)]
    lines.append(".SH FILES")
    for file, text in _FILES.items():
        lines += [".TP", f".I {escaped(file)}", escaped(text)]
    lines.append(".SH EXAMPLES")
    for text, example in _EXAMPLES:
        lines += [".PP", f"{escaped(text)}:", ".PP", ".RS 4", ".nf"]
        lines += [escaped(example), ".fi", ".RE"]
    lines += [".SH SEE ALSO", ".BR io.htbs (5),", ".BR htbs (4),", ".BR systemd.slice (5)"]
    return "\n".join(lines) + "\n"


def bash_completion(parser: argparse.ArgumentParser) -> str:
    """Return the completion of commands, options, values of few choices, disks and units."""
    cases, values = [], []
    for name, command in commands(parser).items():
        options = [word for action in command._actions for word in action.option_strings]
        cases.append(f"\t{name}) options='{' '.join(options)}' ;;")
        for action in command._actions:
            # A file is completed like a device, which may be a file.
            if action.option_strings and action.nargs != 0 and action.dest != "output":
                few = " ".join(action.choices or ())
                values.append(f"\t'{name} {action.option_strings[0]}') options='{few}' ;;")
    text = _COMPLETION.replace("COMMANDS", " ".join(commands(parser)))
    return text.replace("CASES", "\n".join(cases)).replace("VALUES", "\n".join(values))


def _command(name: str, command: argparse.ArgumentParser) -> Iterator[str]:
    usage = command.format_usage().removeprefix("usage: ").split()
    yield f'.SS "{escaped(" ".join(usage))}"'
    yield escaped(command.description or "")
    for action in command._actions:
        if action.help and "-h" not in action.option_strings:
            words = ", ".join(action.option_strings) or str(action.dest)
            value = "" if action.nargs == 0 or not action.option_strings else _metavar(action)
            yield ".TP"
            yield rf"\fB{escaped(words)}\fR{value}"
            yield escaped(action.help)


def _metavar(action: argparse.Action) -> str:
    return rf" \fI{escaped(str(action.metavar or action.dest.upper()))}\fR"


def escaped(text: str) -> str:
    """Escape text for roff: a dot or a quote may begin a line, a hyphen stays one."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("%%", "%")
    return rf"\&{text}" if text.startswith((".", "'")) else text


_COMPLETION = r"""# bash completion of htbsctl
_htbsctl()
{
	local line=${COMP_LINE-${COMP_WORDS[*]}} words word before breaks at each options units=
	# A name is one word, though it has an @ or a :, at which bash breaks it. It replaces what is
	# behind a :, or from an @ on. read unescapes it.
	read -a words <<< "${line:0:${COMP_POINT-${#line}}}."
	at=$((${#words[@]} - 1)) word=${words[-1]%.}
	breaks=${COMP_WORDBREAKS//[^@:]/}
	before=${breaks:+${word%"${word##*[$breaks]}"}} before=${before%@}
	case ${words[1]} in
CASES
	*) ((at == 1)) || return; options='COMMANDS --help --version' ;;
	esac
	case "${words[1]} ${words[at - 1]}" in
VALUES
	esac
	if ((at > 1)) && [[ $word != -* && $options == -* ]]; then
		options=$(ls /sys/block)
		if [[ ${words[1]} =~ ^(reserve|release|explain|fit)$ ]] && ((at == 2)); then
			options=
			units=$(systemctl --no-legend --plain list-units '*.service' '*.slice' '*.scope' \
				2>/dev/null | cut -d ' ' -f 1)
		fi
		units+=$'\n'$(compgen -f -- "$word")
	fi
	COMPREPLY=()
	while IFS= read -r each; do
		if [[ $each && $each == "$word"* ]]; then
			printf -v each %q "${each#"$before"}"
			COMPREPLY+=("${each/#\\\~/\~}")
		fi
	done < <(printf '%s\n' $options "$units")
}
complete -F _htbsctl htbsctl
"""
