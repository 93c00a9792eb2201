from triplebeam.support.entailment import prepare as prepare
from triplebeam.support.find import fault_of as fault_of
from triplebeam.support.find import find_quotation as find_quotation
from triplebeam.support.find import find_support as find_support
from triplebeam.support.find import locate_fact as locate_fact
from triplebeam.support.find import support_among as support_among
