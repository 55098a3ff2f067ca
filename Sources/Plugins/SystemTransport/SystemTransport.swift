#if canImport(Darwin)
public import Errand
public import ErrandURLSessionTransport

/// The platform's transport: `CurlTransport` on Linux and Android, `URLSessionTransport` on Apple platforms.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .system)
/// ```
///
/// On every platform, the type has an initializer without arguments. To use a feature that only one of the two
/// transports has, import its module.
public typealias SystemTransport = URLSessionTransport
#elseif os(Linux) || os(Android)
public import Errand
public import ErrandCurlTransport

/// The platform's transport: `CurlTransport` on Linux and Android, `URLSessionTransport` on Apple platforms.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .system)
/// ```
///
/// On every platform, the type has an initializer without arguments. To use a feature that only one of the two
/// transports has, import its module.
public typealias SystemTransport = CurlTransport
#endif

extension Transport where Self == SystemTransport {
    /// A new transport with the default configuration.
    public static var system: SystemTransport { SystemTransport() }
}
