// The way in: make a ``NetworkAgent`` with a transport, write a ``Request``, `send` it.

// The values of HTTP come with Errand, so that one import is enough.
@_exported public import ErrandHTTP

/// The package itself.
public enum ErrandInfo {
    /// The version, by semantic versioning.
    public static let version = "0.1.0"
}
