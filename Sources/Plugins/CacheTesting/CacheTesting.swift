// Start here: run each case of ``CacheStoreSuite`` on your store.
