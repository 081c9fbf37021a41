"""The laboratory: an experiment's description in, its numbers and figure out.

experiment   what is run: jobs, their reservations, the schedulers, the drive, for how long
guest        the description as a script for a guest on the virtual clock
run          one guest per scheduler, as many at a time as there are CPUs
reduce       fio's report and log of every request, as numbers
table        the numbers for a person's eyes
figure       the numbers drawn
progress     how far it is, on a terminal or in a log
"""
