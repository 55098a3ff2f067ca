public import Errand
import ErrandDigests
public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// The parts of a request from which a ``Signer`` builds the text to sign.
public struct SigningInput: Sendable {
    /// A decoded parameter. The value is `nil` for a name without `=`.
    public typealias Parameter = (name: String, value: String?)

    /// The request's method.
    public let method: HTTPMethod
    /// The URL's path, percent-encoded.
    public let path: String
    /// The query items, then the items of a form or the members of a JSON object, in order, then the timestamp. The
    /// signature's own parameter is left out. JSON values other than strings appear as JSON text.
    public let parameters: [Parameter]
    /// The body's bytes, or `nil` if the body isn't in memory.
    public let body: Data?
    /// The time in seconds since 1970 from the agent's time source. Empty if the signer has no timestamp.
    public let timestamp: String
    /// The exchange, with its request, tags and service.
    public let exchange: Exchange

    /// The parameters as one text, sorted by name and then by value: `a=1&b=2%203`.
    ///
    /// Names and values are percent-encoded, except for unreserved characters, and then sorted by bytes (RFC 5849,
    /// section 3.4.1.3.2). Because of the encoding, a value that contains `&b=` can't look like a second parameter. The
    /// order and the encoding of the parameters in the request don't matter. A missing value counts as empty.
    public var sortedParameters: String {
        let pairs = parameters.map { (Self.encode($0.name), Self.encode($0.value ?? "")) }
        let sorted = pairs.sorted { $0.0 == $1.0 ? Self.precedes($0.1, $1.1) : Self.precedes($0.0, $1.0) }
        return sorted.map { $0.0 + "=" + $0.1 }.joined(separator: "&")
    }

    /// The sorted parameters without percent-encoding, for services that require this form: `a=1&b=2 3`. It's less
    /// secure, because different requests may have the same text.
    public var plainSortedParameters: String {
        let sorted = parameters.map { ($0.name, $0.value ?? "") }.sorted {
            $0.0 == $1.0 ? Self.precedes($0.1, $1.1) : Self.precedes($0.0, $1.0)
        }
        return sorted.map { $0.0 + "=" + $0.1 }.joined(separator: "&")
    }

    /// Returns the method, path, sorted parameters and the body's SHA-256 digest, one per line. Covers the whole
    /// request except its headers. Throws ``URLFilterError/Code/invalidBody`` if the body isn't in memory.
    public func wholeRequest() throws -> String {
        guard let body else {
            throw URLFilterError(.invalidBody, filter: filter, "a body can be signed only if it's in memory")
        }
        let digest = Hexadecimal.text(SHA256Digest.digest(of: body))
        return "\(method)\n\(path)\n\(sortedParameters)\n\(digest)"
    }

    let filter: String

    /// The order must not depend on a locale.
    private static func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

    private static func encode(_ text: String) -> String {
        PercentEncoding.encode(text)
    }
}

extension SigningInput: CustomStringConvertible, CustomReflectable {
    /// Only the method, because paths, parameters and bodies may be secret.
    public var description: String { "\(method), to be signed" }
    /// A mirror without children, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
