"""What an auditor opens: profiles, limits and confinement. No data and, but for the audit, no protocol."""
