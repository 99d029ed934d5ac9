"""Rankings in the files of other programs: readers, and writers.

A reader is one function `read(path, references) -> Rankings` in a module of its own. `readers.READERS` names it.
"""
