"""The packages in guests with a whole Debian: install, the guide, upgrade, reboot, removal."""
