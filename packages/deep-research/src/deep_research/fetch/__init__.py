"""The only opener of addresses: of pages, and of web APIs; a guard has the last word."""
