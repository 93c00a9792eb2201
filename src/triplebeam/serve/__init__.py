"""How the world reaches Triplebeam."""
