"""What pyelftools reads of objects: for each file a line with the numbers of its entries, variables' places, ranges, rows and frames."""
import sys

from elftools.dwarf.dwarf_expr import DWARFExprParser
from elftools.dwarf.locationlists import LocationExpr, LocationParser
from elftools.elf.elffile import ELFFile


def count(path):
    with open(path, 'rb') as file:
        dwarf = ELFFile(file).get_dwarf_info()
        lists, ranges = LocationParser(dwarf.location_lists()), dwarf.range_lists()
        unit, = dwarf.iter_CUs()
        expressions = DWARFExprParser(unit.structs)
        entries = places = parts = 0
        for die in unit.iter_DIEs():
            entries += not die.is_null()
            for attribute in die.attributes.values():
                if lists.attribute_has_location(attribute, unit['version']):
                    where = lists.parse_from_attribute(attribute, unit['version'], die)
                    exprs = [where] if isinstance(where, LocationExpr) else where
                    places += len(exprs)
                    for one in exprs:
                        expressions.parse_expr(one.loc_expr)
                elif attribute.name == 'DW_AT_ranges':
                    parts += len(ranges.get_range_list_at_offset(attribute.value, unit))
        rows = sum(1 for entry in dwarf.line_program_for_CU(unit).get_entries() if entry.state)
        frames = len(list(dwarf.CFI_entries()))
    return entries, places, parts, rows, frames


for path in sys.argv[1:]:
    print(*count(path))
