// Start here: ``TransportConformance``, ``FilterConformance``, and ``AccessoryConformance`` list the cases to run.
//
// Cases/    the requirements of transports
// Plugins/  the requirements of filters and accessories, and the bench that checks them
// Laws/     the laws of filters and accessories, and the random exchanges that test them; in Wire/ those of transports
// HTTP2/    the requirements of transports that use HTTP/2, and a server whose frames the cases write
