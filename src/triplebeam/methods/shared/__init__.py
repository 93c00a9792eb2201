"""What the methods have in common; nothing here belongs to one paper."""
