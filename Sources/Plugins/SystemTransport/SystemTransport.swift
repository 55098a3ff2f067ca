#if canImport(Darwin)
public import Errand
public import ErrandURLSessionTransport

/// The transport of the platform: `CurlTransport` on Linux and Android, `URLSessionTransport` on Apple's platforms.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .system)
/// ```
///
/// An initializer without arguments exists on both. A feature of only one of the two needs an import of its module.
public typealias SystemTransport = URLSessionTransport
#elseif os(Linux) || os(Android)
public import Errand
public import ErrandCurlTransport

/// The transport of the platform: `CurlTransport` on Linux and Android, `URLSessionTransport` on Apple's platforms.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .system)
/// ```
///
/// An initializer without arguments exists on both. A feature of only one of the two needs an import of its module.
public typealias SystemTransport = CurlTransport
#endif

extension Transport where Self == SystemTransport {
    /// A new transport with its default configuration: over libcurl on Linux and Android, over `URLSession` on Apple's platforms.
    public static var system: SystemTransport { SystemTransport() }
}
