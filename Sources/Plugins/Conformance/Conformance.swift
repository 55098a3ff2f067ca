// Start here: ``TransportConformance``, ``FilterConformance`` and ``AccessoryConformance`` list the cases that a test runs.
//
// Cases/    what every transport promises
// Plugins/  what every filter and accessory promises, and the bench that measures it
