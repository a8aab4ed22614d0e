"""The only opener of addresses (pages, web APIs); a guard has the last word."""
