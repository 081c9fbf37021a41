"""What HTBS guarantees on disks, on disks that reorder and on flash, and what that costs."""

from results.experiments.guarantee import (
    boundary,
    flash,
    idle_price,
    journal,
    mixed_disk,
    ncq_disk,
    overload,
    slack_disk,
)

STUDIES = (
    slack_disk.STUDY,
    mixed_disk.STUDY,
    ncq_disk.STUDY,
    *flash.STUDIES,
    overload.STUDY,
    boundary.STUDY,
    journal.STUDY,
    idle_price.STUDY,
)
