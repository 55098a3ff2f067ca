// Start here: run each case of ``CacheStoreSuite`` on a store of your own.
