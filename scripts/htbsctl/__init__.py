"""htbsctl: reservations on a host's disks, from setting them up to proving that they are kept.

Each command is a module of htbsctl.commands, with SUMMARY, add_arguments() and run(). The modules
beside them know the host: disks, cgroups, io.htbs, the state that is kept over reboots. They write
only through Host.write() and Store.save().
"""

VERSION = "0.1.0"
