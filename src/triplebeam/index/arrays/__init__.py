"""Named arrays and string columns, which every search structure is made of."""
