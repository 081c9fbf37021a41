"""The laboratory: makes numbers, figures and a page from descriptions of experiments.

experiment   what runs: jobs, their reservations, the schedulers, the drive, the time
study        a question with the experiments that answer it, its figure, its table, its claims
guest        makes the script of a guest on the virtual clock from an experiment
run          runs one guest per scheduler, as many at a time as there are CPUs
reduce       makes numbers from fio's report and its log of every request
raw          keeps the raw data of a run in a file, and says whether the run has to be repeated
summary      keeps what the pages show of all runs, and what the runs were measured with
sources      finds the commit of the modules
figure, table, words, page
             draw the summary and put it into words
progress     shows the progress of the runs, on a terminal or in a log
"""
