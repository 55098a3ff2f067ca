// Start here: `.stub(…)` for responses from memory, ``TestServer`` for a real socket, ``ManualTimeSource`` for time.
//
// Stub/         a transport that responds from memory
// Server/       a scripted server on the loopback interface
// WebSocket/    the server side of a WebSocket
// Time/         a clock that a test advances
// Recording/    an accessory that records all events
// Support/      gates, watched values, the system's sockets
