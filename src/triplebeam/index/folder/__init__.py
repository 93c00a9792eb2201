"""An index in a folder: its search structures, their files, and views of them."""
