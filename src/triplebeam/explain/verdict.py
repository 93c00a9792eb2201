"""How far an answer can be relied on, in one sentence: the same wherever it is shown."""

from triplebeam.answer import Answer, Evidence

_CONTRADICTED = "Other passages contradict it."
_READ = "read the passages before you rely on it."


def verdict(answer: Answer) -> str:
    """Write the sentence for an answer."""
    if answer.outcome == "model_failed":
        return answer.failure
    if answer.outcome == "not_in_documents":
        return "Not in your documents."
    if answer.outcome == "false_premise":
        return "Your documents contradict what the question takes for granted."
    if answer.outcome == "guess":
        return "This is a guess: your documents do not say it."
    return "Every fact is quoted from your documents." if answer.supported else _doubt(answer)


def remarks(answer: Answer) -> list[str]:
    """Say what else to know of an answer, a sentence each: parts without a fact, further items, and contradictions."""
    said = [f"No fact states this part: {part.text}." for part in answer.parts if not part.supported]
    said = said if len(answer.parts) > 1 and answer.outcome == "answered" else []
    if answer.may_be_incomplete and answer.text:
        said.append("The list may be incomplete: your documents may name more.")
    if answer.contradicting:
        said.append(f"As of {answer.as_of}; other passages contradict it." if answer.as_of else _CONTRADICTED)
    return [*said, *(f"Contradicted by: {describe_fact(fact)}" for fact in answer.contradicting)]


def describe_fact(fact: Evidence) -> str:
    """Write a fact with its speaker and its date in brackets."""
    source = ", ".join(filter(None, (fact.speaker and f"said by {fact.speaker}", fact.date)))
    return f"{fact.text} ({source})" if source else fact.text


def _doubt(answer: Answer) -> str:
    """Say why an answer is not supported, the worst first."""
    if not answer.evidence:
        return f"No fact was quoted for it: {_READ}"
    if not (answer.agreed and all(part.supported for part in answer.parts)):
        return f"The facts found do not state this answer: {_READ}"
    if not all(fact.span or fact.from_memory for fact in answer.evidence):
        return f"Not every fact was found in a passage: {_READ}"
    return "Part of it is the model's own knowledge; the rest is quoted from your documents."
