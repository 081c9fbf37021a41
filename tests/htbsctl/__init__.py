"""htbsctl without a kernel: a tree of files stands for the host's."""
