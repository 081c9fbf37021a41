"""The commands of htbsctl, one per module."""
