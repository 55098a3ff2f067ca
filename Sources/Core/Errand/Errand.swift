// Start here: make a ``NetworkAgent`` with a transport, write a ``Request``, `send` it.
//
// Hooks/     what users and plugins conform to and are handed
// Activity/  what runs, from its start to its one end
// Pipeline/  the way of a request
// Agent/     what a user calls

// The values of HTTP come with Errand, so that one import is enough.
@_exported public import ErrandHTTP

/// The package itself.
public enum ErrandInfo {
    /// The version, by semantic versioning.
    public static let version = "0.1.0"
}
