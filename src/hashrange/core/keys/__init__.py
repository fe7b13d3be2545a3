"""Keys: their bytes, what requests may send as keys, and the ranges of keys that a query or scan reads.

`encoding` makes bytes that sort, `primary_key` takes keys from requests and items, `ranges` turns key conditions
into ranges, `template` repeats a range with other values, `key_paths` refuses paths into key attributes.
"""
