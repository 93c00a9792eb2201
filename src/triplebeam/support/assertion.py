"""Does a sentence assert what it says? Denials, orders to the reader, conditions, rumours and plans do not.

A fact may be any of these as long as it says so: "Ann denied that she lives in Oslo" is a fact of a sentence that says
she denied it. Some words count wherever they are in the sentence, others only where they govern what the fact links.
"""

import re

from triplebeam.text.words import content

#: Of these, denials and attributions count around what the fact links, the others in the whole sentence.
_ANYWHERE = {
    "denial": r"(?:it is|is|are|was|were|be|as) (?:simply |just |plainly |completely |entirely "
    r"|quite )?(?:false|untrue|a lie|a myth|a hoax|a rumou?r|made up|fiction|nonsense|wrong|incorrect"
    r"|mistaken)|false (?:claims?|rumou?rs?|statements?|reports?|stor(?:y|ies)|news|beliefs?|ideas?"
    r"|impression)|falsely|untrue|hoax|myths?|fabricat\w+|fake|rumou?r(?:s|ed)?|gossip|wrongly"
    r"|mistakenly|incorrectly|erroneously|contrary to|no (?:evidence|proof|truth|basis)|not true"
    r"|(?:is|are|was|were)(?:n['’]t| not) (?:the case|true)|debunk\w*|disprov\w+|refut\w+|den(?:y|ies"
    r"|ied|ying)|misconception|far from (?:the truth|it)|by no means|jok(?:e|es|ingly)|lies? about|lied|made[- ]up"
    r"|invented (?:story|claim)|spoof|parody article|conspiracy theor\w+|doubt(?:s|ed|ful)?"
    r"|unconfirmed|unverified|unsubstantiated|retract\w+|correction:",
    "instruction": r"(?:ignore|disregard|forget|override) (?:all|any|the|your|every|previous|prior|what|these|those)\b"
    r"|(?:must|should|shall|please|always|will|you|to the user,?|now) (?:answer|reply"
    r"|respond|say|claim|pretend|state|conclude|insist|tell (?:the|every|any|people|users?|them|me"
    r"|him|her))\b|^\W*(?:[\w ]{1,20}: )?(?:answer|reply|respond|say|state|claim|pretend|conclude"
    r"|repeat|tell|write|output|print|note to (?:the )?(?:ai|assistant|model)|system|assistant"
    r"|instructions?)\b(?: that| with|:| to| the user| everyone| \"|,| [A-Z])|the (?:correct |right "
    r"|only |expected )*answer (?:is|must|should|to)\b|when(?:ever)? (?:you are |you're )?asked"
    r"|for the (?:grader|assistant|model)",
    "condition": r"^\W*(?:[\w. -]{1,40}: )?(?:if|unless|whether|suppose|supposing|imagine|assuming|assume"
    r"|let us say|what if|had|should(?! be\b)|were)\b|would(?:n['’]t| not)? have|(?:could|might) have(?! to)|, if\b"
    r"|\bif (?:he|she|it|they|only|the|you|we|i)\b|were (?:he|she|it|they) to|provided that"
    r"|in the event|hypothetical\w*|in an? (?:alternate|parallel)|only if|as if|as though"
    r"|(?:i|we|he|she|they) wish(?:es|ed)?\b(?! (?:you|him|her|them|us|everyone)\b)|pretend\w*"
    r"|dream(?:t|s|ed)? (?:that|of)",
    "attribution": r"alleg\w+|purport\w+|supposed(?:ly)?|reputed(?:ly)?|so-called|legend (?:has|says)|(?:he|she|who"
    r"|they|some|people|many|critics|fans|locals|opponents|[A-Z]\w+) (?:falsely |wrongly )?(?:claim"
    r"|insist|speculat|suspect|assert|contend)(?:s|e|es|ed)?\b|claims? that|(?:it|is|are|was"
    r"|were) (?:widely |often )?(?:said|believed|thought|claimed|rumou?red|assumed)\b|(?:wrote|posted"
    r"|tweeted|argued|guess(?:es|ed)?|believes?|believed|thinks?|thought|suggest(?:s|ed)?) that"
    r"|according to (?:a |some |the )?(?:rumou?rs?|legend|myth|gossip|critics|opponents|unnamed)",
}
#: These count between the two ends of a fact.
_BETWEEN = {
    "negation": r"not(?! only| just)(?![\w ]* until)|n['’]t|never|no(?!\.)|nor|neither|cannot|without|hardly|barely"
    r"|rarely|seldom|fail(?:s|ed)? to"
    r"|refus\w+|declin\w+|reject\w+|almost|nearly(?! \d)|rather than|instead of|but not|except"
    r"|apart from|unlike|narrowly|turned down|stopped short|too \w+ to|avoid(?:s|ed)?"
    r"|forb\w+|stopp?(?:ed|s)? \w+ from",
    "attempt": r"attempt\w*|tr(?:y|ies|ied|ying) to|about to|seek(?:s|ing)? to|sought to|nominated|candidate",
    "plan": r"will|shall|plan(?:s|ned|ning)? to|hop(?:e|es|ed|ing) to|intend\w*"
    r"|want(?:s|ed)? to(?! (?:say|tell|ask|remind|share|let|check|express|introduce|thank|follow|wish|inform)\b)"
    r"|expect\w* to|scheduled|propos\w+|promis\w+|going to|consider\w* \w+ing|may|might|could|can(?! be used)"
    r"|perhaps|possibly|probably|likely|maybe|should|ought to|must|need(?:s|ed)? to|plans? for"
    r"|rumou?red",
}
_NEAR = ("denial", "attribution")
_ANYWHERE_IN = {
    kind: re.compile(rf"(?:\b|(?<=\s)|^)(?:{words})" + (r"(?!\w)" if kind in _NEAR else ""), re.IGNORECASE)
    for kind, words in _ANYWHERE.items()
}
#: In characters: so far before and behind what the fact links.
_BEFORE, _BEHIND = 60, 30
_BETWEEN_ENDS = {kind: re.compile(rf"(?:\b|(?<=\w)(?=n['’]t))(?:{words})\b") for kind, words in _BETWEEN.items()}
_BOUND = re.compile(r"\b(?:since|until|before|after)\b(?= \w* ?\d)")
_MAX_CONDITIONS = 5
_CONDITION = re.compile(r"\bif\b([^,;:.]*),?", re.IGNORECASE)
_QUESTION = re.compile(r"[^.!?]*\?(?=\s)")
_END = re.compile(r"[.!?](?=\W*(?:\s|$))")
#: A question supports that it was asked, and no more.
_ASKED = re.compile(
    r"\b(?:ask|wonder|want|invit|suggest|propos|offer|told|tell|inquir|enquir|request|check|question|recommend)",
    re.IGNORECASE,
)
NEGATION = _BETWEEN_ENDS["negation"]
#: Whoever asks says these of himself.
_OF_QUESTIONS = (_ANYWHERE_IN["condition"], _BETWEEN_ENDS["plan"], NEGATION)


