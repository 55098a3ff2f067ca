// The way in: make a ``NetworkAgent`` with a transport, write a ``Request``, `send` it.
//
// Request/    what a call is           Request, RequestBody, Parameters, Authorization, Tags
// Response/   what came back           Response, HTTPResponse, ErrandError, ResponseCheck
// Hooks/      where plugins attach     Filter, Accessory, Exchange, TimeSource
// Agent/      what carries it out      Agent, NetworkAgent, Activity, RequestHandle
// Transport/  what moves bytes         Transport, HTTPRequest's parts, HTTPBody

/// The package itself.
public enum ErrandInfo {
    public static let version = "0.1.0"
}
