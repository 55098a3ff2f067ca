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
/// By default, the signature covers the query's parameters and, if the body is a form or a JSON object in memory, the
/// body's parameters. To cover other bodies, set a ``message`` that includes the body, such as
/// ``SigningInput/wholeRequest()``. Put the signing filter last, because the signature doesn't cover changes by later
/// filters.
public struct Signer: Sendable, CustomStringConvertible, CustomReflectable {
    /// The name of the parameter or header that contains the signature.
    public var signature: String
    /// The name of the parameter or header that contains the time in seconds since 1970, or `nil` to omit it.
    public var timestamp: String?
    /// The signature's algorithm.
    public var algorithm: SigningAlgorithm
    /// The text encoding of the signature's bytes.
    public var encoding: SignatureEncoding
    /// The closure that returns the text to sign.
    public var message: @Sendable (SigningInput) throws -> String
    private let key: SigningKey

    /// Creates a signer.
    ///
    /// - Parameters:
    ///   - key: a literal, `.init(secret)`, `.service("sign")` or `.computed { exchange in … }`.
    ///   - algorithm: the algorithm. Defaults to HMAC-SHA-256.
    ///   - encoding: the signature's encoding. Defaults to hexadecimal.
    ///   - signature: the name of the signature's parameter or header. Defaults to `sign`.
    ///   - timestamp: the name of the time's parameter or header, or `nil` to omit it. Defaults to `timestamp`.
    ///   - message: returns the text to sign. Default: the sorted parameters, including the timestamp.
    public init(
        key: SigningKey, algorithm: SigningAlgorithm = .hmacSHA256, encoding: SignatureEncoding = .hexadecimal,
        signature: String = "sign", timestamp: String? = "timestamp",
        message: @escaping @Sendable (SigningInput) throws -> String = { $0.sortedParameters }
    ) {
        (self.key, self.algorithm, self.encoding, self.message) = (key, algorithm, encoding, message)
        (self.signature, self.timestamp) = (signature, timestamp)
    }

    func sign(_ url: URLText, _ exchange: Exchange, filter: String) async throws -> [(name: String, value: String)] {
        try sign(url, exchange, with: try await secret(for: exchange, filter: filter), filter: filter)
    }

    func secret(for exchange: Exchange, filter: String) async throws -> SecretKey {
        try await key.secret(exchange, filter)
    }

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

    private static func seconds(_ date: Date) -> String {
        "\(Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0)"
    }

    /// The algorithm and the name of the signature's parameter.
    public var description: String { "\(algorithm) in \(signature)" }
    /// A mirror without children, to hide the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A source of signing keys. The signer reads it for each request.
public struct SigningKey: Sendable, ExpressibleByStringLiteral, CustomStringConvertible, CustomReflectable {
    let secret: @Sendable (_ exchange: Exchange, _ filter: String) async throws -> SecretKey

    /// Creates a source that always returns the same key.
    public init(_ key: SecretKey) { secret = { _, _ in key } }
    /// Creates a source that always returns the UTF-8 bytes of a string.
    public init(_ text: String) { self.init(SecretKey(text)) }
    /// Creates a source from a string literal. Don't put production keys in source code.
    public init(stringLiteral value: String) { self.init(SecretKey(value)) }

    /// Returns a source that reads the named key in the settings of the request's environment.
    ///
    /// Put the `.environment` filter before the filter that signs. If the `.environment` filter or the key is missing,
    /// requests throw ``URLFilterError/Code/missingEnvironment``.
    public static func service(_ name: String) -> SigningKey {
        SigningKey { exchange, filter in
            guard let service = exchange.service else {
                throw URLFilterError(
                    .missingEnvironment, filter: filter,
                    "the signing key comes from the environment, but no .environment filter runs earlier")
            }
            guard let key = service.keys[name] else {
                throw URLFilterError(
                    .missingEnvironment, filter: filter, "the current environment has no key named \"\(name)\"")
            }
            return key
        }
    }

    /// Returns a source whose closure computes a key for each request.
    public static func computed(_ key: @escaping @Sendable (Exchange) async throws -> SecretKey) -> SigningKey {
        SigningKey { exchange, _ in try await key(exchange) }
    }

    private init(secret: @escaping @Sendable (Exchange, String) async throws -> SecretKey) { self.secret = secret }

    /// A mask in place of the key.
    public var description: String { "•••" }
    /// A mirror without children, to hide the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A URL filter that appends a signature to the query. Create it with `.sign`.
public struct SigningURLFilter: URLTextFilter {
    /// The filter's name in errors and exemptions.
    public let name: String
    /// Returns `false`, because the signature doesn't change the response.
    public var isInCacheKey: Bool { false }
    private let signer: Signer

    /// Creates a filter from a signer.
    public init(_ signer: Signer, name: String = "sign") { (self.signer, self.name) = (signer, name) }

    /// Adds the time and the signature to the query, replacing existing values. Doesn't sign a request to an untrusted
    /// origin; see `Exchange.isTrusted`.
    public func edit(_ url: inout URLText, for exchange: Exchange) async throws {
        guard exchange.isTrusted else { return }
        let added = try await signer.sign(url, exchange, filter: name)
        try url.merge(
            Parameters(added.map { .init($0.name, .string($0.value)) }), by: .replace,
            encoding: ParameterEncoding(sortsNames: false))
    }
}

extension URLFilter where Self == SigningURLFilter {
    /// Signs requests in the query, with the given signer.
    public static func sign(_ signer: Signer, name: String = "sign") -> SigningURLFilter {
        SigningURLFilter(signer, name: name)
    }

    /// Signs requests with HMAC-SHA-256 over the sorted parameters. Adds the parameters `timestamp` and `sign`.
    public static func sign(key: SigningKey) -> SigningURLFilter { SigningURLFilter(Signer(key: key)) }
}
