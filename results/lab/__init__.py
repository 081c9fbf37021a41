"""The laboratory: an experiment's description in, its numbers, figure and page out.

experiment   what is run: jobs, their reservations, the schedulers, the drive, for how long
study        a question: the experiments that answer it, its figure, its table, its claims
guest        an experiment as a script for a guest on the virtual clock
run          one guest per scheduler, as many at a time as there are CPUs
reduce       fio's report and log of every request, as numbers
raw          the raw data of one run as a file, and whether the run is to be repeated
summary      what the pages show of all runs, and what the runs were measured with
sources      the commit of the modules
figure, table, words, page
             the summary drawn and in words
progress     how far the runs are, on a terminal or in a log
"""
