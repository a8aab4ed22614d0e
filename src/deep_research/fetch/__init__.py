"""The only opener of addresses.

`fetcher.Fetcher` opens pages that a user, a source or a page named; `api.WebApiClient` calls the web
APIs of sources. Both connect through `transport.Transport`, where `guard.Guard` has the last word.
"""
