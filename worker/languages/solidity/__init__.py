"""Solidity."""
