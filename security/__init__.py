"""What an auditor opens: profiles, limits and confinement. No data, no protocol."""
