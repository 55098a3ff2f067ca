// Start here: create a ``NetworkAgent`` with a transport, write a ``Request``, and `send` it.
//
// Hooks/     protocols that users and plugins implement, and the values they receive
// Activity/  running work, from start to end
// Pipeline/  how a request is processed
// Agent/     the API that users call

// Apps need to import only this module.
@_exported public import ErrandHTTP

/// The version of the Errand package.
public enum ErrandInfo {
    /// The package's semantic version, such as "0.1.0".
    public static let version = "0.1.0"
}
