// Loopback sockets, threads, system limits, and text for shells. Internal to the package.
