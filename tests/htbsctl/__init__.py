"""htbsctl without a kernel: a tree of files takes the place of the host's."""
