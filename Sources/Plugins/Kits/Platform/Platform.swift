// Sockets on the loopback interface, threads, limits of the system, and text for shells. Internal to the package.
