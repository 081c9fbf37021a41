"""The Ansible role: ansible-lint, what it does on a host of files, Prometheus' configuration."""
