"""The extractors: text is parsed in processes of their own, one for each core."""
