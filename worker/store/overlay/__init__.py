"""What has changed since an index was built, laid over its sealed files: each reader says what a new build would."""
