// Start here: `.stub(…)` for responses from memory, ``TestServer`` for a real socket, ``ManualTimeSource`` for time.
//
// Stub/         the transport that responds from memory
// Server/       the scripted server on the loopback interface
// WebSocket/    the server's end of a WebSocket
// Time/         a clock that a test moves
// Recording/    the accessory that keeps all events
// Support/      gates, watched values, the sockets of the system
