"""The operator's embedding endpoint, where there is one: it helps to order files that are ranked by meaning."""
