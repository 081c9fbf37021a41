# SPDX-License-Identifier: GPL-2.0
"""Reads a kernel's types and symbols for private-types."""
