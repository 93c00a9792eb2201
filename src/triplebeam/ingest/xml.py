"""XML inside other files: parsed without entities, network or anything else that a stranger's file may ask for."""

from lxml import etree


def parsed_xml(data: bytes, encoding: str | None = None) -> etree._Element:
    """The root element. Entities are not expanded: a few lines of them can be made to fill the memory.

    The data is in ``encoding``, else in the one that it declares. Comments are left out.
    """
    parser = etree.XMLParser(
        encoding=encoding,
        resolve_entities=False,
        no_network=True,
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
    )
    return etree.fromstring(data, parser)
