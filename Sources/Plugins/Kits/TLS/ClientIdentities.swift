public import ErrandEssentials
public import ErrandHTTP
import ErrandMessageSyntax
import Synchronization

/// The client certificates of an app, one for each origin. Transports send them to servers that request a certificate
/// (RFC 8446, section 4.3.2). The transports' modules define `CurlIdentities` and `URLSessionIdentities` with this
/// type.
///
/// ```swift
/// let identities: CurlIdentities = ["https://api.example.com": .pkcs12(file: file, password: password)]
/// configuration.tls.identities = identities
/// ```
///
/// An origin is a scheme, a host, and a port. You can omit the default port, and a path is ignored. `"*"` means all
/// other https origins.
///
/// You can replace a certificate at any time and from any thread. Later requests then use the new certificate over a
/// new connection. If an origin isn't an https URL, every https request fails with `insecureConnection`.
public final class ClientIdentities<Identity: Sendable>: Sendable, ExpressibleByDictionaryLiteral,
    CustomStringConvertible
{
    /// A certificate for a request, as transports need it.
    public struct Choice: Sendable {
        /// A number that identifies this choice in the process. Never 0.
        public let number: Int
        /// The certificate and its key, in the transport's form.
        public let identity: Identity
    }

    private struct State: Sendable {
        var choices: [String: Choice] = [:]
        var others: Choice?
        var invalid: Set<String> = []
        var revision = 0
    }

    private let state = Mutex(State())

    /// Creates an empty collection.
    public init() {}

    /// Creates a collection from certificates by origin.
    public init(_ identities: [String: Identity]) {
        for (origin, identity) in identities { self[origin] = identity }
    }

    /// Creates a collection from a literal. The last entry of a repeated origin counts.
    public init(dictionaryLiteral elements: (String, Identity)...) {
        for (origin, identity) in elements { self[origin] = identity }
    }

    /// The certificate for an origin, such as `https://api.example.com`, or for `"*"`. `nil` if there isn't any.
    public subscript(origin: String) -> Identity? {
        get {
            let key = Self.key(origin)
            return state.withLock { state in
                (origin == "*" ? state.others : key.flatMap { state.choices[$0] })?.identity
            }
        }
        set {
            let choice = newValue.map { identity in
                Choice(
                    number: identityNumbers.wrappingAdd(1, ordering: .relaxed).newValue, identity: identity)
            }
            let key = Self.key(origin)
            // The old certificate is released after the lock is unlocked, because releasing it can run user code.
            let old = state.withLock { state -> Choice? in
                state.revision += 1
                if origin == "*" {
                    defer { state.others = choice }
                    return state.others
                }
                if let key {
                    defer { state.choices[key] = choice }
                    return state.choices[key]
                }
                if choice == nil { state.invalid.remove(origin) } else { state.invalid.insert(origin) }
                return nil
            }
            withExtendedLifetime(old) {}
        }
    }

    /// The sorted origins, without the certificates.
    public var description: String {
        let names = state.withLock { $0.choices.keys.sorted() + ($0.others == nil ? [] : ["*"]) }
        return "ClientIdentities(\(names.joined(separator: ", ")))"
    }

    // MARK: For transports

    /// The number of times that the collection has changed. If a transport sees a new number, its open connections may
    /// use an old certificate.
    public var revision: Int { state.withLock { $0.revision } }

    /// Returns the certificate for a URL's origin, or `nil` if there isn't any. Throws `insecureConnection` if an
    /// origin in the collection isn't an https URL.
    public func choice(for url: URL) throws(ErrandError) -> Choice? {
        let origin = URLSyntax.origin(of: url)
        let (choice, invalid) = state.withLock { ($0.choices[origin] ?? $0.others, $0.invalid.min()) }
        guard let invalid else { return choice }
        throw ErrandError(
            .insecureConnection,
            "a client certificate is for \(String(reflecting: invalid)), which isn't like https://api.example.com")
    }

    /// Returns the certificate for the https origin of a host and port, or `nil` if there isn't any. An IPv6 address
    /// can be in brackets. Throws like ``choice(for:)``.
    public func choice(host: String, port: Int) throws(ErrandError) -> Choice? {
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        // Port 0 means the default port. Text such as a path isn't a host.
        guard !host.isEmpty, !name.utf8.contains(where: "/@?#\\".utf8.contains),
            let url = URL(string: "https://\(name):\(port == 0 ? 443 : port)")
        else { return nil }
        return try choice(for: url)
    }

    private static func key(_ text: String) -> String? {
        guard let origin = URLSyntax.origin(ofText: text), origin.hasPrefix("https:") else { return nil }
        return origin
    }
}

extension ClientIdentities: CustomReflectable {
    /// A mirror without children, so a dump doesn't reveal the certificates.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

private let identityNumbers = Atomic(0)
