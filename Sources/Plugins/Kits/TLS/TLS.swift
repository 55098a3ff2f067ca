// Start here: ``HostPins`` and ``ClientIdentities`` find a host's public keys and an origin's certificate, for transports.
