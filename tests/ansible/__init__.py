"""The Ansible role: ansible-lint, its runs on a host of files, Prometheus' configuration."""
