"""htbsctl metrics with the programs that read it: promtool, Prometheus' rules, node_exporter."""
