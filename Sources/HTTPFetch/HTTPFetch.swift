// HTTPFetch
