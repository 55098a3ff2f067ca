public import Errand
import ErrandEssentials

/// Signs requests, by default with a timestamp and HMAC-SHA-256 over the sorted parameters.
///
/// ```swift
/// .urls(.sign(key: "secret"))                              // …&timestamp=1700000000&sign=5bdcc1…
/// .headers(signedBy: Signer(key: .service("sign"), signature: "X-Signature", timestamp: "X-Timestamp"))
/// .body(signedBy: Signer(key: "secret", algorithm: .md5, message: { $0.plainSortedParameters }))
/// ```
///
/// The parameters are those of the query and of a form or JSON object in memory; other bodies are covered only by a
/// message that covers them, such as ``SigningInput/wholeRequest()``. Sign last: what later filters add is not signed. The
/// key of a cache never contains a signature in a URL.
public struct Signer: Sendable, CustomStringConvertible, CustomReflectable {
    /// The name of the parameter or header for the signature.
    public var signature: String
    /// The name of the parameter or header for the time, in seconds since 1970; nil for none.
    public var timestamp: String?
    /// The algorithm of the signature.
    public var algorithm: SigningAlgorithm
    /// The encoding of the signature.
    public var encoding: SignatureEncoding
    /// Returns the text that is signed.
    public var message: @Sendable (SigningInput) throws -> String
    private let key: SigningKey

    /// Makes a signer.
    ///
    /// - Parameters:
    ///   - key: a literal, `.init(secret)`, `.service("sign")` or `.computed { exchange in … }`.
    ///   - algorithm: HMAC-SHA-256 by default.
    ///   - encoding: that of the signature; hexadecimal by default.
    ///   - signature: the name of the parameter or header for the signature; `sign` by default.
    ///   - timestamp: that for the time; `timestamp` by default, nil for none.
    ///   - message: the sorted parameters by default, the timestamp among them.
    public init(
        key: SigningKey, algorithm: SigningAlgorithm = .hmacSHA256, encoding: SignatureEncoding = .hexadecimal,
        signature: String = "sign", timestamp: String? = "timestamp",
        message: @escaping @Sendable (SigningInput) throws -> String = { $0.sortedParameters }
    ) {
        (self.key, self.algorithm, self.encoding, self.message) = (key, algorithm, encoding, message)
        (self.signature, self.timestamp) = (signature, timestamp)
    }

    /// The parameters to add: the time, if any, then the signature.
    func sign(_ url: URLText, _ exchange: Exchange, filter: String) async throws -> [(name: String, value: String)] {
        try sign(url, exchange, with: try await secret(for: exchange, filter: filter), filter: filter)
    }

    func secret(for exchange: Exchange, filter: String) async throws -> SecretKey {
        try await key.secret(exchange, filter)
    }

    /// The same with the key that was read for the request.
    func sign(
        _ url: URLText, _ exchange: Exchange, with key: SecretKey, filter: String
    ) throws -> [(name: String, value: String)] {
        let http = exchange.http
        var parameters: [SigningInput.Parameter] = url.queryItems
        if let body = try BodyParameters(http, filter: filter) { parameters += try body.parameters(filter: filter) }
        parameters.removeAll { $0.name == signature || $0.name == timestamp }
        var added: [(name: String, value: String)] = []
        if let timestamp { added.append((timestamp, Self.seconds(exchange.time.date))) }
        parameters += added.map { ($0.name, $0.value) }
        let input = SigningInput(
            method: http.method, path: url.path, parameters: parameters, body: http.body.data,
            timestamp: added.first?.value ?? "", exchange: exchange, filter: filter)
        let code = try algorithm.signature(of: Data(try message(input).utf8), key: key)
        return added + [(signature, encoding.text(of: code))]
    }

    /// Whole seconds since 1970; 0 for a date out of range.
    private static func seconds(_ date: Date) -> String {
        "\(Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0)"
    }

    /// The algorithm and the parameter name, without the key.
    public var description: String { "\(algorithm) in \(signature)" }
    /// No children, since it contains a key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The source of a signer's key, which is read for each request.
public struct SigningKey: Sendable, ExpressibleByStringLiteral, CustomStringConvertible, CustomReflectable {
    let secret: @Sendable (_ exchange: Exchange, _ filter: String) async throws -> SecretKey

    /// A fixed key.
    public init(_ key: SecretKey) { secret = { _, _ in key } }
    /// A fixed key of the UTF-8 bytes of a text.
    public init(_ text: String) { self.init(SecretKey(text)) }
    /// A fixed key of a literal; do not put production keys in source code.
    public init(stringLiteral value: String) { self.init(SecretKey(value)) }

    /// The key of this name in the settings of the request's environment. Put the `.environment` filter before the
    /// signature; without it, or without such a key, requests throw ``URLFilterError/Code/missingEnvironment``.
    public static func service(_ name: String) -> SigningKey {
        SigningKey { exchange, filter in
            guard let service = exchange.service else {
                throw URLFilterError(.missingEnvironment, filter: filter, "no .environment filter runs before it")
            }
            guard let key = service.keys[name] else {
                throw URLFilterError(
                    .missingEnvironment, filter: filter, "the environment has no key named \"\(name)\"")
            }
            return key
        }
    }

    /// A key that is computed for each request.
    public static func computed(_ key: @escaping @Sendable (Exchange) async throws -> SecretKey) -> SigningKey {
        SigningKey { exchange, _ in try await key(exchange) }
    }

    private init(secret: @escaping @Sendable (Exchange, String) async throws -> SecretKey) { self.secret = secret }

    /// Masked.
    public var description: String { "•••" }
    /// No children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Appends a signature to the query; made by `.sign`.
public struct SigningURLFilter: URLTextFilter {
    /// The name in errors and exemptions.
    public let name: String
    /// False: a signature does not change the response.
    public var isInCacheKey: Bool { false }
    private let signer: Signer

    /// Makes a filter of a signer.
    public init(_ signer: Signer, name: String = "sign") { (self.signer, self.name) = (signer, name) }

    /// Adds the time and the signature, and replaces existing ones. A request to another origin than the agent's own is not
    /// signed; see `Exchange.isTrusted`.
    public func edit(_ url: inout URLText, for exchange: Exchange) async throws {
        guard exchange.isTrusted else { return }
        let added = try await signer.sign(url, exchange, filter: name)
        try url.merge(
            Parameters(added.map { .init($0.name, .string($0.value)) }), by: .replace,
            encoding: ParameterEncoding(sortsNames: false))
    }
}

extension URLFilter where Self == SigningURLFilter {
    /// Signs with a signer.
    public static func sign(_ signer: Signer, name: String = "sign") -> SigningURLFilter {
        SigningURLFilter(signer, name: name)
    }

    /// Signs with HMAC-SHA-256 over the sorted parameters, as `timestamp` and `sign`.
    public static func sign(key: SigningKey) -> SigningURLFilter { SigningURLFilter(Signer(key: key)) }
}
