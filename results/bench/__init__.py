"""The price of scheduling: what a scheduler costs the CPU, in time and in memory.

cases        what is measured, under which schedulers
guest        the cases of one scheduler as the script of a guest on the virtual clock
snapshot     what the kernel had done and how long it was busy, before and after; their difference
memory       bytes per cgroup, from the kernel's slab statistics
scaling      from one CPU to two, in real time
summary      the numbers by name, from the raw results alone
figure       the numbers drawn
page         the section of the results' page
"""
