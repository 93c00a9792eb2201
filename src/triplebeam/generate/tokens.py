"""How many tokens a text is, guessed from its length: for limits, and for endpoints that do not count."""

from triplebeam.generate.language_model import Prompt

#: OpenAI's rule of thumb for English. Other languages and code take more tokens than this guesses.
_CHARACTERS_A_TOKEN = 4


def estimated_tokens(*texts: str) -> int:
    """A guess, rounded up."""
    return -(-sum(len(text) for text in texts) // _CHARACTERS_A_TOKEN)


def estimated_input(prompt: Prompt) -> int:
    """A guess of the tokens in that a prompt costs."""
    return estimated_tokens(prompt.system, prompt.user, *(prompt.correction or ()))
