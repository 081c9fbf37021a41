"""The price of scheduling: the CPU time and the memory that a scheduler costs.

cases        what is measured, under which schedulers
guest        makes the script of a guest on the virtual clock from the cases of one scheduler
snapshot     the I/Os of a disk and the busy time of the CPU, and the difference of two snapshots
memory       bytes per cgroup, from the slab statistics of the kernel
scaling      from one CPU to two, in real time
summary      reduces the raw results to numbers by name
figure       draws the numbers
page         makes the section of the results' page
"""
