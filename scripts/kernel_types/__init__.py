# SPDX-License-Identifier: GPL-2.0
"""Reads of a kernel what private-types writes."""
