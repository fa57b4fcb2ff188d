"""Every message that crosses a process boundary, one Struct each; nothing here does anything."""
