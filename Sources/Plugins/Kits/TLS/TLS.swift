// Start here: transports find a host's public keys with ``HostPins``, and an origin's certificate with
// ``ClientIdentities``.
