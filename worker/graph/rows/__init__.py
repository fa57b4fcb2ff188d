"""From what is settled to rows: what each occurrence of a name means, how sure that is, or why it means nothing."""
