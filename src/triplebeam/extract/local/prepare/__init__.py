"""What of a passage is read: its prose, turns, terms, tables, quoted titles and brackets."""
