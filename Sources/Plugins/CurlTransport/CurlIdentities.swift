import Errand
public import ErrandEssentials
import ErrandMessageSyntax
import Synchronization

/// The certificates with which a ``CurlTransport`` identifies the app (RFC 8446, section 4.3.2), by origin.
///
/// ```swift
/// let identities: CurlIdentities = ["https://api.example.com": .pkcs12(file: file, password: password)]
/// configuration.tls.identities = identities
/// ```
///
/// Only a server at one of these origins receives the certificate, and only if it requests one. An origin is a scheme,
/// a host and a port; a default port and a path are ignored. `"*"` stands for all other https origins.
///
/// You can assign another certificate to an origin at any time and from any thread, for example to renew it. Requests
/// that begin later use the new one, over a new connection. If an origin isn't an https URL, every https request fails
/// with `insecureConnection`.
public final class CurlIdentities: Sendable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
    /// A certificate, and a number that no other one has.
    struct Choice: Sendable {
        var number: Int
        var identity: CurlClientIdentity
    }

    private struct State: Sendable {
        var choices: [String: Choice] = [:]
        var others: Choice?
        var invalid: Set<String> = []
    }

    private let state = Mutex(State())
    private static let numbers = Atomic(0)

    /// Creates an empty collection.
    public init() {}

    /// Creates a collection from certificates by origin.
    public init(_ identities: [String: CurlClientIdentity]) {
        for (origin, identity) in identities { self[origin] = identity }
    }

    /// Creates a collection from a literal. Of two entries for an origin, the last one counts.
    public init(dictionaryLiteral elements: (String, CurlClientIdentity)...) {
        for (origin, identity) in elements { self[origin] = identity }
    }

    /// The certificate for an origin, such as `https://api.example.com`, or `"*"`. Nil if there is none.
    public subscript(origin: String) -> CurlClientIdentity? {
        get {
            let key = Self.key(origin)
            return state.withLock { state in
                (origin == "*" ? state.others : key.flatMap { state.choices[$0] })?.identity
            }
        }
        set {
            let choice = newValue.map { identity in
                Choice(number: Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue, identity: identity)
            }
            let key = Self.key(origin)
            state.withLock { state in
                if origin == "*" {
                    state.others = choice
                } else if let key {
                    state.choices[key] = choice
                } else if choice != nil {
                    state.invalid.insert(origin)
                } else {
                    state.invalid.remove(origin)
                }
            }
        }
    }

    /// The origins, in order, without the certificates.
    public var description: String {
        let names = state.withLock { $0.choices.keys.sorted() + ($0.others == nil ? [] : ["*"]) }
        return "CurlIdentities(\(names.joined(separator: ", ")))"
    }

    /// Throws `insecureConnection` if an origin isn't an https URL.
    func choice(for url: URL) throws(ErrandError) -> Choice? {
        let origin = URLSyntax.origin(of: url)
        let (choice, invalid) = state.withLock { ($0.choices[origin] ?? $0.others, $0.invalid.min()) }
        guard let invalid else { return choice }
        throw ErrandError(
            .insecureConnection,
            "a client certificate is for \(String(reflecting: invalid)), which isn't like https://api.example.com")
    }

    private static func key(_ origin: String) -> String? {
        guard (try? URLSyntax.check(origin)) != nil, let url = URL(string: origin), url.scheme?.lowercased() == "https"
        else { return nil }
        return URLSyntax.origin(of: url)
    }
}

extension CurlIdentities: CustomReflectable {
    /// An empty mirror, because children would reveal the certificates.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A client's certificate and key. Its description doesn't reveal them.
public struct CurlClientIdentity: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    enum Source: Sendable {
        case pemFiles(certificate: URL, key: URL)
        case pem(certificate: Data, key: Data)
        case pkcs12File(URL)
        case pkcs12(Data)
    }

    let source: Source
    let password: String?

    var isInFiles: Bool { if case .pemFiles = source { true } else { false } }

    /// Reads the certificate and the key from two PEM files for each new connection.
    public static func pemFiles(certificate: URL, key: URL, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pemFiles(certificate: certificate, key: key), password: password)
    }

    /// Uses PEM in memory. Requires a libcurl with OpenSSL; otherwise, requests throw `transportUnavailable`.
    public static func pem(certificate: Data, key: Data, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pem(certificate: certificate, key: key), password: password)
    }

    /// Reads a PKCS#12 file (.p12 or .pfx) for each new connection. Requires a libcurl with OpenSSL; otherwise,
    /// requests throw `transportUnavailable`.
    public static func pkcs12(file: URL, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pkcs12File(file), password: password)
    }

    /// Uses PKCS#12 in memory. Requires a libcurl with OpenSSL; otherwise, requests throw `transportUnavailable`.
    public static func pkcs12(_ data: Data, password: String? = nil) -> CurlClientIdentity {
        CurlClientIdentity(source: .pkcs12(data), password: password)
    }

    /// A mask.
    public var description: String { "CurlClientIdentity(•••)" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// An empty mirror, because children would reveal the certificate and the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
