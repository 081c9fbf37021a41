"""The experiments, one file each, in the order of the page."""

from results.experiments import (
    bandwidth,
    flash,
    guarantee,
    latency,
    nearline,
    neighbour,
    one_tag,
    pgbench,
    readahead,
    total,
    unreserved,
)

STUDIES = (
    bandwidth.STUDY,
    one_tag.STUDY,
    latency.STUDY,
    total.STUDY,
    readahead.STUDY,
    neighbour.STUDY,
    *unreserved.STUDIES,
    *nearline.STUDIES,
    *flash.STUDIES,
    *guarantee.STUDIES,
    pgbench.STUDY,
)
