"""The only opener of addresses.

`page_fetcher.Fetcher` opens pages that a user, a source or a page named; `web_api.WebApiClient` calls the web
APIs of sources. Both connect through `transport.Transport`, where `address_guard.Guard` has the last word.
"""
