// Start here: run each case of ``TokenStoreSuite`` on your store.
