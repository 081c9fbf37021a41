"""The laboratory: an experiment's description in, its numbers, figure and page out.

experiment   what is run: jobs, their reservations, the schedulers, the drive, for how long
study        a question: the experiments that answer it, and what is drawn, told and decided
guest        an experiment as a script for a guest on the virtual clock
run          one guest per scheduler, as many at a time as there are CPUs
reduce       fio's report and log of every request, as numbers
raw          one run's results as a file, and whether it is to be run at all
summary      the numbers of all runs, by name
figure, table, words, page
             the numbers for a person's eyes
progress     how far it is, on a terminal or in a log
"""
