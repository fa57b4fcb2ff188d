"""Solidity: files beside the importing one, or below a directory or package that the build names."""

from fledgling.worker.resolving.load_path import path_resolver

resolver = path_resolver
