"""What a person looks at: figures, the state of confinement, a page."""
