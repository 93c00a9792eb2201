"""Tokens of a parsed text: names made whole, phrases, and who or what each of them stands for."""
