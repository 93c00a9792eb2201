"""Names of languages, by their codes."""

from collections.abc import Mapping

_NAMES = (
    "ar Arabic, be Belarusian, bg Bulgarian, bn Bengali, ca Catalan, cs Czech, cy Welsh, da Danish, de German, el"
    " Greek, eo Esperanto, es Spanish, et Estonian, eu Basque, fa Persian, fi Finnish, fr French, ga Irish, gl"
    " Galician, gu Gujarati, he Hebrew, hi Hindi, hr Croatian, hu Hungarian, hy Armenian, id Indonesian, is"
    " Icelandic, it Italian, ja Japanese, ka Georgian, kk Kazakh, km Khmer, kn Kannada, ko Korean, la Latin, lo"
    " Lao, lt Lithuanian, lv Latvian, mk Macedonian, ml Malayalam, mn Mongolian, mr Marathi, ms Malay, nb"
    " Norwegian, ne Nepali, nl Dutch, nn Norwegian, no Norwegian, pa Punjabi, pl Polish, pt Portuguese, ro"
    " Romanian, ru Russian, si Sinhala, sk Slovak, sl Slovenian, sq Albanian, sr Serbian, sv Swedish, sw Swahili,"
    " ta Tamil, te Telugu, th Thai, tl Tagalog, tr Turkish, uk Ukrainian, ur Urdu, vi Vietnamese, zh Chinese"
)
_BY_CODE = dict(entry.split() for entry in _NAMES.split(", "))


def not_parsed(languages: Mapping[str, int]) -> list[str]:
    """A line for each language that was not parsed."""
    return [
        f"{count:,} {'passage' if count == 1 else 'passages'} in {_BY_CODE.get(code, f'the language {code!r}')}"
        f" {'was' if count == 1 else 'were'} not parsed for facts: use --extractor llm."
        for code, count in languages.items()
    ]
