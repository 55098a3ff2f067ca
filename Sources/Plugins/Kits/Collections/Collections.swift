// Queues. Internal to the package.