def has_other_negation(statement: str, quotation: str) -> bool:
    """Decide whether one of a statement and a quotation denies something and the other does not."""
    return bool(NEGATION.search(quotation.casefold())) != bool(NEGATION.search(statement.casefold()))


def _find_clause(stretch: str, statement: str) -> str:
    """Leave out a clause before "but" that the statement says nothing of: "may have erred, but maintains that"."""
    before, joint, clause = stretch.rpartition(", but ")
    said = {word.folded for word in content(statement)}
    return clause if joint and len(said & {word.folded for word in content(before)}) <= 2 else stretch


def _strip_said_condition(sentence: str, statement: str) -> str:
    """Leave out a condition that a statement has, too: "If the lamp is red, stop" says to stop with a red lamp.

    Half of its words but for names are the statement's, and half of the statement's are elsewhere in the sentence.
    """
    said = {word.folded for word in content(statement)}
    for clause in [*_CONDITION.finditer(sentence)][:_MAX_CONDITIONS]:
        rest = sentence[: clause.start()] + sentence[clause.end() :]
        condition = {word.folded for word in content(clause[1]) if not word.is_name}
        others = {word.folded for word in content(rest)}
        if condition and 2 * len(condition & said) >= len(condition) and 2 * len(said & others) >= len(said):
            return rest
    return sentence


def find_reservation(statement: str, sentence: str, start: int, end: int) -> str | None:
    """Find the words that keep a sentence from asserting what a statement says of it; None if nothing does.

    ``start`` and ``end`` are the stretch of the sentence that the fact links. What the statement says itself, such as
    that somebody denied it, is no reservation.
    """
    near = sentence[max(0, start - _BEFORE) : end + _BEHIND]
    stretch = _QUESTION.sub("", sentence[start:end])  # what a question before says of itself
    stretch = _find_clause(stretch, statement)
    governing = _strip_said_condition(sentence, statement)
    mark, asked = _END.search(sentence, end), _ASKED.search(statement)
    if mark and mark[0] == "?" and not asked:
        return "?"
    for patterns, text in ((_ANYWHERE_IN, sentence), (_BETWEEN_ENDS, stretch)):
        for kind, pattern in patterns.items():
            found = pattern.search(near if kind in _NEAR else governing if kind == "condition" else text)
            is_said = pattern.search(statement) or (found and found[0].strip(" ,").casefold() in statement.casefold())
            if found and not is_said and not (asked and pattern in _OF_QUESTIONS):
                return found[0].strip()
    bounds, said = (set(_BOUND.findall(text.casefold())) for text in (sentence, statement))
    if said - bounds and bounds - said:
        return str(min(bounds - said))
    denied = NEGATION.search(statement)
    return f"no {denied[0]!r}" if denied and not NEGATION.search(sentence) else None
