"""The commands of htbsctl, one a module."""
