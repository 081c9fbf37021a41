"""htbsctl: reservations on a host's disks, from the first to the proof that it is kept.

Each command is a module of htbsctl.commands, with SUMMARY, add_arguments() and run(). The modules
beside them know the host: disks, cgroups, io.htbs, what is kept over reboots. None writes but
through Host.write() and Store.save().
"""

VERSION = "0.1.0"
