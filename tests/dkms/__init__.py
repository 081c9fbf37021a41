"""DKMS in a guest with a whole Debian: install, kernel upgrade, reboot, removal."""
